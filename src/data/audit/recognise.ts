import { isPlainObject } from '../../base/json.ts';
import { type AuditKind, type AuditRow, ColumnReader, type TurnKeys } from './audit-row.ts';

/** The columns of a row. */
export type RowColumns = Readonly<Record<string, unknown>>;

/** A form of rows: how it is known by its columns, and how a row of it is read. */
export interface AuditShape {
  /** The name in reports. */
  readonly name: string;
  /** Reads a row. */
  read(columns: RowColumns, turns?: TurnKeys): AuditRow;
}

interface ShapeRule extends AuditShape {
  /** Whether a first row is of this form. */
  readonly fits: (columns: RowColumns) => boolean;
}

/** The form of a file, by its first row; `undefined` where it is of no known one. */
export function shapeOf(columns: RowColumns): AuditShape | undefined {
  return shapes.find(({ fits }) => fits(columns));
}

interface Reading {
  readonly kind: AuditKind;
  /** Fills in what the form has. */
  readonly fill: (reader: ColumnReader, columns: RowColumns) => Partial<AuditRow>;
}

function shape(name: string, fits: ShapeRule['fits'], { kind, fill }: Reading): ShapeRule {
  return {
    name,
    fits,
    read(columns, turns) {
      const reader = new ColumnReader(columns, turns);
      const filled = fill(reader, columns);
      return { ...blank, kind, columns, ...filled, faults: [...reader.faults] };
    },
  };
}

const blank: Omit<AuditRow, 'columns' | 'faults' | 'kind'> = {
  prompt: undefined,
  chosen: undefined,
  rejected: undefined,
  steps: undefined,
  labels: undefined,
  rated: false,
  joined: false,
  implicit: false,
  alternates: false,
};

function has(...names: readonly string[]): (columns: RowColumns) => boolean {
  return (columns) => names.every((name) => name in columns);
}

function hasList(column: string, ...names: readonly string[]): (columns: RowColumns) => boolean {
  return (columns) => has(column, ...names)(columns) && Array.isArray(columns[column]);
}

const pair: Reading = {
  kind: 'preference',
  fill: (reader) => ({
    prompt: reader.content('prompt'),
    chosen: reader.content('chosen'),
    rejected: reader.content('rejected'),
  }),
};

const implicitPair: Reading = {
  kind: 'preference',
  fill: (reader) => ({
    implicit: true,
    chosen: reader.content('chosen'),
    rejected: reader.content('rejected'),
  }),
};

const unpaired: Reading = {
  kind: 'unpaired',
  fill: (reader) => ({
    prompt: reader.content('prompt'),
    chosen: reader.content('completion'),
    labels: [reader.value('label')],
  }),
};

const completion: Reading = {
  kind: 'sft',
  fill: (reader) => ({ prompt: reader.content('prompt'), chosen: reader.content('completion') }),
};

/** The form without its prompt: a conversation, or a text. */
function whole(column: string): Reading {
  return {
    kind: 'sft',
    fill: (reader) => ({ implicit: true, chosen: reader.content(column) }),
  };
}

const promptOnly: Reading = {
  kind: 'prompt',
  fill: (reader) => ({ prompt: reader.content('prompt') }),
};

const alpacaPrompt = (reader: ColumnReader, { input }: RowColumns) => {
  const prompt = reader.content('instruction');
  return typeof prompt === 'string' && typeof input === 'string' && input !== ''
    ? `${prompt}\n${input}`
    : prompt;
};

const alpacaPair: Reading = {
  kind: 'preference',
  fill: (reader, columns) => ({
    prompt: alpacaPrompt(reader, columns),
    chosen: reader.content('chosen'),
    rejected: reader.content('rejected'),
  }),
};

const openAiPair: Reading = {
  kind: 'preference',
  fill: (reader, { input }) => ({
    prompt: reader.contentOf('prompt', isPlainObject(input) ? input['messages'] : input),
    chosen: reader.content('preferred_output'),
    rejected: reader.content('non_preferred_output'),
  }),
};

const shareGptPair: Reading = {
  kind: 'preference',
  fill: (reader) => ({
    alternates: true,
    prompt: reader.content('conversations'),
    chosen: reader.content('chosen'),
    rejected: reader.content('rejected'),
  }),
};

const messagesPair: Reading = {
  kind: 'preference',
  fill: (reader) => ({
    prompt: reader.content('messages'),
    chosen: reader.content('chosen'),
    rejected: reader.content('rejected'),
  }),
};

const trlStepwise: Reading = {
  kind: 'stepwise',
  fill: (reader) => ({
    joined: true,
    prompt: reader.content('prompt'),
    steps: reader.list('completions'),
    labels: reader.list('labels'),
  }),
};

