import { closeSync, openSync, writeSync } from 'node:fs';
import { withStorageErrors } from '../../base/with-storage-errors.ts';

/** A file that is being written. */
export interface OutputFile {
  /** Appends bytes. */
  append(bytes: Uint8Array): void;
  /** Closes it; a second time it does nothing. */
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
