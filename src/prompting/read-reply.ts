import { findJson } from '../base/find-json.ts';
import { isPlainObject } from '../base/json.ts';
import type { Failed } from '../contracts/failure.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import { answerIn } from './answer-words.ts';
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

/** The text of an answer, without what a model thought aloud before it. */
export function replyText({ text }: Completion): string {
  return text.replace(/^.*<\/think>/s, '').trim();
}

/**
 * What a reply states about a field, with what stands beside it: the last JSON object that has the field, and
 * where there is no JSON the last lines of the form `field: value`. What an answer was cut off in is not read:
 * `1` may have been on its way to `10`.
 *
 * @param wanted - The field, as {@link fieldName} has it.
 */
export function fieldsIn(completion: Completion, wanted: string): Fields | undefined {
  const { finishReason } = completion;
  if (finishReason === 'refusal') return undefined;
  const text = replyText(completion);
  const { values, cut } = findJson(text);
  const stated = values
    .flatMap(objectsIn)
    .map(namedFields)
    .findLast((fields) => Object.hasOwn(fields, wanted));
  const isUnfinished = finishReason === 'length' && cut !== undefined;
  if (stated !== undefined && !isUnfinished) return stated;
  if (cut !== undefined) return undefined;
  const lines = text.split('\n');
  const labelled = labelledFields(finishReason === 'length' ? lines.slice(0, -1) : lines);
  return Object.hasOwn(labelled, wanted) ? labelled : undefined;
}

/** The reason in a reply, where it gives one. */
export function reasonIn(fields: Fields | undefined): string | undefined {
  const reason = fields?.['reason'];
  return typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : undefined;
}

/** What a reply states about a field, or else the whole of a reply that was not cut off; with its reason. */
export function statedIn(
  completion: Completion,
  field: string,
): { readonly stated: JsonValue | undefined; readonly reason: string | undefined } {
  const fields = fieldsIn(completion, field);
  const { finishReason } = completion;
  const isWhole = finishReason !== 'length' && finishReason !== 'refusal';
  const bare = isWhole ? replyText(completion) : undefined;
  return { stated: fields === undefined ? bare : fields[field], reason: reasonIn(fields) };
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
  const text = completion.finishReason === 'refusal' ? '' : replyText(completion);
  const answer = fields === undefined ? answerIn(text, bare) : choiceIn(fields[field], answers);
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

/** A value and all the objects in it, the outer ones first. */
function objectsIn(value: JsonValue): readonly Fields[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap(objectsIn);
  if (!isPlainObject(value)) return [];
  const fields = value as Fields;
  return [fields, ...Object.values(fields).flatMap(objectsIn)];
}

/** `Score: 7`, also with the marks of Markdown around either side. */
const labelledLine =
  /^[\s>*_#`-]{0,20}(\p{L}[\p{L}\p{N} _-]{0,60}?)[*_`\s]{0,8}[:=][*_`\s]{0,8}(\S.{0,400})$/u;

function labelledFields(lines: readonly string[]): Fields {
  const fields: Record<string, JsonValue> = {};
  for (const line of lines) {
    const match = line.length > 500 ? null : labelledLine.exec(line.trimEnd());
    if (match === null) continue;
    const [, name = '', value = ''] = match;
    fields[fieldName(name)] = value.replace(/(?<![\s*_`])[\s*_`]+$/u, '');
  }
  return fields;
}
