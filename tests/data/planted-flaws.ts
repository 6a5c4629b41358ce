import type { auditDataset } from '../../src/data/audit/audit-dataset.ts';
import type { AuditCode } from '../../src/data/audit/report.ts';
import { type FlawedRow, type SetName, textOf } from './good-sets.ts';
import { flawsInTurns } from './planted-flaws-in-turns.ts';

/** A flaw: what is done to some rows of a set, and what an audit must say of it. */
export interface Flaw {
  readonly set: SetName;
  readonly code: AuditCode;
  /** Spoils a row. What it returns stands in its place: several rows, or a line as it is. */
  readonly spoil: (
    row: FlawedRow,
    place: number,
    first: FlawedRow,
  ) => FlawedRow | readonly FlawedRow[] | string;
  /** Whether all rows are spoilt, and one finding is told of the set. */
  readonly isOfSet?: boolean;
  readonly options?: Parameters<typeof auditDataset>[1];
  /** What follows from it, and is no false alarm. */
  readonly besides?: readonly AuditCode[];
}

/** Where the line of an invalid byte stands in a text that JSON can say. */
export const wrongByte = '\u0001BYTE\u0001';

/** The flaws by name. */
export const flaws: Readonly<Record<string, Flaw>> = {
  'both sides equal': {
    set: 'trl',
    code: 'equal-sides',
    spoil: (row) => ({ ...row, rejected: `${row['chosen']} ` }),
  },
  'a blank side': { set: 'trl', code: 'empty-side', spoil: (row) => ({ ...row, rejected: ' \n' }) },
  'a side that is null': {
    set: 'trl',
    code: 'null-content',
    spoil: (row) => ({ ...row, rejected: null }),
  },
  'no rejected side': {
    set: 'trl',
    code: 'missing-column',
    spoil: ({ rejected: _, ...row }) => row,
  },
  'an empty prompt': {
    set: 'trl',
    code: 'missing-prompt',
    spoil: (row) => ({ ...row, prompt: '' }),
  },
  'a side that is a number': {
    set: 'trl',
    code: 'wrong-type',
    spoil: (row) => ({ ...row, chosen: 7 }),
    besides: ['mixed-types'],
  },
  'a negative margin': {
    set: 'trl',
    code: 'negative-margin',
    spoil: (row) => ({ ...row, margin: -0.5 }),
  },
  'chosen scored below rejected': {
    set: 'trl',
    code: 'negative-margin',
    spoil: (row) => ({ ...row, chosen_value: 0.125 }),
  },
  'rating columns the wrong way round': {
    set: 'talks',
    code: 'negative-margin',
    spoil: (row) => ({ ...row, score_chosen: 2.5, score_rejected: 7.5 }),
    besides: ['keys-differ'],
  },
  'a margin that is too small': {
    set: 'trl',
    code: 'low-margin',
    spoil: (row) => ({ ...row, margin: 0.015 }),
    options: { minMargin: 0.1 },
  },
  'a space behind the prompt': {
    set: 'trl',
    code: 'boundary-space',
    spoil: (row) => ({ ...row, prompt: `${String(row['prompt']).trim()} ` }),
  },
  'a repeated row': { set: 'trl', code: 'duplicate', spoil: (row) => [row, row] },
  'a repeated row in a .gz': { set: 'packed', code: 'duplicate', spoil: (row) => [row, row] },
  'a pair and its opposite': {
    set: 'trl',
    code: 'contradiction',
    spoil: (row) => [row, { ...row, chosen: row['rejected'], rejected: row['chosen'] }],
  },
  'an end token on one side': {
    set: 'trl',
    code: 'eos-asymmetry',
    spoil: ({ chosen_ends: _, ...row }) => ({ ...row, chosen: `${row['chosen']}</s>` }),
    besides: ['keys-differ'],
  },
  'ends that differ': {
    set: 'trl',
    code: 'eos-asymmetry',
    spoil: (row) => ({ ...row, chosen_ends: row['rejected_ends'] !== true }),
  },
  'a prompt beyond the context': {
    set: 'trl',
    code: 'prompt-too-long',
    spoil: (row, place) => ({ ...row, prompt: `${textOf('long', place, 900)}\n` }),
  },
  'tools beyond the context': {
    set: 'tools',
    code: 'prompt-too-long',
    spoil: (row, place) => ({
      ...row,
      tools: JSON.stringify([
        { type: 'function', function: { name: 'look', description: textOf('tool', place, 900) } },
      ]),
    }),
  },
  'an answer beyond the context': {
    set: 'trl',
    code: 'row-too-long',
    spoil: (row, place) => ({
      ...row,
      chosen: textOf('long', place, 900),
      rejected: textOf('longer', place, 905),
    }),
  },
  'a word changed in the question': {
    set: 'trl',
    code: 'near-duplicate',
    spoil: (row, place) => [
      row,
      {
        ...row,
        prompt: String(row['prompt']).replace(/\w+\.\s*$/, 'elsewhere.\n'),
        problem_id: `q-${place}`,
      },
    ],
  },
  'another case and other signs': {
    set: 'parquet',
    code: 'near-duplicate',
    spoil: (row, place) => [
      row,
      {
        ...row,
        prompt: String(row['prompt']).toUpperCase().replace(':', ' -'),
        problem_id: `q-${place}`,
      },
    ],
  },
  'an answer with a word put in': {
    set: 'alpaca',
    code: 'near-duplicate',
    spoil: (row) => [row, { ...row, output: `Well ${row['output']}` }],
  },
  'a column of two types': {
    set: 'trl',
    code: 'mixed-types',
    spoil: (row) => ({ ...row, seed: 7 }),
  },
  'whole numbers among decimal ones': {
    set: 'trl',
    code: 'int-and-float',
    spoil: (row) => ({ ...row, weight: 2 }),
  },
  'a column more': { set: 'trl', code: 'keys-differ', spoil: (row) => ({ ...row, note: 'a' }) },
  'a byte that is no UTF-8': {
    set: 'trl',
    code: 'invalid-utf8',
    spoil: (row) => ({ ...row, chosen: `${row['chosen']}${wrongByte}` }),
  },
  'half of a character': {
    set: 'kto',
    code: 'invalid-utf8',
    spoil: (row) => ({ ...row, completion: `${row['completion']}\ud83d` }),
  },
  'a lost character': {
    set: 'talks',
    code: 'lost-character',
    spoil: (row) => ({ ...row, chosen: [{ role: 'assistant', content: 'It is caf\ufffd so.' }] }),
  },
  'a line that is cut off': {
    set: 'trl',
    code: 'not-json',
    spoil: (row) => JSON.stringify(row).slice(0, 90),
  },
  'chosen is always longer': {
    set: 'trl',
    code: 'length-bias',
    isOfSet: true,
    spoil: (row) => ({ ...row, chosen: `${row['chosen']} ${row['chosen']}` }),
  },
  'pairs between last steps': {
    set: 'trl',
    code: 'idle-pairs',
    isOfSet: true,
    spoil: (row, place) => ({
      ...row,
      depth: place % 3 === 0 ? 0 : 5,
      chosen_ends: place % 3 !== 0,
      rejected_ends: place % 3 !== 0,
    }),
  },
  'wrong against wrong': {
    set: 'parquet',
    code: 'idle-pairs',
    isOfSet: true,
    spoil: (row, place) => (place % 4 === 0 ? row : { ...row, chosen_right: false }),
  },
  'a chosen side of the user': {
    set: 'talks',
    code: 'invalid-role',
    spoil: (row) => ({ ...row, chosen: [{ ...row['chosen'][0], role: 'user' }] }),
  },
  'a role that nobody knows': {
    set: 'talks',
    code: 'invalid-role',
    spoil: (row) => ({ ...row, rejected: [{ ...row['rejected'][0], role: 'gpt' }] }),
  },
  'two turns of the user': {
    set: 'sharegpt',
    code: 'invalid-role',
    spoil: (row) => ({ ...row, conversations: [row['conversations'][0], row['conversations'][0]] }),
  },
  'no turns': { set: 'talks', code: 'empty-list', spoil: (row) => ({ ...row, prompt: [] }) },
  'a prompt within the sides': {
    set: 'talks',
    code: 'prompt-repeated',
    spoil: (row) => ({
      ...row,
      chosen: [...row['prompt'], ...row['chosen']],
      rejected: [...row['prompt'], ...row['rejected']],
    }),
  },
  'a tool that is not offered': {
    set: 'tools',
    code: 'undeclared-tool',
    spoil: (row) => ({
      ...row,
      chosen: [called(row, { name: 'listen', arguments: { at: 'home' } })],
    }),
  },
  'arguments that are cut off': {
    set: 'tools',
    code: 'invalid-call',
    spoil: (row) => ({ ...row, chosen: [called(row, { name: 'look', arguments: '{"at": "ho' })] }),
  },
  'no tools are offered': {
    set: 'tools',
    code: 'tools-missing',
    spoil: (row) => ({ ...row, tools: '[]' }),
  },
  'tools that are no JSON': {
    set: 'tools',
    code: 'invalid-tools',
    spoil: (row) => ({ ...row, tools: '[{"type": "function"' }),
  },
  'nearly all labels are right': {
    set: 'kto',
    code: 'label-balance',
    isOfSet: true,
    spoil: (row, place) => ({ ...row, label: place !== 3 }),
  },
  'all steps are right': {
    set: 'prm',
    code: 'label-balance',
    isOfSet: true,
    spoil: (row) => ({ ...row, labels: [true, true, true] }),
  },
  'an equal step with another label': {
    set: 'prm',
    code: 'label-conflict',
    spoil: (row, place) => [row, relabelled(row, place)],
  },
  'a refusal as the chosen side': {
    set: 'trl',
    code: 'refusal',
    spoil: (row) => ({ ...row, chosen: "I'm sorry, but I can't assist with that request." }),
  },
  'a refusal as the chosen turn': {
    set: 'talks',
    code: 'refusal',
    spoil: (row) => ({
      ...row,
      chosen: [
        {
          role: 'assistant',
          content: 'I’m sorry, I can’t help with that. Is there anything else?',
        },
      ],
    }),
  },
  'a label too few': {
    set: 'prm',
    code: 'label-count',
    spoil: (row) => ({ ...row, labels: row['labels'].slice(1) }),
  },
  'labels that are numbers': {
    set: 'prm',
    code: 'label-type',
    spoil: (row) => ({ ...row, labels: [0.9, 0.5, 0.1] }),
    besides: ['mixed-types'],
  },
  'a separator within a step': {
    set: 'prm',
    code: 'separator-in-step',
    spoil: (row) => ({
      ...row,
      delimiter: '\n',
      completions: ['a\nb.', ...row['completions'].slice(1)],
    }),
    besides: ['keys-differ'],
  },
  'a problem in two splits': {
    set: 'splits',
    code: 'leakage',
    spoil: (row) => ({ ...row, problem_id: 'p-0' }),
  },
  'a prompt in two splits by another name': {
    set: 'splits',
    code: 'shared-prompt',
    spoil: (row, place, first) => ({
      ...row,
      prompt: first['prompt'],
      initial_reason_steps: first['initial_reason_steps'],
      problem_id: `q-${place}`,
    }),
    besides: ['duplicate'],
  },
  'columns that nobody knows': {
    set: 'trl',
    code: 'unknown-format',
    isOfSet: true,
    spoil: (row) => ({ question: row['prompt'], better: row['chosen'] }),
  },
  ...flawsInTurns,
};

function called(row: FlawedRow, call: object): FlawedRow {
  return { ...row['chosen'][0], tool_calls: [{ type: 'function', function: call }] };
}

/** Another solution that begins with the same step, labelled the other way. */
function relabelled(row: FlawedRow, place: number): FlawedRow {
  const [first] = row['completions'] as string[];
  const [label] = row['labels'] as boolean[];
  return {
    ...row,
    completions: [first ?? '', textOf('other', place, 9), textOf('another', place, 9)],
    labels: [label !== true, true, false],
  };
}
