import { expectation, expectObject } from '../base/expect.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { Completion } from '../contracts/language-model.ts';
import { oneOf } from './answer-words.ts';
import { answerOf, type Reading, replyText } from './read-reply.ts';

/**
 * The codes of R-MCTS and their values: A 1, B 0.9, C 0.5, D 0.2, E 0.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024,
 * whose code has the values.
 */
export const statusCodes: Readonly<Record<string, number>> = { A: 1, B: 0.9, C: 0.5, D: 0.2, E: 0 };

const statusMeanings: Readonly<Record<string, string>> = {
  A: 'The goal is reached, and all that was asked for is there.',
  B: 'The goal is as good as reached: nothing but a last, obvious step is left.',
  C: 'The work is on the right way, and a good part of it is still to be done.',
  D: 'The work has hardly got nearer to the goal, or something in it is doubtful; it could still be saved.',
  E: 'The work has failed: it contains a mistake, or leads away from the goal.',
};

/** Status codes and how to ask a model for them. */
export interface CodeTable {
  /** The codes, one per line, each with its meaning. */
  readonly list: string;
  /** The codes in a sentence. */
  readonly names: string;
  /** What a reply is expected to be, for error messages. */
  readonly expected: string;
  /** The schema of a reply's `status`. */
  readonly schema: Readonly<Record<'status', JsonValue>>;
  /** Reads the code of a reply: from its `status`, or from the entire reply. */
  read(completion: Completion): Reading | undefined;
}

/** Checked codes: two or more words, each with a value in [0, 1] and a meaning. */
export function codeTable({
  codes = statusCodes,
  meanings = statusMeanings,
}: {
  readonly codes?: Readonly<Record<string, number>> | undefined;
  readonly meanings?: Readonly<Record<string, string>> | undefined;
}): CodeTable {
  // For callers without types: `null` is refused as a table without words.
  const names = Object.keys(Object(codes) as object);
  const isSound =
    names.length >= 2 &&
    names.every((name) => /^[\p{L}\p{N}]+$/u.test(name)) &&
    new Set(names.map((name) => name.toLowerCase())).size === names.length &&
    Object.values(codes).every((value) => value >= 0 && value <= 1);
  if (!isSound) {
    throw expectation('codes', 'two or more different words, each with a value from 0 to 1', codes);
  }
  expectObject('meanings', meanings);
  const unexplained = names.find((name) => typeof meanings[name] !== 'string');
  if (unexplained !== undefined) {
    throw expectation(`meanings.${unexplained}`, 'what the code means', meanings[unexplained]);
  }
  return {
    list: names.map((name) => `${name}: ${meanings[name]}`).join('\n'),
    names: oneOf(names),
    expected: `one of the codes ${names.join(', ')}`,
    schema: { status: { type: 'string', enum: names } },
    read(completion) {
      const bare = replyText(completion).length <= 40 ? names : [];
      const read = answerOf(completion, 'status', { answers: names, bare });
      return read && { score: codes[read.answer] ?? 0, reason: read.reason };
    },
  };
}
