import { expectVerifier, scoreIn } from '../base/expect-no-oracle.ts';
import { failedBy } from '../base/failure.ts';
import { provenanceOf } from '../base/provenance.ts';
import { actingOn, stateAddress } from '../calls/acting-on.ts';
import type { CallContext } from '../contracts/context.ts';
import type { Evaluation } from '../contracts/evaluation.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Failed, Failure } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Oracle, Verifier } from '../contracts/verifier.ts';
import { noState } from './no-state.ts';
import { settleAll, type Waiting, wait } from './settle.ts';

/**
 * Values states by a verifier: its score (partial credit, such as the share of tests that pass), or else 1 for
 * correct and 0 for wrong. The rationale of the verdict and the stamps of the verifier are kept.
 *
 * A state fails alone if the verifier throws or its score is not in [0, 1].
 *
 * @param check - A verifier, not an oracle: for gold answers use `goldVerifier`.
 * @throws EspalierError `usage` for an oracle, which must not guide a search.
 */
export function verifier<State = any, Action = any>(
  check: Verifier<State> & { readonly [Method in keyof Oracle<State>]?: never },
): Evaluator<State, Action> {
  expectVerifier(check);
  return {
    ...provenanceOf(check),
    needs: 'realised',
    evaluate: (nodes, { context }) => settleAll(nodes.map((node) => verify(check, node, context))),
  };
}

function* verify<State>(
  check: Verifier<State>,
  node: SearchNode<State>,
  context: CallContext,
): Waiting<Evaluation | Failed> {
  if (node.kind === 'proposed') return noState;
  const acting = actingOn(context, () => stateAddress(node));
  let kind: Failure['kind'] = 'call';
  try {
    const verdict = yield* wait(check.verify(node.state, acting));
    kind = 'invalid';
    const value = scoreIn(verdict);
    const { rationale } = verdict;
    return rationale === undefined ? { value } : { value, rationale };
  } catch (error) {
    return failedBy(error, kind, context);
  }
}
