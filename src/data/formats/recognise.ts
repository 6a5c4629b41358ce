import { isPlainObject } from '../../base/json.ts';
import type { ColumnType } from './columns.ts';
import * as formats from './formats.ts';
import type { Reading, ReadRow, RowColumns } from './reading.ts';

const readings: readonly Reading[] = Object.values(formats)
  .flatMap((create) => create().readings ?? [])
  .toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Among forms that fit equally well, those with more columns come first. */
const kinds: readonly ReadRow['kind'][] = ['preference', 'stepwise', 'unpaired', 'sft', 'prompt'];

/** The form of which a first row has most columns, of the right types; `undefined` if it is of no known form. */
export function readingFor(row: RowColumns): Reading | undefined {
  const [best] = readings
    .filter(({ needs, fits }) => needs.every((name) => name in row) && fits?.(row) !== false)
    .map((reading) => ({ reading, score: scoreOf(reading, row) }))
    .toSorted(
      (a, b) => b.score - a.score || kinds.indexOf(a.reading.kind) - kinds.indexOf(b.reading.kind),
    );
  return best?.reading;
}

function scoreOf({ columns }: Reading, row: RowColumns): number {
  const held = Object.entries(columns).filter(([name]) => name in row);
  return held.length + held.filter(([name, type]) => isOf(type, row[name])).length;
}

/** Lists and structs without their contents, which the checks read. JSON may be text or a value. */
function isOf(type: ColumnType, value: unknown): boolean {
  if (type === 'json') return true;
  if (typeof type !== 'string') {
    if ('optional' in type) return value === null || isOf(type.optional, value);
    return 'list' in type ? Array.isArray(value) : isPlainObject(value);
  }
  return typeof value === (type === 'int' || type === 'float' ? 'number' : type);
}
