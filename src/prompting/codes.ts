import { expectation } from '../base/expect.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import { answerIn } from './answer-words.ts';
import { objectSchema } from './object-schema.ts';
import { choiceIn } from './read-field.ts';
import { fieldsIn, type Reading, reasonIn, replyText } from './read-reply.ts';

/** Codes for how things stand, and the value in [0, 1] of each. Two or more. */
export type StatusCodes = Readonly<Record<string, number>>;

/**
 * The codes of R-MCTS: A 1, B 0.9, C 0.5, D 0.2, E 0.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024,
 * whose code has the values.
 */
export const statusCodes: StatusCodes = { A: 1, B: 0.9, C: 0.5, D: 0.2, E: 0 };

/** What {@link statusCodes} mean to a judge. */
export const statusMeanings: Readonly<Record<string, string>> = {
  A: 'The goal is reached, and all that was asked for is there.',
  B: 'The goal is as good as reached: nothing but a last, obvious step is left.',
  C: 'The work is on the right way, and a good part of it is still to be done.',
  D: 'The work has hardly got nearer to the goal, or something in it is doubtful; it could still be saved.',
  E: 'The work has failed: it contains a mistake, or leads away from the goal.',
};

/** Codes and what they mean. */
export interface CodeTable {
  /** The codes, and the value of each. */
  readonly codes: StatusCodes;
  /** What each code means. */
  readonly meanings: Readonly<Record<string, string>>;
}

/** Codes that can be used: two or more words, each with a value in [0, 1] and a meaning. */
export function codeTable(
  codes: StatusCodes = statusCodes,
  meanings: Readonly<Record<string, string>> = statusMeanings,
): CodeTable {
  const names = Object.keys(codes);
  const isSound =
    names.length >= 2 &&
    names.every((name) => /^[\p{L}\p{N}]+$/u.test(name)) &&
    new Set(names.map((name) => name.toLowerCase())).size === names.length &&
    Object.values(codes).every((value) => value >= 0 && value <= 1);
  if (!isSound) {
    throw expectation('codes', 'two or more different words, each with a value from 0 to 1', codes);
  }
  const unexplained = names.find((name) => typeof meanings[name] !== 'string');
  if (unexplained === undefined) return { codes, meanings };
  throw expectation(`meanings.${unexplained}`, 'what the code means', meanings[unexplained]);
}

/** The codes one a line, each with its meaning. */
export function listedCodes({ codes, meanings }: CodeTable): string {
  return Object.keys(codes)
    .map((code) => `${code}: ${meanings[code]}`)
    .join('\n');
}

/** The code that a reply states: in its `status`, or by being nothing else. */
export function codeIn({ codes }: CodeTable, completion: Completion): Reading | undefined {
  const names = Object.keys(codes);
  const fields = fieldsIn(completion, 'status');
  const code =
    fields === undefined ? bareCode(completion, names) : choiceIn(fields['status'], names);
  if (code === undefined) return undefined;
  const reason = fields === undefined ? undefined : reasonIn(fields);
  return { score: codes[code] ?? 0, ...(reason !== undefined && { reason }) };
}

function bareCode(completion: Completion, names: readonly string[]): string | undefined {
  const text = replyText(completion);
  return text.length <= 40 && completion.finishReason !== 'refusal'
    ? answerIn(text, names)
    : undefined;
}

/** The schema of a reply with a `status`. */
export function codeSchema(
  { codes }: CodeTable,
  { reason }: { readonly reason: boolean },
): JsonValue {
  return objectSchema({
    ...(reason && { reason: { type: 'string' } }),
    status: { type: 'string', enum: Object.keys(codes) },
  });
}
