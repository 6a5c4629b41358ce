import { fieldsOf, itemsOf, type JsonFields } from './json.ts';

/** Assembles the events of a streamed reply. */
export interface Gathering {
  /** Adds one event. */
  add(event: unknown): void;
  /** The reply in its non-streamed form; `undefined` if it broke off. */
  reply(): unknown;
}

/** Fields whose text grows from piece to piece. For others, the latest value counts. */
const growing = ['arguments', 'content', 'reasoning', 'reasoning_content', 'refusal', 'text'];

type Growing = Record<string, unknown>;

/** Assembles a reply of Chat Completions, or of the older Completions, from the pieces of its choices. */
export function gatheredChat(): Gathering {
  const choices = new Map<unknown, Growing>();
  const head: Growing = {};
  return {
    add(event) {
      const { choices: pieces, ...rest } = fieldsOf(event);
      grow(head, rest);
      for (const piece of itemsOf(pieces).map(fieldsOf)) {
        const { index = 0 } = piece;
        const choice = choices.get(index) ?? { index };
        choices.set(index, choice);
        growChoice(choice, piece);
      }
    },
    reply() {
      // An error in place of an answer is returned unchanged.
      if (head['error'] !== undefined) return head;
      const whole = [...choices.values()];
      const isWhole = whole.length > 0 && whole.every((choice) => 'finish_reason' in choice);
      return isWhole ? { ...head, choices: whole } : undefined;
    },
  };
}

function growChoice(choice: Growing, { delta, logprobs, ...rest }: JsonFields): void {
  grow(choice, rest);
  if (typeof logprobs === 'object' && logprobs !== null) {
    grow(partOf(choice, 'logprobs'), fieldsOf(logprobs));
  }
  if (delta === undefined || delta === null) return;
  const { tool_calls: calls, ...said } = fieldsOf(delta);
  const message = partOf(choice, 'message');
  grow(message, said);
  for (const call of itemsOf(calls).map(fieldsOf)) growCalls(message, call);
}

/** Servers that send complete calls may omit their indices. */
function growCalls(message: Growing, { function: called, ...rest }: JsonFields): void {
  message['tool_calls'] ??= [];
  const calls = message['tool_calls'] as Growing[];
  const { index = calls.length } = rest;
  const there = calls.find((call) => call['index'] === index);
  const call = there ?? { index };
  if (there === undefined) calls.push(call);
  grow(call, rest);
  grow(partOf(call, 'function'), fieldsOf(called));
}

function partOf(whole: Growing, name: string): Growing {
  whole[name] ??= {};
  return whole[name] as Growing;
}

function grow(whole: Growing, piece: JsonFields): void {
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const there = whole[name];
    const isText = typeof there === 'string' && typeof value === 'string';
    if (isText && growing.includes(name)) whole[name] = there + value;
    else if (Array.isArray(there)) there.push(...partsOf(value));
    else if (Array.isArray(value)) whole[name] = [...partsOf(there ?? []), ...itemsOf(value)];
    else whole[name] = value;
  }
}

/** The parts of a content; a text is a single part. */
function partsOf(content: unknown): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : itemsOf(content);
}
