import type { Message, ToolDefinition } from '../../src/contracts/language-model.ts';
import { datasetFormats } from '../../src/data/catalogue.ts';
import type { FileRow } from '../../src/data/formats/columns.ts';
import type { FormatOptions, RowFormat } from '../../src/data/formats/format.ts';
import type {
  PreferenceRow,
  PromptRow,
  RolloutRow,
  RowKind,
  RowProvenance,
  SftRow,
  StepwiseRow,
  TrainingRow,
  UnpairedRow,
} from '../../src/data/rows.ts';

/** Rows by hand, for tests of forms and writers. */

export function says(content: string): Message {
  return { role: 'assistant', content };
}

export function asks(content: string): Message {
  return { role: 'user', content };
}

export const provenance: RowProvenance = {
  problem: 'p1',
  tree: 't1',
  nodes: [0, 1, 2],
  depth: 0,
  visits: [3, 2, 1],
  values: [0.5, 1, 0],
  parts: [{}, { judge: 0.75 }, {}],
  models: ['openai:gpt'],
  method: 'mcts',
  rule: 'by-hand',
  seed: '7',
  guidance: 'rewarded',
  stamps: [],
};

/** What the columns of provenance hold for it. */
export const origin: FileRow = {
  problem_id: 'p1',
  tree_id: 't1',
  node_ids: [0, 1, 2],
  depth: 0,
  node_visits: [3, 2, 1],
  node_values: [0.5, 1, 0],
  node_parts: '[{},{"judge":0.75},{}]',
  models: ['openai:gpt'],
  method: 'mcts',
  rule: 'by-hand',
  seed: '7',
  guidance: 'rewarded',
  stamps: [],
};

export function preference(changes: Partial<PreferenceRow> = {}): PreferenceRow {
  return {
    kind: 'preference',
    prompt: [asks('What is 2 + 2?')],
    chosen: [says('It is 4.')],
    rejected: [says('It is 5.')],
    chosenScore: 1,
    rejectedScore: 0,
    margin: 1,
    weight: 1,
    labelSmoothing: 0,
    chosenEnds: true,
    rejectedEnds: false,
    provenance,
    ...changes,
  };
}

export function unpaired(changes: Partial<UnpairedRow> = {}): UnpairedRow {
  const [prompt, completion] = [[asks('What is 2 + 2?')], [says('It is 4.')]];
  return {
    kind: 'unpaired',
    prompt,
    completion,
    label: true,
    score: 1,
    ends: true,
    provenance,
    ...changes,
  };
}

export function sft(changes: Partial<SftRow> = {}): SftRow {
  const [prompt, completion] = [[asks('What is 2 + 2?')], [says('It is 4.')]];
  return {
    kind: 'sft',
    prompt,
    completion,
    ends: true,
    score: 1,
    weight: 2,
    provenance,
    ...changes,
  };
}

export function prompt(changes: Partial<PromptRow> = {}): PromptRow {
  return {
    kind: 'prompt',
    prompt: [asks('What is 2 + 2?')],
    answer: '4',
    value: 0.75,
    solveRate: 0.5,
    provenance,
    ...changes,
  };
}

export function rollout(changes: Partial<RolloutRow> = {}): RolloutRow {
  return {
    kind: 'rollout',
    prompt: [asks('What is 2 + 2?')],
    completion: [says('2 + 2\nIt is 4.')],
    reward: 1,
    group: 'p1',
    sampling: 'search',
    advantages: { grpo: 0.5 },
    steps: ['2 + 2', 'It is 4.'],
    stepAdvantages: { tree: [0.25, 0.5] },
    provenance,
    ...changes,
  };
}

export function stepwise(changes: Partial<StepwiseRow> = {}): StepwiseRow {
  const steps = [
    { text: '2 + 2', value: 0.5, label: true, rating: 0 },
    { text: 'It is 5.', value: 0, label: false, rating: -1 },
  ] as const;
  return {
    kind: 'stepwise',
    prompt: [asks('What is 2 + 2?')],
    steps,
    alternatives: steps.map((step) => [step]),
    taken: [0, 0],
    delimiter: '\n',
    right: false,
    provenance,
    ...changes,
  };
}

export const bare: FormatOptions = { provenance: false };

export function formOf(family: string, kind: RowKind, options: FormatOptions = bare): RowFormat {
  const form: RowFormat | undefined = datasetFormats
    .find(({ name }) => name === family)
    ?.create(options).forms[kind];
  if (form === undefined) throw new Error(`${family} has no form for ${kind}.`);
  return form;
}

/** What a form writes of a row that it can say. */
export function writtenBy(form: RowFormat, row: TrainingRow): FileRow {
  const written = form.write(row);
  if (typeof written === 'string') throw new Error(written);
  return written;
}

export const call: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'c1', name: 'weather', input: { city: 'Oslo' } }],
};
export const result: Message = { role: 'tool', content: '4 °C', toolCallId: 'c1' };
export const tools: readonly ToolDefinition[] = [
  { name: 'weather', description: 'Tells the weather.', input: { type: 'object' } },
];
export const toolsText =
  '[{"type":"function","function":{"name":"weather","description":"Tells the weather.","parameters":{"type":"object"}}}]';