const prm800k: Reading = {
  kind: 'stepwise',
  fill(reader, { question, label }) {
    const steps = isPlainObject(label) ? label['steps'] : undefined;
    const proposed = (Array.isArray(steps) ? (steps as unknown[]) : []).flatMap(
      (step): unknown[] =>
        isPlainObject(step) && Array.isArray(step['completions']) ? step['completions'] : [],
    );
    const rated = proposed.filter(isPlainObject);
    return {
      rated: true,
      prompt: reader.contentOf('prompt', isPlainObject(question) ? question['problem'] : question),
      steps: rated.map(({ text }) => text),
      labels: rated.map(({ rating }) => rating ?? 0),
    };
  },
};

const mathShepherd: Reading = {
  kind: 'stepwise',
  fill(reader) {
    const input = reader.content('input');
    const label = reader.content('label');
    if (typeof input !== 'string' || typeof label !== 'string') return {};
    const pieces = input.split('ки').slice(0, -1);
    const [first = '', ...others] = pieces;
    const start = Math.max(0, first.lastIndexOf('Step 1:'));
    const marks = label.match(/[+-](?=\n|$)/g) ?? [];
    return {
      prompt: first.slice(0, start).trim(),
      steps: [first.slice(start), ...others].map((piece) => piece.trim()),
      labels: marks.map((mark) => mark === '+'),
    };
  },
};

const kto = (reading: Reading): Reading => ({
  kind: 'unpaired',
  fill: (reader, columns) => ({
    ...reading.fill(reader, columns),
    labels: [reader.value('kto_tag')],
  }),
});

const alpacaSft: Reading = {
  kind: 'sft',
  fill: (reader, columns) => ({
    prompt: alpacaPrompt(reader, columns),
    chosen: reader.content('output'),
  }),
};

const shareGptSft: Reading = {
  kind: 'sft',
  fill: (reader) => ({ alternates: true, implicit: true, chosen: reader.content('conversations') }),
};

/** The first one that fits counts: those with the rarest columns come first. */
const shapes: readonly ShapeRule[] = [
  shape('openai-preference', has('preferred_output', 'non_preferred_output'), openAiPair),
  shape(
    'prm800k-stepwise',
    ({ question, label }) => isPlainObject(question) && isPlainObject(label),
    prm800k,
  ),
  shape('math-shepherd-stepwise', has('input', 'label', 'task'), mathShepherd),
  shape('step-apo-preference', has('instruction', 'chosen', 'q_chosen'), alpacaPair),
  shape('llama-factory-unpaired', has('instruction', 'kto_tag'), kto(alpacaSft)),
  shape('llama-factory-preference', has('instruction', 'chosen', 'rejected'), alpacaPair),
  shape('llama-factory-sft', has('instruction', 'output'), alpacaSft),
  shape('llama-factory-sharegpt-unpaired', has('conversations', 'kto_tag'), kto(shareGptSft)),
  shape(
    'llama-factory-sharegpt-preference',
    has('conversations', 'chosen', 'rejected'),
    shareGptPair,
  ),
  shape('llama-factory-sharegpt-sft', has('conversations'), shareGptSft),
  shape('step-dpo-preference', has('prompt', 'initial_reason_steps', 'chosen'), pair),
  shape('trl-stepwise', has('completions', 'labels'), trlStepwise),
  shape('trl-conversational-unpaired', hasList('completion', 'label'), unpaired),
  shape('trl-unpaired', has('completion', 'label'), unpaired),
  shape('trl-conversational-sft', hasList('completion', 'prompt'), completion),
  shape('trl-sft', has('prompt', 'completion'), completion),
  shape('verl-prompt', has('data_source', 'prompt'), promptOnly),
  shape('axolotl-preference', has('messages', 'chosen', 'rejected'), messagesPair),
  shape(
    'distilabel-preference',
    (columns) => hasList('chosen', 'prompt')(columns) && typeof columns['prompt'] === 'string',
    pair,
  ),
  shape('trl-conversational-preference', hasList('chosen', 'prompt', 'rejected'), pair),
  shape('trl-preference', has('prompt', 'chosen', 'rejected'), pair),
  shape('trl-conversational-preference-implicit', hasList('chosen', 'rejected'), implicitPair),
  shape('trl-preference-implicit', has('chosen', 'rejected'), implicitPair),
  shape('trl-conversational-sft', has('messages'), whole('messages')),
  shape('trl-conversational-prompt', hasList('prompt'), promptOnly),
  shape('trl-prompt', has('prompt'), promptOnly),
  shape('trl-text', has('text'), whole('text')),
];
