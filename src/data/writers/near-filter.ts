import type { JsonValue } from '../../contracts/json.ts';
import { mappedColumns, readDatasetInfo } from '../formats/dataset-info.ts';
import type { RowFormat } from '../formats/format.ts';
import { problemOf } from '../formats/problem-of-row.ts';
import { type Reading, type ReadRow, readRow } from '../formats/reading.ts';
import { readingFor } from '../formats/recognise.ts';
import { hashOf } from '../hash-table.ts';
import { NearDuplicates } from '../near-duplicates.ts';

/** Tells of rows whether they are nearly the same as one before them. */
interface NearFilter {
  /** Answers once, in the order of the rows: now, or at the latest when it finishes. */
  look(written: Readonly<Record<string, JsonValue>>, answer: (isNear: boolean) => void): void;
  finish(): void;
}

/** Finds no row where near-duplicates are kept, nor among rollouts. */
export function nearFilter(nearDuplicates: 'drop' | 'keep', form: RowFormat): NearFilter {
  // A group must stay whole.
  if (nearDuplicates === 'keep' || form.kind === 'rollout') {
    return { look: (_written, answer) => answer(false), finish() {} };
  }
  const near = new NearDuplicates();
  const read = rowReader(form);
  return {
    look(written, answer) {
      const row = read(written);
      near.look(row, { problem: hashOf(problemOf(row)), isExact: false, settled: answer });
    },
    finish: () => near.finish(),
  };
}

/** Reads what is written as an audit of the files will, so that both compare the same texts; of a form unknown to it all. */
function rowReader({
  columns: types,
  extraFiles,
}: RowFormat): (written: Readonly<Record<string, JsonValue>>) => ReadRow {
  const name = 'train.jsonl';
  const info = extraFiles?.([name])['dataset_info.json'] ?? '{}';
  const mapping = readDatasetInfo(info).get(name);
  let reading: Reading | undefined;
  return (written) => {
    const values = Object.entries(written).map(([column, value]) => {
      const isJson = types[column] === 'json' && typeof value === 'string';
      return [column, isJson ? JSON.parse(value) : value] as const;
    });
    const columns = mappedColumns(Object.fromEntries(values), mapping);
    reading ??= readingFor(columns);
    if (reading !== undefined) return readRow(reading, columns, mapping?.turns);
    return { kind: 'sft', columns, faults: [], chosen: JSON.stringify(columns) };
  };
}
