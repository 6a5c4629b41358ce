import { EspalierError } from '../../base/errors.ts';
import { expectation, expectFunction, expectObject, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { RowKind, TrainingRow } from '../rows.ts';
import type { Columns, ColumnType, FileRow } from './columns.ts';
import type { DatasetFormat, RowOfKind } from './format.ts';

/**
 * The values that a type of column takes. A type that the compiler knows only as some {@link ColumnType} takes any JSON
 * value: expanding it would never end.
 */
export type ValueOf<Type extends ColumnType> = [ColumnType] extends [Type]
  ? JsonValue
  : Type extends 'boolean'
    ? boolean
    : Type extends 'float' | 'int'
      ? number
      : Type extends 'json' | 'string'
        ? string
        : Type extends Readonly<Record<'list', infer Each extends ColumnType>>
          ? readonly ValueOf<Each>[]
          : Type extends Readonly<Record<'optional', infer Own extends ColumnType>>
            ? ValueOf<Own> | null
            : Type extends Readonly<Record<'struct', infer Fields extends Columns>>
              ? { readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }
              : never;

/**
 * A custom form: a function from rows to columns, checked against the columns by the compiler and the writers.
 *
 * @throws EspalierError `usage` for an invalid option.
 *
 * @example axolotl, with the type user_defined.default
 * ```ts
 * // field_prompt: prompt, prompt_format: "{prompt}"
 * const axolotl = mapRow({
 *   name: 'axolotl',
 *   kind: 'preference',
 *   columns: { prompt: 'string', chosen: 'string', rejected: 'string' },
 *   map: ({ prompt, chosen, rejected }) => ({
 *     prompt: chatmlPrompt(prompt),
 *     chosen: chosen.map(({ content }) => content).join('\n'),
 *     rejected: rejected.map(({ content }) => content).join('\n'),
 *   }),
 * });
 * ```
 *
 */
export function mapRow<const Kind extends RowKind, const Fields extends Columns>(form: {
  /** The name of the form: letters, digits, `-` and `_`. */
  readonly name: string;
  /** The rows it takes. */
  readonly kind: Kind;
  /** The columns, in order. */
  readonly columns: Fields;
  /** How to run its trainer, as Markdown for the card. @defaultValue `''` */
  readonly usage?: string;
  /** The values of one row; `undefined` if it cannot be written in this form. */
  readonly map: (
    row: Extract<TrainingRow, Readonly<Record<'kind', Kind>>>,
  ) => ValueOf<Readonly<Record<'struct', Fields>>> | undefined;
}): DatasetFormat<Kind> {
  expectOptions('mapRow', form, 'name kind columns usage map');
  const { name, kind, columns, usage = '', map } = form;
  expectFunction('map', map);
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) {
    throw expectation('name', 'letters, digits, `-` and `_`', name);
  }
  expectTypes('columns', columns);
  expectOneOf('kind', kind, ['preference', 'prompt', 'rollout', 'sft', 'stepwise', 'unpaired']);
  // A mapped type over literal columns is a row of the file, which the compiler cannot see.
  const write = (row: RowOfKind<Kind>) => {
    const made: unknown = mapped(name, map, row);
    if (made === undefined) return `The form \`${name}\` leaves the row out.`;
    if (isPlainObject(made)) return made as FileRow;
    throw expectation(`map(${placeOf(row)})`, 'an object or undefined', made);
  };
  const forms = { [kind]: { name, kind, columns, usage, write } };
  return { name, forms: forms as unknown as DatasetFormat<Kind>['forms'] };
}

/** A row, as a sentence names it. */
function placeOf({ provenance: { problem, nodes } }: TrainingRow): string {
  return `the row of ${problem}, nodes ${nodes.join(' ')}`;
}

/** What a user's function makes of a row, or an error that names the row it failed on. */
function mapped<Row extends TrainingRow>(
  name: string,
  map: (row: Row) => unknown,
  row: Row,
): unknown {
  try {
    return map(row);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `\`map\` of the form \`${name}\` failed on ${placeOf(row)}: ${why}`;
    throw new EspalierError('usage', message, { cause });
  }
}

const typeNames = ['boolean', 'float', 'int', 'json', 'string'];

/** For callers without types: each column has a type that files can hold. */
function expectTypes(path: string, columns: unknown): void {
  expectObject(path, columns);
  for (const [name, type] of Object.entries(columns as object)) expectType(`${path}.${name}`, type);
}

function expectType(path: string, type: unknown): void {
  if (typeNames.includes(type as string)) return;
  if (!isPlainObject(type)) {
    throw expectation(
      path,
      `${typeNames.join(', ')}, or { list }, { optional } or { struct }`,
      type,
    );
  }
  const { struct, list = type['optional'] } = type;
  if (struct === undefined) expectType(path, list);
  else expectTypes(path, struct);
}
