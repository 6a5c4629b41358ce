import { EspalierError } from '../../base/errors.ts';
import { describeValue, expectation } from '../../base/expect.ts';
import { isPlainObject } from '../../base/json.ts';
import type { Columns, ColumnType } from '../formats/columns.ts';

/** A type that holds no other one. */
export type LeafType = 'boolean' | 'float' | 'int' | 'json' | 'string';

/** A type without the leave to be `null`, and whether it had it. */
export function withoutOptional(type: ColumnType): {
  readonly inner: Exclude<ColumnType, { readonly optional: ColumnType }>;
  readonly isOptional: boolean;
} {
  if (typeof type === 'object' && 'optional' in type) {
    return { inner: withoutOptional(type.optional).inner, isOptional: true };
  }
  return { inner: type, isOptional: false };
}

/** Whether a value is `null` or missing, or a float that is none and stands for it where that is allowed. */
export function isAbsent(type: ColumnType, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return type === 'float' && typeof value === 'number' && !Number.isFinite(value);
}

/** What values of a type are, and how they are known. */
const leafTypes: Readonly<Record<LeafType, readonly [string, (value: unknown) => boolean]>> = {
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  float: ['a finite number', Number.isFinite],
  int: ['an integer', Number.isSafeInteger],
  json: ['JSON text', isJson],
  string: ['a string', (value) => typeof value === 'string'],
};

/** Throws unless a value is of a type. */
export function expectLeaf(path: string, type: LeafType, value: unknown): void {
  const [expected, isOne] = leafTypes[type];
  if (!isOne(value)) throw expectation(path, expected, value);
}

function isJson(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** A value that must be a list. */
export function expectList(path: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw expectation(path, 'a list', value);
  return value;
}

/** A column or field by name. */
export interface Named {
  readonly name: string;
  readonly isOptional: boolean;
}

/** The columns by name, in order. */
export function namedOf(columns: Columns): readonly Named[] {
  return Object.entries(columns).map(([name, type]) => ({
    name,
    isOptional: withoutOptional(type).isOptional,
  }));
}

/** A value that must have these fields and no other ones. */
export function expectFields(
  path: string,
  value: unknown,
  fields: readonly Named[],
): Readonly<Record<string, unknown>> {
  if (!isPlainObject(value)) throw expectation(path, 'an object', value);
  expectNames(value, fields, `\`${path}\``);
  return value;
}

/** Throws where a row has another column, or lacks one. */
export function expectNames(
  row: Readonly<Record<string, unknown>>,
  fields: readonly Named[],
  subject = 'row',
): void {
  let present = 0;
  for (const { name, isOptional } of fields) {
    if (row[name] !== undefined) present += 1;
    else if (!isOptional) {
      throw usageError(`Expected each ${subject} to have the column \`${name}\`, got none.`);
    }
  }
  let others = -present;
  // Counted without a list of the keys: this is done for every row.
  for (const _ in row) others += 1;
  if (others === 0) return;
  const other = Object.keys(row).find((key) => !fields.some(({ name }) => name === key));
  if (other === undefined) return;
  throw usageError(`Expected each ${subject} to have no column ${describeValue(other)}, got one.`);
}

function usageError(message: string): EspalierError {
  return new EspalierError('usage', message);
}

/** Throws unless columns can be written: at least one, also within columns. */
export function expectColumns(columns: Columns, path = 'columns'): void {
  const entries = Object.entries(columns);
  if (entries.length === 0) throw expectation(path, 'one column or more', {});
  for (const [name, type] of entries) expectType(type, `${path}.${name}`);
}

function expectType(type: ColumnType, path: string): void {
  const { inner } = withoutOptional(type);
  if (typeof inner === 'string') return;
  if ('list' in inner) expectType(inner.list, path);
  else expectColumns(inner.struct, path);
}
