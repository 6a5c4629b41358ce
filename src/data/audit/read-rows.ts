import { type DatasetRow, datasetRows } from './dataset-rows.ts';

/** A row of a dataset as stored in its file. */
export interface StoredRow {
  /** Its file, relative to the dataset's folder. */
  readonly file: string;
  /** The configuration that it belongs to. */
  readonly config: string;
  /** The split that it belongs to. */
  readonly split: string;
  /** The number of the line or row, from 1. */
  readonly line: number;
  /** Its values, by column. */
  readonly columns: DatasetRow['columns'];
}

/**
 * Streams the rows of a dataset, ours or not: a folder or a file of JSON Lines, JSON or Parquet, gzipped or not.
 * Invalid rows are skipped: {@link auditDataset} reports them.
 *
 * @param path - The folder or the file.
 * @throws EspalierError `usage` if nothing can be read, or a file is broken.
 */
export async function* readRows(path: string): AsyncGenerator<StoredRow, void, undefined> {
  for await (const { file, line, columns } of datasetRows(path)) {
    const { name, config, split } = file;
    yield { file: name, config, split, line, columns };
  }
}
