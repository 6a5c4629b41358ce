import type { JsonValue } from '../../contracts/json.ts';
import { keyOfTurns } from '../distinct.ts';
import { mappedColumns, readDatasetInfo } from '../formats/dataset-info.ts';
import type { RowFormat } from '../formats/format.ts';
import { type Reading, type ReadRow, type RowColumns, readRow } from '../formats/reading.ts';
import { readingFor } from '../formats/recognise.ts';
import type { StepwiseRow, TrainingRow } from '../rows.ts';

type Written = Readonly<Record<string, JsonValue>>;

/**
 * Reads what is written as an audit of the files will, so that both compare the same texts. Of a form that an audit does
 * not know, the row itself is read.
 */
export function writtenRows({
  columns: types,
  extraFiles,
}: RowFormat): (written: Written, row: TrainingRow) => ReadRow {
  const name = 'train.jsonl';
  const info = extraFiles?.([name])['dataset_info.json'] ?? '{}';
  const mapping = readDatasetInfo(info).get(name);
  const jsonColumns = Object.keys(types).filter((column) => types[column] === 'json');
  let reading: Reading | undefined;
  return (written, row) => {
    const columns = mappedColumns(withJson(written, jsonColumns), mapping);
    reading ??= readingFor(columns);
    const read =
      reading?.kind === row.kind ? readRow(reading, columns, mapping?.turns) : saidIn(row, columns);
    return read;
  };
}

/** JSON may stand as text. */
function withJson(written: Written, jsonColumns: readonly string[]): Written {
  let read = written;
  for (const column of jsonColumns) {
    const value = written[column];
    if (typeof value === 'string') read = { ...read, [column]: JSON.parse(value) as JsonValue };
  }
  return read;
}

function saidIn(row: TrainingRow, columns: RowColumns): ReadRow {
  const { kind } = row;
  const read = { columns, faults: [], prompt: keyOfTurns(row.prompt) };
  switch (kind) {
    case 'preference':
      return { ...read, kind, chosen: keyOfTurns(row.chosen), rejected: keyOfTurns(row.rejected) };
    case 'unpaired':
      return { ...read, kind, chosen: keyOfTurns(row.completion), labels: [row.label] };
    case 'rollout':
    case 'sft':
      return { ...read, kind: 'sft', chosen: keyOfTurns(row.completion) };
    case 'stepwise':
      return { ...read, kind, ...stepsOf(row) };
    case 'prompt':
      return { ...read, kind };
  }
}

/** The steps of a solution with their labels: some forms show them among others, or in one text. */
export function stepsOf({ steps }: StepwiseRow): Pick<ReadRow, 'labels' | 'steps'> {
  return { steps: steps.map(({ text }) => text), labels: steps.map(({ label }) => label) };
}
