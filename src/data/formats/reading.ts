import { isPlainObject } from '../../base/json.ts';
import type { RowKind } from '../rows.ts';
import type { Columns } from './columns.ts';

/** One turn, whoever wrote it. */
export interface RowTurn {
  /** Who speaks, in the words of the file. */
  readonly role: string;
  /** The content: text in a valid row. */
  readonly content: unknown;
  /** Whether it calls tools, or says what one returned. */
  readonly usesTools: boolean;
  /** The calls of tools, verbatim; none if it makes none. */
  readonly calls: readonly unknown[];
  /** The id of the call that it answers, if it names one. */
  readonly answers?: string;
}

/** A text, or a conversation. */
export type RowContent = string | readonly RowTurn[];

/** Something wrong with the columns of a row, and what to show of it. */
interface ReadFault {
  readonly code: 'empty-list' | 'missing-column' | 'missing-prompt' | 'null-content' | 'wrong-type';
  readonly excerpt: unknown;
}

/** The contents of a form, in terms common to all forms. Missing parts are `undefined`. */
export interface ReadParts {
  /** The prompt; none if it is inside the sides. */
  readonly prompt?: RowContent | undefined;
  /** The chosen side, or the only completion. */
  readonly chosen?: RowContent | undefined;
  readonly rejected?: RowContent | undefined;
  readonly steps?: readonly unknown[] | undefined;
  /** The label, or those of the steps. */
  readonly labels?: readonly unknown[] | undefined;
  /** Other parts of the row that distinguish it. */
  readonly context?: unknown;
  /** Whether a label is a rating of −1, 0 or 1. */
  readonly rated?: boolean;
  /** Whether steps are joined by the trainer, and so must not hold its separator. */
  readonly joined?: boolean;
  /** Whether the prompt is inside the sides. */
  readonly implicit?: boolean;
  /** Whether the trainer puts another template around the prompt, so that no text can follow it. */
  readonly templated?: boolean;
  /** Whether rows may be equal, as samples of a group are. */
  readonly repeats?: boolean;
  /** Whether turns must alternate, as LLaMA-Factory wants it. */
  readonly alternates?: boolean;
}

/** A row of any known form, as checks see it. */
export interface ReadRow extends ReadParts {
  readonly kind: Exclude<RowKind, 'rollout'>;
  readonly columns: RowColumns;
  /** The faults of the columns themselves. */
  readonly faults: readonly ReadFault[];
}

/** The columns of a row. */
export type RowColumns = Readonly<Record<string, unknown>>;

/** How rows of a form are known and read. */
export interface Reading {
  readonly name: string;
  readonly kind: ReadRow['kind'];
  /** The columns that a trainer reads. A row is taken for the form of whose columns it has most, of the right types. */
  readonly columns: Columns;
  /** The columns without which a row is not of this form. */
  readonly needs: readonly string[];
  /** Whether a row that has them is of this form. @defaultValue it is */
  readonly fits?: (columns: RowColumns) => boolean;
  readonly parts: (reader: ColumnReader) => ReadParts;
}

/** Reads a row of a form. */
export function readRow(
  { kind, parts }: Reading,
  columns: RowColumns,
  turns: TurnKeys | undefined,
): ReadRow {
  const reader = new ColumnReader(columns, turns);
  return Object.assign(parts(reader), { kind, columns, faults: reader.faults });
}

/** How the columns that most trainers agree on are known and read. */
export const usualReadings: Readonly<
  Record<
    'completion' | 'pair' | 'prompt' | 'rollout' | 'unpaired',
    Pick<Reading, 'needs' | 'parts'>
  >
> = {
  completion: {
    needs: ['prompt', 'completion'],
    parts: (reader) => ({
      prompt: reader.content('prompt'),
      chosen: reader.content('completion'),
    }),
  },
  pair: {
    needs: ['prompt', 'chosen', 'rejected'],
    parts: (reader) => ({
      prompt: reader.content('prompt'),
      chosen: reader.content('chosen'),
      rejected: reader.content('rejected'),
    }),
  },
  prompt: {
    needs: ['prompt'],
    parts: (reader) => ({ prompt: reader.content('prompt') }),
  },
  rollout: {
    needs: ['prompt', 'completion', 'reward', 'group', 'advantages'],
    parts: (reader) => ({
      prompt: reader.content('prompt'),
      chosen: reader.content('completion'),
      repeats: true,
    }),
  },
  unpaired: {
    needs: ['completion', 'label'],
    parts: (reader) => ({
      prompt: reader.content('prompt'),
      chosen: reader.content('completion'),
      labels: [reader.value('label')],
    }),
  },
};

