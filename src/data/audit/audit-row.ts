import { isPlainObject } from '../../base/json.ts';
import type { AuditCode } from './report.ts';

/** One turn, whoever wrote it. */
export interface AuditTurn {
  /** Who speaks, in the words of the file. */
  readonly role: string;
  /** What is said: text in a sound row. */
  readonly content: unknown;
  /** Whether it calls tools, or says what one returned. */
  readonly usesTools: boolean;
}

/** A text, or a conversation. */
export type AuditContent = string | readonly AuditTurn[];

/** Something wrong with one row. */
export interface RowFault {
  /** What. */
  readonly code: AuditCode;
  /** What to show of it. */
  readonly excerpt: unknown;
}

/** What a row is for. */
export type AuditKind = 'preference' | 'prompt' | 'sft' | 'stepwise' | 'unpaired';

/** A row of any known form, as the checks see it. What is missing in it is `undefined`. */
export interface AuditRow {
  /** What it is for. */
  readonly kind: AuditKind;
  /** The columns as they stand. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** The prompt; none where it stands inside the sides. */
  readonly prompt: AuditContent | undefined;
  /** The chosen side, or the only completion. */
  readonly chosen: AuditContent | undefined;
  /** The rejected side of a pair. */
  readonly rejected: AuditContent | undefined;
  /** The steps of a stepwise row. */
  readonly steps: readonly unknown[] | undefined;
  /** The label, or those of the steps. */
  readonly labels: readonly unknown[] | undefined;
  /** Whether a label is a rating of −1, 0 or 1. */
  readonly rated: boolean;
  /** Whether steps are joined by the trainer, and so must not hold its separator. */
  readonly joined: boolean;
  /** Whether the prompt stands inside the sides. */
  readonly implicit: boolean;
  /** Whether turns must alternate, as LLaMA-Factory wants it. */
  readonly alternates: boolean;
  /** What was wrong with the columns themselves. */
  readonly faults: readonly RowFault[];
}

/** A content as one text: what tells rows apart, and what their length is measured by. */
export function textOf(content: AuditContent | undefined): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  return content.map(({ content: said }) => asText(said)).join('\n');
}

/** A content with its roles and calls, for comparing. */
export function identityOf(content: AuditContent | undefined): string {
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

/** Reads columns of a row, and notes what is wrong with them. */
export class ColumnReader {
  readonly faults: RowFault[] = [];
  readonly #columns: Readonly<Record<string, unknown>>;
  readonly #turns: TurnKeys | undefined;

  constructor(columns: Readonly<Record<string, unknown>>, turns?: TurnKeys) {
    this.#columns = columns;
    this.#turns = turns;
  }

  /** A text or a conversation. */
  content(name: string): AuditContent | undefined {
    return this.contentOf(name, this.#columns[name]);
  }

  /** The same for a value that stands deeper. */
  contentOf(name: string, value: unknown): AuditContent | undefined {
    if (value === undefined) return this.#fault(missing(name), name);
    if (value === null) return this.#fault('null-content', `${name}: null`);
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return this.#conversation(name, value);
    if (isPlainObject(value)) return this.#conversation(name, [value]);
    return this.#fault('wrong-type', `${name}: ${String(value)}`);
  }

  /** A list of anything. */
  list(name: string): readonly unknown[] | undefined {
    const value = this.#columns[name];
    if (value === undefined) return this.#fault(missing(name), name);
    if (value === null) return this.#fault('null-content', `${name}: null`);
    if (!Array.isArray(value)) return this.#fault('wrong-type', `${name}: ${typeof value}`);
    return value.length === 0 ? this.#fault('empty-list', `${name}: []`) : value;
  }

  /** Anything at all. */
  value(name: string): unknown {
    const value = this.#columns[name];
    return value === undefined ? this.#fault(missing(name), name) : value;
  }

  #conversation(name: string, values: readonly unknown[]): readonly AuditTurn[] | undefined {
    if (values.length === 0) return this.#fault('empty-list', `${name}: []`);
    const turns = values.map((value) => readTurn(value, this.#turns));
    const wrong = turns.indexOf(undefined);
    if (wrong >= 0) return this.#fault('wrong-type', { [name]: values[wrong] });
    const empty = turns.find((turn) => turn?.content === null && !turn.usesTools);
    if (empty !== undefined) return this.#fault('null-content', `${name}: ${empty.role}: null`);
    return turns.filter((turn) => turn !== undefined);
  }

  #fault(code: AuditCode, excerpt: unknown): undefined {
    this.faults.push({ code, excerpt });
  }
}

function missing(name: string): AuditCode {
  return name === 'prompt' ? 'missing-prompt' : 'missing-column';
}

const openAiKeys: TurnKeys = { role: 'role', content: 'content' };
const shareGptKeys: TurnKeys = { role: 'from', content: 'value' };

function readTurn(value: unknown, keys: TurnKeys | undefined): AuditTurn | undefined {
  if (!isPlainObject(value)) return undefined;
  const { role: roleKey, content: contentKey } =
    keys ?? ('from' in value ? shareGptKeys : openAiKeys);
  const role = value[roleKey];
  if (typeof role !== 'string') return undefined;
  const calls = value['tool_calls'] ?? value['function_call'];
  const isCall = Array.isArray(calls) ? calls.length > 0 : calls !== undefined && calls !== null;
  const usesTools = isCall || toolRoles.includes(role);
  const content = value[contentKey] ?? null;
  return { role, content: isCall ? [content, calls] : content, usesTools };
}

const toolRoles: readonly string[] = ['tool', 'observation', 'function_call', 'function'];
