import { expectFunction } from '../base/expect.ts';
import { failedBy } from '../base/failure.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import { noState } from './no-state.ts';
import { valueInRange } from './value-in-range.ts';

/**
 * Values states by your own function, without calls.
 *
 * A state for which the function throws, or returns anything but a number in [0, 1], fails alone.
 *
 * @param estimate - v(s) in [0, 1], for example the `estimate` of a puzzle.
 */
export function heuristic<State = any, Action = any>(
  estimate: (state: State) => number,
): Evaluator<State, Action> {
  expectFunction('estimate', estimate);
  return {
    needs: 'realised',
    evaluate: (nodes, { context }) =>
      nodes.map((node) => {
        if (node.kind === 'proposed') return noState;
        try {
          return valueInRange('the result of `estimate`', estimate(node.state));
        } catch (error) {
          return failedBy(error, 'invalid', context);
        }
      }),
  };
}
