import { expectNumber } from '../base/expect.ts';
import type { StopCondition } from './contracts.ts';

/**
 * Ends the search as solved once a terminal node, or an answer, scores at least so much.
 *
 * @param options - `score`: the return, not discounted, from which a path counts as a solution. Default 1.
 */
export function solved({
  score = 1,
}: {
  readonly score?: number;
} = {}): <State, Action>(
  progress: Parameters<StopCondition<State, Action>>[0],
) => 'solved' | false {
  expectNumber('score', score);
  return ({ tree }) => {
    const best = tree.bestTerminal;
    return best !== undefined && (tree.score(best, 1) ?? 0) >= score ? 'solved' : false;
  };
}
