import { EspalierError } from './errors.ts';
import { expectMethods } from './expect.ts';

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
export function expectVerifier(value: unknown): void {
  expectNoOracle('verifier', 'verify', value);
  expectMethods('verifier', value, ['verify']);
}
