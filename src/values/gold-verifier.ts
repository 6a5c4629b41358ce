import { expectMethods } from '../base/expect.ts';
import type { Oracle, Verifier } from '../contracts/verifier.ts';

/**
 * A verifier that knows the gold answer: the only way to use an oracle in a search, for making training data. Searches
 * it guides are stamped `oracle-guided`, and their results say nothing about unaided search.
 *
 * @throws EspalierError `usage` for an oracle without `label`.
 */
export function goldVerifier<State>(oracle: Oracle<State>): Verifier<State> {
  expectMethods('oracle', oracle, ['label']);
  return {
    stamps: ['oracle-guided'],
    verify: (state, context) => oracle.label(state, context),
  };
}
