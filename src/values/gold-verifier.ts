import { expectMethods } from '../base/expect.ts';
import type { Oracle, Verifier } from '../contracts/verifier.ts';

/**
 * A verifier that knows the gold answer: the one way in for an oracle, for making training data. What it
 * guides is stamped `oracle-guided`, and its results say nothing about how well a search does by itself.
 *
 * @throws EspalierError `usage` where the oracle cannot label.
 */
export function goldVerifier<State>(oracle: Oracle<State>): Verifier<State> {
  expectMethods('oracle', oracle, ['label']);
  return {
    stamps: ['oracle-guided'],
    verify: (state, context) => oracle.label(state, context),
  };
}