/** The sides of a pair, where the columns are named so. */
export function sidesOf(reader: ColumnReader): ReadParts {
  return { chosen: reader.content('chosen'), rejected: reader.content('rejected') };
}

/** A form without a separate prompt, which is part of the learnt text. */
export function implicitReading(name: string, columns: Columns): Reading {
  const isPair = 'chosen' in columns;
  const [only = ''] = Object.keys(columns);
  return {
    name,
    kind: isPair ? 'preference' : 'sft',
    columns,
    needs: Object.keys(columns),
    parts: (reader) => ({
      implicit: true,
      ...(isPair ? sidesOf(reader) : { chosen: reader.content(only) }),
    }),
  };
}

/** A content as one text, by which rows are distinguished and their length is measured. */
export function textOf(content: RowContent | undefined): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  return content.map(({ content: said }) => asText(said)).join('\n');
}

/** A content with its roles and calls, for comparing. */
export function identityOf(content: RowContent | undefined): string {
  return JSON.stringify(content ?? null);
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

/** The words of the file for turns. */
export interface TurnKeys {
  readonly role: string;
  readonly content: string;
}

/** Reads columns of a row, and notes their faults. */
export class ColumnReader {
  /** The faults so far. */
  readonly faults: ReadFault[] = [];
  readonly columns: RowColumns;
  readonly #turns: TurnKeys | undefined;

  constructor(columns: RowColumns, turns?: TurnKeys) {
    this.columns = columns;
    this.#turns = turns;
  }

  /** A text or a conversation. */
  content(name: string): RowContent | undefined {
    return this.contentOf(name, this.columns[name]);
  }

  /** The same for a nested value. */
  contentOf(name: string, value: unknown): RowContent | undefined {
    if (value === undefined) return this.#fault(missing(name), name);
    if (value === null) return this.#fault('null-content', `${name}: null`);
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return this.#conversation(name, value);
    if (isPlainObject(value)) return this.#conversation(name, [value]);
    return this.#fault('wrong-type', `${name}: ${String(value)}`);
  }

  /** A list of anything. */
  list(name: string): readonly unknown[] | undefined {
    const value = this.columns[name];
    if (value === undefined) return this.#fault(missing(name), name);
    if (value === null) return this.#fault('null-content', `${name}: null`);
    if (!Array.isArray(value)) return this.#fault('wrong-type', `${name}: ${typeof value}`);
    return value.length === 0 ? this.#fault('empty-list', `${name}: []`) : value;
  }

  /** Anything at all. */
  value(name: string): unknown {
    const value = this.columns[name];
    return value === undefined ? this.#fault(missing(name), name) : value;
  }

  #conversation(name: string, values: readonly unknown[]): readonly RowTurn[] | undefined {
    if (values.length === 0) return this.#fault('empty-list', `${name}: []`);
    const turns = values.map((value) => readTurn(value, this.#turns));
    const wrong = turns.indexOf(undefined);
    if (wrong >= 0) return this.#fault('wrong-type', { [name]: values[wrong] });
    const empty = turns.find((turn) => turn?.content === null && !turn.usesTools);
    if (empty !== undefined) return this.#fault('null-content', `${name}: ${empty.role}: null`);
    return turns.filter((turn) => turn !== undefined);
  }

  #fault(code: ReadFault['code'], excerpt: unknown): undefined {
    this.faults.push({ code, excerpt });
  }
}

function missing(name: string): ReadFault['code'] {
  return name === 'prompt' ? 'missing-prompt' : 'missing-column';
}

const openAiKeys: TurnKeys = { role: 'role', content: 'content' };
const shareGptKeys: TurnKeys = { role: 'from', content: 'value' };

function readTurn(value: unknown, keys: TurnKeys | undefined): RowTurn | undefined {
  if (!isPlainObject(value)) return undefined;
  const { role: roleKey, content: contentKey } =
    keys ?? ('from' in value ? shareGptKeys : openAiKeys);
  const role = value[roleKey];
  if (typeof role !== 'string') return undefined;
  const content = value[contentKey] ?? null;
  // ShareGPT has the call in the place of the text.
  const own = role === 'function_call' ? content : (value['tool_calls'] ?? value['function_call']);
  const calls: readonly unknown[] = Array.isArray(own) ? own : [own ?? []].flat();
  const usesTools = calls.length > 0 || toolRoles.includes(role);
  const isBeside = calls.length > 0 && own !== content;
  const { tool_call_id: answers } = value;
  const turn = { role, content: isBeside ? [content, own] : content, usesTools, calls };
  return typeof answers === 'string' ? { ...turn, answers } : turn;
}

const toolRoles: readonly string[] = ['tool', 'observation', 'function_call', 'function'];
