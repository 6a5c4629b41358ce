import { EspalierError } from '../spec/errors.ts';
import { expectation } from './expect.ts';

/**
 * Refuses what is no verifier, and an oracle above all.
 *
 * @throws EspalierError `usage`.
 */
export function expectVerifier(verifier: unknown): void {
  const methods = (typeof verifier === 'object' && verifier !== null ? verifier : {}) as Partial<
    Record<'label' | 'verify', unknown>
  >;
  if (typeof methods.verify === 'function') return;
  if (typeof methods.label === 'function') {
    throw new EspalierError(
      'usage',
      'Expected `verifier` to have a method `verify`, got an oracle: gold answers must not guide a search.',
    );
  }
  throw expectation('verifier', 'an object with a method `verify`', verifier);
}
