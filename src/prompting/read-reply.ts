import { findJson } from '../base/find-json.ts';
import { isPlainObject } from '../base/json.ts';
import { withoutThoughts } from '../base/thoughts.ts';
import type { Failed } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import { answerIn } from './answer-words.ts';
import { itemStated } from './item-stated.ts';
import { choiceIn } from './read-field.ts';

/** What one reply says. */
export interface Reading {
  /** The score, on the range of the form. */
  readonly score: number;
  /** Scores in [0, 1] of which this one was made. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Why, where it says. */
  readonly reason?: string | undefined;
}

/** What a reply states, by {@link fieldName}. */
export type Fields = Readonly<Record<string, JsonValue>>;

/** The name of a field without case, blanks and marks: a model that is asked for `on_track` may write `On track`. */
export function fieldName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** An object with its names as {@link fieldName} has them. */
export function namedFields(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [fieldName(name), value]),
  );
}

/** The text of an answer, without what a model thought aloud; empty where the model refused. */
export function replyText({ text, finishReason }: Completion): string {
  return finishReason === 'refusal' ? '' : withoutThoughts(text).trim();
}

/**
 * What a reply states about a field, with what stands beside it: the last JSON object that has the field, and
 * where there is no JSON the last lines of the form `field: value`. A field of the same name within such an object is
 * another one, and of two objects that differ neither counts where the text goes on behind them. What an answer was cut
 * off in is not read: `1` may have been on its way to `10`.
 *
 * @param wanted - The field, as {@link fieldName} has it.
 */
export function fieldsIn(completion: Completion, wanted: string): Fields | undefined {
  const { finishReason } = completion;
  const text = replyText(completion);
  const { values, cut } = findJson(
    /^[`\s]*(?:json\s)?\{\s*'/.test(text) ? doubleQuoted(text) : text,
  );
  const objects = values
    .map((value) => unwrapped(value, wanted))
    .filter(isPlainObject)
    .map((fields) => namedFields(fields as Fields))
    .filter((fields) => Object.hasOwn(fields, wanted));
  const stated = objects.at(-1);
  const isUnfinished = finishReason === 'length' && cut !== undefined;
  if (stated !== undefined && !isUnfinished) {
    const differ = new Set(objects.map((fields) => JSON.stringify(fields[wanted]))).size > 1;
    const behind = text.slice(text.lastIndexOf('}') + 1);
    const isOpen = takesBack.test(behind) || (differ && /\p{L}/u.test(behind));
    return isOpen ? { [wanted]: null } : stated;
  }
  if (cut !== undefined) return undefined;
  const lines = text.split(lineOf(wanted));
  const labelled = labelledFields(finishReason === 'length' ? lines.slice(0, -1) : lines, wanted);
  return Object.hasOwn(labelled, wanted) ? labelled : undefined;
}

const takesBack =
  /\b(?:wait|actually|on (?:second thoughts?|reflection)|correction|scratch that)\b/iu;

/** An object that is the only thing in another one, or in a list. */
function unwrapped(value: JsonValue, wanted: string): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  const [[name = '', only] = [], ...others] = Object.entries(value);
  return others.length === 0 && fieldName(name) !== wanted && isPlainObject(only) ? only : value;
}

/** The single quotes of Python as JSON has them. */
function doubleQuoted(text: string): string {
  return text.replace(/(?<=[{[,:]\s{0,3})'|'(?=\s{0,3}[:,}\]])/g, '"');
}

/** The reason in a reply, where it gives one. */
export function reasonIn(fields: Fields | undefined): string | undefined {
  const reason = fields?.['reason'];
  return typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : undefined;
}

/**
 * Which of the answers a reply gives, with its reason: in a field, or one of the `bare` ones at its beginning.
 */
export function answerOf(
  completion: Completion,
  field: string,
  {
    answers,
    bare = answers,
  }: { readonly answers: readonly string[]; readonly bare?: readonly string[] },
): { readonly answer: string; readonly reason: string | undefined } | undefined {
  const fields = fieldsIn(completion, field);
  const text = replyText(completion);
  const answer =
    fields === undefined
      ? (answerIn(text, bare) ?? itemStated(text, bare))
      : choiceIn(fields[field], answers);
  return answer === undefined ? undefined : { answer, reason: reasonIn(fields) };
}

/** Why none of the replies counts. */
export function unreadable(expected: string, completions: readonly Completion[]): Failed {
  const [first] = completions;
  if (completions.every(isCutBeforeText)) return cutBeforeText(expected);
  const text = first === undefined ? '' : first.text.trim().slice(0, 80);
  return { failure: { kind: 'parse', message: `Expected ${expected}, got \`${text}\`.` } };
}

/** Whether a reply was cut off before it said anything. */
function isCutBeforeText({ text, finishReason }: Completion): boolean {
  return finishReason === 'length' && text.trim() === '';
}

/** Why such a reply does not count. */
export function cutBeforeText(expected: string): Failed {
  const message = `Expected ${expected}, got a reply that was cut off before it said anything: the model may have thought until its limit. Give it more \`thoughtTokens\`, or a lower effort.`;
  return { failure: { kind: 'parse', message } };
}

/** Other words for a field, where it is the label of a line. */
const synonyms: Readonly<Record<string, string>> = {
  score: 'rating|grade',
  best: 'answer|choice|bestoption|bestproposal|bestchoice',
  better: 'winner|answer|verdict',
  judgement: 'judgment|verdict|answer|rating',
  answer: 'verdict',
};

/** Line breaks, and blanks before a label within a line: the score of `Step 2 is wrong, so my score: 3`, but no *maximum score*. */
function lineOf(wanted: string): RegExp {
  const label = `(?:${[wanted, synonyms[wanted]].filter(Boolean).join('|')})`;
  const lead = String.raw`(?<=[.!?;:,)–—]\s{0,3}|\b(?:my|the|final|overall|so|thus|therefore|hence)\s{1,3})`;
  return new RegExp(
    String.raw`\n|${lead}(?=[*_]{0,3}${label}[*_\s]{0,3}(?:\([^()]{1,20}\)\s?)?[:=])`,
    'iu',
  );
}

/** `Score: 7`, `Score (1-10) – 7`, also with the marks of Markdown around either side. */
const labelledLine =
  /^[\s>*_#`-]{0,20}(?:(?:my|the|final|overall)\s)*(\p{L}[\p{L}\p{N} _-]{0,60}?)[*_`\s]{0,8}(?:\([^()\n]{1,20}\)[*_`\s]{0,8})?(?:[:=]|[–—-](?=\s))[*_`\s]{0,8}(\S.{0,400})$/iu;

function labelledFields(lines: readonly string[], wanted: string): Fields {
  const fields: Record<string, JsonValue> = {};
  const others = synonyms[wanted]?.split('|') ?? [];
  for (const line of lines) {
    const match = line.length > 500 ? null : labelledLine.exec(line.trimEnd());
    if (match === null) continue;
    const [, label = '', value = ''] = match;
    const name = fieldName(label);
    fields[others.includes(name) ? wanted : name] = value.replace(/(?<![\s*_`])[\s*_`]+$/u, '');
  }
  return fields;
}
