import { wrongValue } from '../../base/expect.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { Halt } from './commit-path.ts';
import { complaintOf } from './complaint.ts';

/**
 * The answer of a callback.
 *
 * @throws Halt if it throws or returns an invalid answer; the reason of the signal.
 */
export async function answerOf<Answer extends string | boolean>(
  {
    name,
    answers,
    ask,
    signal,
  }: {
    readonly name: string;
    readonly answers: readonly Answer[];
    readonly ask: () => MaybePromise<Answer>;
    readonly signal: AbortSignal;
  },
  haltBy: (why: string) => Halt,
): Promise<Answer> {
  let answer: Answer;
  try {
    signal.throwIfAborted();
    answer = await unlessAborted((async () => ask())(), signal);
  } catch (thrown) {
    signal.throwIfAborted();
    throw haltBy(`\`${name}\` threw. ${complaintOf(thrown)}`);
  }
  if (answers.includes(answer)) return answer;
  const wanted = answers.map((one) => (typeof one === 'string' ? `'${one}'` : one)).join(' or ');
  throw haltBy(wrongValue(name, wanted, answer).message);
}
