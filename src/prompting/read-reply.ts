import { findJson } from '../base/find-json.ts';
import { isPlainObject } from '../base/json.ts';
import { withoutThoughts } from '../base/thoughts.ts';
import type { Failed } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import { answerIn } from './answer-words.ts';
import { itemStated } from './item-stated.ts';
import { choiceIn } from './read-field.ts';

/** The content of one reply. */
export interface Reading {
  /** The score, on the range of the form. */
  readonly score: number;
  /** Scores in [0, 1] that it was combined from. */
  readonly parts?: Readonly<Record<string, number>>;
  /** The reason, if it gives one. */
  readonly reason?: string | undefined;
}

/** The fields of a reply, by {@link fieldName}. */
export type Fields = Readonly<Record<string, JsonValue>>;

/** The name of a field, without case, blanks and punctuation: a model asked for `on_track` may write `On track`. */
export function fieldName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** An object with its names normalised by {@link fieldName}. */
export function namedFields(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [fieldName(name), value]),
  );
}

/** The text of an answer, without thoughts; empty if the model refused. */
export function replyText({ text, finishReason }: Completion): string {
  return finishReason === 'refusal' ? '' : withoutThoughts(text).trim();
}

/**
 * Finds a field in a reply, with the fields beside it: the last JSON object that has the field or, without JSON, the
 * last lines of the form `field: value`. A nested field of the same name is a different one. If two objects differ and
 * text follows, neither counts. The last part of an answer that was cut off is not read: `1` may have been on its way
 * to `10`.
 *
 * @param wanted - The field, normalised by {@link fieldName}.
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

/** An object that is the only value in another object or in a list. */
function unwrapped(value: JsonValue, wanted: string): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  const [[name = '', only] = [], ...others] = Object.entries(value);
  return others.length === 0 && fieldName(name) !== wanted && isPlainObject(only) ? only : value;
}

/** Converts single quotes, as in Python, to valid JSON. */
function doubleQuoted(text: string): string {
  return text.replace(/(?<=[{[,:]\s{0,3})'|'(?=\s{0,3}[:,}\]])/g, '"');
}

/** The reason in a reply, if it gives one. */
export function reasonIn(fields: Fields | undefined): string | undefined {
  const reason = fields?.['reason'];
  return typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : undefined;
}

/** The answer in a reply and its reason: from a field, or a `bare` answer at its beginning. */
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

/** Why none of the replies could be read. */
export function unreadable(expected: string, completions: readonly Completion[]): Failed {
  const [first] = completions;
  if (completions.every(isCutBeforeText)) return cutBeforeText(expected);
  const text = first === undefined ? '' : first.text.trim().slice(0, 80);
  return { failure: { kind: 'parse', message: `Expected ${expected}, got \`${text}\`.` } };
}

/** Whether a reply was cut off before it contained any text. */
function isCutBeforeText({ text, finishReason }: Completion): boolean {
  return finishReason === 'length' && text.trim() === '';
}

/** The failure of such a reply. */
export function cutBeforeText(expected: string): Failed {
  const message = `Expected ${expected}, got a reply that was cut off before it said anything: the model may have thought until its limit. Give it more \`thoughtTokens\`, or a lower effort.`;
  return { failure: { kind: 'parse', message } };
}

/** Synonyms of a field as the label of a line. */
const synonyms: Readonly<Record<string, string>> = {
  score: 'rating|grade',
  best: 'answer|choice|bestoption|bestproposal|bestchoice',
  better: 'winner|answer|verdict',
  judgement: 'judgment|verdict|answer|rating',
  answer: 'verdict',
};

/**
 * Splits at line breaks, and before a label within a line: finds the score of `Step 2 is wrong, so my score: 3`, but
 * not that of a *maximum score*.
 */
function lineOf(wanted: string): RegExp {
  const label = `(?:${[wanted, synonyms[wanted]].filter(Boolean).join('|')})`;
  const lead = String.raw`(?<=[.!?;:,)–—]\s{0,3}|\b(?:my|the|final|overall|so|thus|therefore|hence)\s{1,3})`;
  return new RegExp(
    String.raw`\n|${lead}(?=[*_]{0,3}${label}[*_\s]{0,3}(?:\([^()]{1,20}\)\s?)?[:=])`,
    'iu',
  );
}

/** `Score: 7`, `Score (1-10) – 7`, also with Markdown marks around either side. */
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
