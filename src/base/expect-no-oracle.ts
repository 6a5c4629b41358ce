import type { Verdict } from '../contracts/verifier.ts';
import { EspalierError } from './errors.ts';
import { expectMethods, wrongValue } from './expect.ts';

/**
 * Refuses what knows the gold answer: it must not guide a search, whatever else it can do.
 *
 * @throws EspalierError `usage`, where `value` has a method `label`.
 */
export function expectNoOracle(name: string, method: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (typeof (value as { readonly label?: unknown }).label !== 'function') return;
  throw new EspalierError(
    'usage',
    `Expected \`${name}\` to have a method \`${method}\`, got an oracle: gold answers must not guide a search.`,
  );
}

/** Refuses what is no verifier, and an oracle above all. @throws EspalierError `usage`. */
export function expectVerifier(value: unknown, name = 'verifier'): void {
  expectNoOracle(name, 'verify', value);
  expectMethods(name, value, ['verify']);
}

/** The score of a verdict, or else 1 for correct and 0 for wrong. @throws EspalierError `usage`, which ends the item. */
export function scoreIn(verdict: Verdict): number {
  const told: { readonly correct?: unknown; readonly score?: number } = Object(verdict);
  const { correct, score } = told;
  if (score !== undefined) return score;
  if (typeof correct === 'boolean') return correct ? 1 : 0;
  const got = correct === undefined ? verdict : correct;
  throw wrongValue('verdict', 'an object whose `correct` is true or false', got);
}
