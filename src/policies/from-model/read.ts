import { findJson, wholeTexts } from '../../base/find-json.ts';
import { isPlainObject } from '../../base/json.ts';
import type { Notation, Parsed } from '../../contracts/environment.ts';
import type { Failed, Failure } from '../../contracts/failure.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { cutBeforeText, replyText } from '../../prompting/read-reply.ts';
import { itemsOf } from './prompts.ts';

const brokenCall: Failed = {
  failure: { kind: 'parse', message: 'Expected a call of a tool, got none that can be read.' },
};
const noText: Failed = { failure: { kind: 'empty', message: 'Expected an action, got no text.' } };
const refused: Failed = {
  failure: { kind: 'empty', message: 'Expected an action, got a refusal.' },
};

function cutOff(text: string): Failed {
  if (text.trim() === '') return cutBeforeText('an action');
  const message = 'Expected an action, got an answer that was cut off.';
  return { failure: { kind: 'parse', message } };
}

/**
 * Reads an action from text. If the answer was cut off, its last part is ignored, because `= 2` may have been on its
 * way to `= 24`: the last line, or everything after the last delimiter of the notation.
 */
export function readText<State, Action>(
  notation: Notation<State, Action>,
  state: State,
  { text, finishReason }: Completion,
): Parsed<Action> {
  if (finishReason === 'refusal') return refused;
  const isCut = finishReason === 'length';
  const { delimiter = '\n' } = notation;
  const end = text.lastIndexOf(delimiter);
  const whole = isCut ? text.slice(0, end < 0 ? 0 : end + delimiter.length) : text;
  if (whole.trim() !== '') return notation.parse(whole, state);
  return isCut ? cutOff(text) : noText;
}

/** Reads an action from the calls of an answer, or else from its text. An answer that was cut off is not read. */
export function readCalls<State, Action>(
  notation: Notation<State, Action>,
  state: State,
  completion: Completion,
): Parsed<Action> {
  const { toolCalls = [], finishReason } = completion;
  if (finishReason === 'refusal') return refused;
  if (finishReason === 'length') return cutOff(completion.text);
  const called = toolCalls.length === 0 ? undefined : notation.called?.(toolCalls, state);
  if (called !== undefined) return called;
  const text = replyText(completion);
  if (text !== '') return notation.parse(text, state);
  return finishReason === 'other' ? brokenCall : noText;
}

/** Reads the first action from the JSON of an answer. Incomplete JSON does not count. */
export function readJson<State, Action>(
  notation: Notation<State, Action>,
  state: State,
  completion: Completion,
): Parsed<Action> {
  const items = findItems(completion);
  if ('failure' in items) return items;
  const readings = items.whole.map((item) => readItem(notation, state, item));
  return (
    readings.find((reading) => 'action' in reading) ??
    readings[0] ??
    (items.isCut ? cutOff(completion.text) : items.isJson ? noText : noJson(completion))
  );
}

/** An item of a list, and the result of reading it. */
export interface ItemReading<Action> {
  /** The item as the model wrote it: its text, or its JSON. */
  readonly text: string;
  /** The result of reading it. */
  readonly parsed: Parsed<Action>;
}

/** Reads the actions from a JSON list; from a list that was cut off, the complete ones. */
export function readList<State, Action>(
  notation: Notation<State, Action>,
  state: State,
  completion: Completion,
): { readonly items: readonly ItemReading<Action>[]; readonly failure: Failure | undefined } {
  const found = findItems(completion);
  if ('failure' in found) return { items: [], failure: found.failure };
  const items = found.whole.map((item) => ({
    text: typeof item === 'string' ? item : JSON.stringify(item),
    parsed: readItem(notation, state, item),
  }));
  const nothing = found.isJson ? undefined : noJson(completion);
  return { items, failure: (found.isCut ? cutOff(completion.text) : nothing)?.failure };
}

interface FoundItems {
  readonly whole: readonly JsonValue[];
  /** Whether items are missing because the answer was cut off. */
  readonly isCut: boolean;
  /** Whether there is any JSON, even if it is empty. */
  readonly isJson: boolean;
}

/** Finds the JSON of the actions in an answer. */
function findItems(completion: Completion): Failed | FoundItems {
  const { text, finishReason } = completion;
  if (finishReason === 'refusal') return refused;
  if (text.trim() === '') return finishReason === 'length' ? cutOff(text) : noText;
  const { values, cut } = findJson(replyText(completion));
  const whole = values.flatMap(itemsOf);
  return {
    whole: whole.length > 0 || cut === undefined ? whole : wholeTexts(cut),
    isCut: cut !== undefined || (finishReason === 'length' && whole.length === 0),
    isJson: values.length > 0,
  };
}

/** A notation with a schema reads JSON itself; for any other notation, JSON is only a wrapper. */
function readItem<State, Action>(
  notation: Notation<State, Action>,
  state: State,
  item: JsonValue,
): Parsed<Action> {
  const step = isPlainObject(item) ? item['step'] : item;
  const text = notation.schema === undefined ? step : JSON.stringify(item);
  if (typeof text !== 'string') {
    const got = JSON.stringify(item).slice(0, 80);
    const message = `Expected an object with a text \`step\`, got \`${got}\`.`;
    return { failure: { kind: 'parse', message } };
  }
  return text.trim() === '' ? noText : notation.parse(text, state);
}

function noJson({ text }: Completion): Failed {
  const shown = text.trim();
  const short = shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
  return { failure: { kind: 'parse', message: `Expected JSON, got \`${short}\`.` } };
}
