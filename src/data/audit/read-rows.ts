import { type DatasetRow, datasetRows } from './dataset-rows.ts';

/** A row of a dataset as its file has it. */
export interface StoredRow {
  /** Its file, below the folder of the dataset. */
  readonly file: string;
  /** The configuration that it belongs to. */
  readonly config: string;
  /** The split that it belongs to. */
  readonly split: string;
  /** The line, or the number of the row, from 1. */
  readonly line: number;
  /** What it holds, by column. */
  readonly columns: DatasetRow['columns'];
}

/**
 * Reads the rows of a dataset, one after another: of a folder, ours or not, or of one file. JSON Lines, JSON and Parquet are
 * read, also compressed by gzip. What is no row is passed over: {@link auditDataset} names it.
 *
 * @param path - The folder or the file.
 * @throws EspalierError `usage` where nothing can be read, or a file is broken.
 */
export async function* readRows(path: string): AsyncGenerator<StoredRow, void, undefined> {
  for await (const { file, line, columns } of datasetRows(path)) {
    const { name, config, split } = file;
    yield { file: name, config, split, line, columns };
  }
}
