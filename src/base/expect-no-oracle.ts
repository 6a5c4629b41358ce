import type { Verdict } from '../contracts/verifier.ts';
import { EspalierError } from './errors.ts';
import { expectMethods, refusalOf, wrongValue } from './expect.ts';
import { isThenable } from './is-thenable.ts';

/**
 * Refuses an object that knows the gold answer: it must not guide a search, whatever else it can do.
 *
 * @throws EspalierError `usage` if `value` has a method `label`.
 */
export function expectNoOracle(name: string, method: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (typeof (value as { readonly label?: unknown }).label !== 'function') return;
  throw new EspalierError(
    'usage',
    `Expected \`${name}\` to have a method \`${method}\`, got an oracle: gold answers must not guide a search.`,
  );
}

/** Refuses an oracle, and anything else that is not a verifier. @throws EspalierError `usage`. */
export function expectVerifier(value: unknown, name = 'verifier'): void {
  expectNoOracle(name, 'verify', value);
  if (typeof value === 'function') {
    const told =
      'to be an object with a method `verify`, got a function. Write `{ verify: … }` with it, or call it if it makes a verifier.';
    throw refusalOf(value, told, name);
  }
  expectMethods(name, value, ['verify']);
}

/**
 * The checked verdict of a verifier or an oracle.
 *
 * @param name - What returned it.
 * @throws EspalierError `usage`, which ends the item, for anything but a verdict.
 */
export function expectVerdict(given: unknown, name = 'verifier.verify()'): Verdict {
  const verdict: Readonly<Record<keyof Verdict, unknown>> = Object(given);
  const { correct, score = 0 } = verdict;
  if (correct === undefined) {
    const expected =
      'an object such as { correct: true, score: 0.5 } whose `correct` is true or false';
    throw wrongValue(name, expected, shown(given));
  }
  if (typeof correct !== 'boolean') {
    throw wrongValue(`${name}.correct`, 'true or false', correct);
  }
  if (!(typeof score === 'number' && score >= 0 && score <= 1)) {
    throw wrongValue(`${name}.score`, 'a number from 0 to 1', score);
  }
  return verdict as Verdict;
}

/** The score of a verdict, or else 1 for correct and 0 for wrong. @throws EspalierError as {@link expectVerdict}. */
export function scoreIn(given: unknown): number {
  const { correct, score = Number(correct) } = expectVerdict(given);
  return score;
}

/** The names of the fields of an object without `correct`. */
function shown(given: unknown): unknown {
  const isObject = typeof given === 'object' && given !== null && !isThenable(given);
  return isObject ? `{ ${Object.keys(given).join(', ')} }` : given;
}
