import { closeSync, openSync, writeSync } from 'node:fs';
import { withStorageErrors } from '../../base/with-storage-errors.ts';
import type { FileRow } from '../formats/columns.ts';

/** Writes rows to a file as they come, in memory that does not grow with their number. */
export interface RowWriter {
  /**
   * Adds a row.
   *
   * @throws EspalierError `usage`, naming the column, where the row is not of the columns; `storage` if the disk
   *   objects. The file is of no use then.
   */
  write(row: FileRow): void;
  /** Writes the remaining data and closes the file. */
  close(): void;
  /** Closes the file unfinished, to be deleted. */
  abandon(): void;
}

/** A file that is being written. */
export interface OutputFile {
  append(bytes: Uint8Array): void;
  /** A second time it does nothing. */
  close(): void;
}

/**
 * Opens a file for writing; what stood there is overwritten.
 *
 * @throws EspalierError `storage`, here and with each write.
 */
export function outputFile(path: string): OutputFile {
  const subject = `The file \`${path}\``;
  const file = withStorageErrors(subject, () => openSync(path, 'w'));
  let isOpen = true;
  return {
    append(bytes) {
      withStorageErrors(subject, () => {
        for (let written = 0; written < bytes.length; ) {
          written += writeSync(file, bytes, written);
        }
      });
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      withStorageErrors(subject, () => closeSync(file));
    },
  };
}
