import { expectation } from '../runtime/expect.ts';
import { failureOf } from '../runtime/failure.ts';
import type { CallContext } from '../spec/context.ts';
import { EspalierError } from '../spec/errors.ts';
import type { Evaluation, Evaluator } from '../spec/evaluator.ts';
import type { Failure } from '../spec/failure.ts';
import type { SearchNode } from '../spec/node.ts';
import type { Verifier } from '../spec/verifier.ts';
import { noState } from './no-state.ts';
import { settleAll, type Waiting, wait } from './settle.ts';
import { valueInRange } from './value-in-range.ts';

/**
 * Values states by a verifier: its score, or else 1 for correct and 0 for wrong. The rationale of the
 * verdict is kept.
 *
 * A state on which the verifier throws, or whose score is not in [0, 1], fails alone.
 *
 * @throws EspalierError `usage` for an oracle: what knows the gold answer must not guide a search.
 */
export function verifier<State>(check: Verifier<State>): Evaluator<State, unknown> {
  expectVerifier(check);
  return {
    needs: 'realised',
    evaluate: (nodes, { context }) => settleAll(nodes.map((node) => verify(check, node, context))),
  };
}

function* verify<State>(
  check: Verifier<State>,
  node: SearchNode<State>,
  context: CallContext,
): Waiting<Evaluation | Failure> {
  if (node.kind === 'proposed') return noState;
  try {
    const { correct, score, rationale } = yield* wait(check.verify(node.state, context));
    const evaluation = valueInRange('`score` of a verdict', score ?? (correct ? 1 : 0));
    return 'value' in evaluation && rationale !== undefined
      ? { ...evaluation, rationale }
      : evaluation;
  } catch (error) {
    return failureOf(error, 'call', context);
  }
}

function expectVerifier(check: unknown): void {
  const methods = (typeof check === 'object' && check !== null ? check : {}) as Partial<
    Record<'verify' | 'label', unknown>
  >;
  if (typeof methods.verify === 'function') return;
  if (typeof methods.label === 'function') {
    throw new EspalierError(
      'usage',
      'Expected `verifier` to have a `verify` method, got an oracle: gold labels must not guide a search.',
    );
  }
  throw expectation('verifier', 'an object with a method `verify`', check);
}
