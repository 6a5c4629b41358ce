import { expectFunction, expectOneOf } from '../../base/expect.ts';
import type { RowKind } from '../rows.ts';
import type {
  Columns,
  ColumnType,
  FileRow,
  ListColumn,
  OptionalColumn,
  RowFormat,
  StructColumn,
} from './format.ts';
import type { RowOfKind } from './row-format.ts';

/** The values that a type of column takes. */
export type ValueOf<Type extends ColumnType> = Type extends 'boolean'
  ? boolean
  : Type extends 'float' | 'int'
    ? number
    : Type extends 'json' | 'string'
      ? string
      : Type extends ListColumn
        ? readonly ValueOf<Type['list']>[]
        : Type extends OptionalColumn
          ? ValueOf<Type['optional']> | null
          : Type extends StructColumn
            ? ValuesOf<Type['struct']>
            : never;

/** A value for each column. */
export type ValuesOf<Fields extends Columns> = {
  readonly [Name in keyof Fields]: ValueOf<Fields[Name]>;
};

/** A form of one's own. */
export interface MapRowOptions<Kind extends RowKind, Fields extends Columns> {
  /** The name of the form: letters, digits, `-` and `_`. */
  readonly name: string;
  /** The rows it takes. */
  readonly kind: Kind;
  /** The columns, in order. */
  readonly columns: Fields;
  /** How its trainer is started, as Markdown for the card. @defaultValue `''` */
  readonly usage?: string;
  /** The values of one row; `undefined` where this form cannot say it. */
  readonly map: (row: RowOfKind<Kind>) => ValuesOf<Fields> | undefined;
}

/**
 * Any other form: a function from rows to columns. The compiler holds it to the columns, and so do the writers.
 *
 * @throws EspalierError `usage` where an option is not as described.
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
 * @example OpenRLHF, for a reward model
 * ```ts
 * // --data.prompt_key prompt; margin is read too
 * const openRlhf = mapRow({
 *   name: 'openrlhf',
 *   kind: 'preference',
 *   columns: { prompt: 'string', chosen: 'string', rejected: 'string', margin: 'float' },
 *   map: ({ prompt, chosen, rejected, margin }) => ({
 *     prompt: chatmlPrompt(prompt),
 *     chosen: chosen.map(({ content }) => content).join('\n'),
 *     rejected: rejected.map(({ content }) => content).join('\n'),
 *     margin,
 *   }),
 * });
 * ```
 *
 * @example verl, for supervised fine-tuning over several turns
 * ```ts
 * const turn = { struct: { role: 'string', content: 'string' } } as const;
 * const verlSft = mapRow({
 *   name: 'verl-sft',
 *   kind: 'sft',
 *   columns: { messages: { list: turn } },
 *   map: ({ prompt, completion }) => ({
 *     messages: [...prompt, ...completion].map(({ role, content }) => ({ role, content })),
 *   }),
 * });
 * ```
 */
export function mapRow<const Kind extends RowKind, const Fields extends Columns>({
  name,
  kind,
  columns,
  usage = '',
  map,
}: MapRowOptions<Kind, Fields>): RowFormat<RowOfKind<Kind>> {
  expectFunction('map', map);
  // A mapped type over literal columns is a row of the file, which the compiler cannot see.
  const write: (row: RowOfKind<Kind>) => unknown = map;
  expectOneOf('kind', kind, ['preference', 'prompt', 'rollout', 'sft', 'stepwise', 'unpaired']);
  return {
    name,
    kind: kind as RowOfKind<Kind>['kind'],
    columns,
    usage,
    toFile: (row) => write(row) as FileRow | undefined,
    refusal: () => `The form \`${name}\` leaves the row out.`,
  };
}
