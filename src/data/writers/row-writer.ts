import type { Columns, FileRow } from '../formats/columns.ts';

/** Writes rows to a file as they come, in memory that does not grow with their number. */
export interface RowWriter {
  /**
   * Adds a row.
   *
   * @throws EspalierError `usage`, naming the column, where the row is not of the columns; `storage` where the disk
   *   objects. The file is of no use then.
   */
  write(row: FileRow): void;
  /** Writes what is left and closes the file. */
  close(): void;
  /** Closes the file as it is, to be deleted. */
  abandon(): void;
}

/** Opens a file for rows of these columns. What stood there is overwritten. */
export type OpenRowWriter = (path: string, columns: Columns) => RowWriter;
