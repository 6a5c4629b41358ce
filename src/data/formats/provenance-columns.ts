import type { JsonValue } from '../../contracts/json.ts';
import type { RowKind, RowProvenance, TrainingRow } from '../rows.ts';
import type { Columns, ColumnType } from './columns.ts';
import type { RowOfKind } from './format.ts';

/** A column, and its value in a row. */
type Field<Source> = readonly [ColumnType, (source: Source) => JsonValue];

/** The origin of any row. Values of free shape are JSON text, so that each column has one type. */
const origin: Readonly<Record<string, Field<RowProvenance>>> = {
  problem_id: ['string', ({ problem }) => problem],
  tree_id: ['string', ({ tree }) => tree],
  node_ids: [{ list: 'int' }, ({ nodes }) => nodes],
  depth: ['int', ({ depth }) => depth],
  node_visits: [{ list: 'int' }, ({ visits }) => visits],
  node_values: [{ list: 'float' }, ({ values }) => values],
  node_parts: ['string', ({ parts }) => partsText(parts)],
  models: [{ list: 'string' }, ({ models }) => models],
  method: ['string', ({ method }) => method],
  rule: ['string', ({ rule }) => rule],
  seed: ['string', ({ seed }) => seed],
  guidance: ['string', ({ guidance }) => guidance],
  stamps: [{ list: 'string' }, ({ stamps }) => stamps],
};

/** What else is known of a row. */
const own: { readonly [Kind in RowKind]: Readonly<Record<string, Field<RowOfKind<Kind>>>> } = {
  preference: {
    chosen_value: ['float', ({ chosenScore }) => chosenScore],
    rejected_value: ['float', ({ rejectedScore }) => rejectedScore],
    margin: ['float', ({ margin }) => margin],
    chosen_right: [{ optional: 'boolean' }, ({ chosenRight }) => chosenRight ?? null],
    rejected_right: [{ optional: 'boolean' }, ({ rejectedRight }) => rejectedRight ?? null],
    weight: ['float', ({ weight }) => weight],
    label_smoothing: ['float', ({ labelSmoothing }) => labelSmoothing],
    chosen_ends: ['boolean', ({ chosenEnds }) => chosenEnds],
    rejected_ends: ['boolean', ({ rejectedEnds }) => rejectedEnds],
  },
  prompt: {
    value: ['float', ({ value }) => value],
    solve_rate: ['float', ({ solveRate }) => solveRate],
  },
  rollout: { sampling: ['string', ({ sampling }) => sampling] },
  sft: {
    score: ['float', ({ score }) => score],
    weight: ['float', ({ weight }) => weight],
    ends: ['boolean', ({ ends }) => ends],
  },
  stepwise: {
    step_values: [{ list: 'float' }, ({ steps }) => steps.map(({ value }) => value)],
    step_ratings: [{ list: 'int' }, ({ steps }) => steps.map(({ rating }) => rating)],
    delimiter: ['string', ({ delimiter }) => delimiter],
    right: [{ optional: 'boolean' }, ({ right }) => right ?? null],
  },
  unpaired: {
    score: ['float', ({ score }) => score],
    ends: ['boolean', ({ ends }) => ends],
  },
};

/** The columns with the origin of a row and the data about it. No trainer needs them. */
export function provenanceColumns(kind: RowKind): Columns {
  const fields = Object.entries({ ...origin, ...own[kind] });
  return Object.fromEntries(fields.map(([name, [type]]) => [name, type]));
}

/** A row that is being put together. */
export type RowDraft = Record<string, JsonValue>;

/** The values of these columns for one row, in a new object. */
export function writeProvenance(row: TrainingRow): RowDraft {
  const draft: RowDraft = {};
  for (const name in origin) draft[name] = origin[name]?.[1](row.provenance) ?? null;
  // The fields of a kind take rows of that kind, which the compiler does not follow through the index.
  const fields = own[row.kind] as Readonly<Record<string, Field<TrainingRow>>>;
  for (const name in fields) draft[name] = fields[name]?.[1](row) ?? null;
  return draft;
}

/** The parts of a node stand in several rows that follow each other: the texts of the last few are kept. */
const recent = {
  parts: Array.from<object | undefined>({ length: 8 }),
  texts: Array.from<string>({ length: 8 }),
  next: 0,
};

function partsText(all: RowProvenance['parts']): string {
  let text = '';
  for (const parts of all) text += (text === '' ? '[' : ',') + partText(parts);
  return text === '' ? '[]' : `${text}]`;
}

function partText(parts: Readonly<Record<string, number>>): string {
  const known = recent.texts[recent.parts.indexOf(parts)];
  if (known !== undefined) return known;
  const text = JSON.stringify(parts);
  // One without parts is made anew for each row.
  if (text !== '{}') {
    recent.parts[recent.next] = parts;
    recent.texts[recent.next] = text;
    recent.next = (recent.next + 1) % recent.parts.length;
  }
  return text;
}
