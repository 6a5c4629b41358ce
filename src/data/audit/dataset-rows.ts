import { EspalierError } from '../../base/errors.ts';
import { isPlainObject } from '../../base/json.ts';
import { mappedColumns } from '../formats/dataset-info.ts';
import { type Reading, type ReadRow, type RowColumns, readRow } from '../formats/reading.ts';
import { readingFor } from '../formats/recognise.ts';
import { type DatasetFile, datasetFiles } from './dataset-files.ts';
import { type FileItem, itemsOf } from './read-file.ts';

/** A row of a dataset, and its location. */
export interface DatasetRow {
  readonly file: DatasetFile;
  /** The line, or the number of the row, from 1. */
  readonly line: number;
  readonly columns: RowColumns;
  /** The line itself; `undefined` where the file has no lines of rows. */
  readonly source: string | undefined;
  /** The row as its form has it; `undefined` where the form is not known. */
  readonly row: ReadRow | undefined;
}

/**
 * The rows of a dataset one after another, without values that are not rows.
 *
 * @throws EspalierError `usage` if nothing can be read, or a file is broken.
 */
export async function* datasetRows(path: string): AsyncGenerator<DatasetRow, void, undefined> {
  for (const file of datasetFiles(path)) {
    let reading: Reading | undefined;
    for await (const item of itemsNamed(file)) {
      if ('broken' in item || !isPlainObject(item.value)) continue;
      const columns = mappedColumns(item.value, file.mapping);
      reading ??= readingFor(columns);
      const row = reading && readRow(reading, columns, file.mapping?.turns);
      yield { file, line: item.line, columns, source: item.source, row };
    }
  }
}

async function* itemsNamed({ path, name }: DatasetFile): AsyncGenerator<FileItem, void, undefined> {
  try {
    yield* itemsOf(path);
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EspalierError('usage', `\`${name}\` cannot be read to its end: ${why}`, { cause });
  }
}
