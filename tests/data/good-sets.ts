import { seededRandom } from '../../src/base/random.ts';
import type { Message } from '../../src/contracts/language-model.ts';
import type { RowFormat } from '../../src/data/formats/format.ts';
import type { RowKind, TrainingRow } from '../../src/data/rows.ts';
import type { Loose } from '../support/loose.ts';
import {
  asks,
  formOf,
  preference,
  prompt,
  provenance,
  says,
  sft,
  stepwise,
  unpaired,
} from './formats-rows.ts';

/** Good sets of every format. */

/** A row as it stands in a file. */
export type FlawedRow = Record<string, Loose>;

const rowsOfSet = 80;

const words =
  'apple train worker marble litre ticket page coin meal seed river stone letter card lamp wire key book bird plant takes gives sells buys holds finds counts moves keeps paints carries drops sends red green heavy small old quick first second third under over beside behind before after north south garden kitchen market harbour village mountain'.split(
    ' ',
  );

/** Sentences of words drawn at random, with numbers in them. */
export function textOf(name: string, place: number, count: number): string {
  const random = seededRandom(`${name} ${place}`);
  const all = Array.from({ length: count }, (_, at) =>
    at % 7 === 3 ? String(random.integer(900)) : (words[random.integer(words.length)] ?? ''),
  );
  return `${all.join(' ')}.`;
}

function baseOf(place: number) {
  return {
    prompt: [asks(`How many: ${textOf('question', place, 24)}`)],
    provenance: { ...provenance, problem: `p-${place}`, tree: `t-${place}`, depth: place % 4 },
  };
}

/** Each is said in a quarter of the rows, and two have no letters. */
const moves = ['left', 'right', '<<<<', '>>>>'];

const look = {
  name: 'look',
  description: 'Looks at a place.',
  input: { type: 'object', properties: { at: { type: 'string' } } },
} as const;

const rows: { readonly [Kind in Exclude<RowKind, 'rollout'>]: (place: number) => TrainingRow } = {
  preference: (place) =>
    preference({
      ...baseOf(place),
      chosen: [says(textOf('good', place, 14 + (place % 5)))],
      rejected: [says(textOf('bad', place, 14 + ((place + 2) % 5)))],
      chosenScore: 0.75,
      rejectedScore: 0.25 + (place % 7) / 100,
      margin: 0.505 - (place % 7) / 100,
      weight: 1.5,
      labelSmoothing: 0.25,
      chosenEnds: place % 4 === 3,
      rejectedEnds: place % 4 === 3,
      chosenRight: true,
      rejectedRight: false,
    }),
  unpaired: (place) =>
    unpaired({
      ...baseOf(place),
      completion: [says(textOf('said', place, 15))],
      label: place % 2 === 0,
      score: 0.5,
    }),
  sft: (place) =>
    sft({
      ...baseOf(place),
      completion: [says(textOf('said', place, 15))],
      score: 0.5,
      weight: 1.5,
    }),
  prompt: (place) =>
    prompt({ ...baseOf(place), answer: String(place), value: 0.5, solveRate: 0.25 }),
  stepwise: (place) => {
    const steps = [0, 1, 2].map((step) => ({
      text: `Step ${step + 1}: ${textOf(`step ${step}`, place, 9)}`,
      value: 0.5,
      label: (place + step) % 2 === 0,
      rating: (place + step) % 2 === 0 ? (1 as const) : (-1 as const),
    }));
    return stepwise({
      ...baseOf(place),
      steps,
      alternatives: steps.map((step) => [step]),
      taken: [0, 0, 0],
      right: place % 2 === 0,
    });
  },
};

function calling(place: number, at: string): readonly Message[] {
  return [
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: `c-${place}`, name: 'look', input: { at } }],
    },
  ];
}

/** A good set. */
export interface GoodSet {
  readonly format: string;
  readonly kind: Exclude<RowKind, 'rollout'>;
  readonly change?: (place: number) => object;
  readonly file?: 'gz' | 'parquet' | 'splits';
}

/** Names of good sets. */
export type SetName =
  | 'alpaca'
  | 'kto'
  | 'moves'
  | 'packed'
  | 'parquet'
  | 'prm'
  | 'sharegpt'
  | 'shepherd'
  | 'splits'
  | 'talks'
  | 'tools'
  | 'trl'
  | 'verl';

/** The good sets by name. */
export const goodSets: Readonly<Record<SetName, GoodSet>> = {
  trl: { format: 'trl', kind: 'preference' },
  parquet: { format: 'trl', kind: 'preference', file: 'parquet' },
  packed: { format: 'step-apo', kind: 'preference', file: 'gz' },
  splits: { format: 'step-dpo', kind: 'preference', file: 'splits' },
  talks: { format: 'trl-conversational', kind: 'preference' },
  tools: {
    format: 'trl-tools',
    kind: 'preference',
    change: (place) => ({
      tools: [look],
      chosen: calling(place, textOf('good', place, 6)),
      rejected: calling(place, textOf('bad', place, 6)),
    }),
  },
  kto: { format: 'trl', kind: 'unpaired' },
  prm: { format: 'trl', kind: 'stepwise' },
  shepherd: { format: 'math-shepherd', kind: 'stepwise' },
  alpaca: { format: 'llama-factory', kind: 'sft' },
  sharegpt: { format: 'llama-factory-sharegpt', kind: 'preference' },
  verl: { format: 'verl', kind: 'prompt' },
  moves: {
    format: 'trl',
    kind: 'preference',
    change: (place) => ({
      prompt: [asks(`The maze is number ${place >> 2}. Which way do you go from its door?`)],
      chosen: [says(moves[place & 3] ?? '')],
      rejected: [says(moves[(place + 1) & 3] ?? '')],
    }),
  },
};

/** The rows of a good set as they stand in a file, and their form. */
export function goodRows(name: SetName): {
  readonly form: RowFormat;
  readonly rows: readonly FlawedRow[];
} {
  const { format, kind, change } = goodSets[name];
  const form = formOf(format, kind, {});
  const all = Array.from({ length: rowsOfSet }, (_, place) => {
    const row = { ...rows[kind](place), ...change?.(place) };
    const written = form.write(row);
    if (typeof written === 'string') throw new Error(`${name}: ${written}`);
    return written;
  });
  return { form, rows: all };
}
