import { expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { StopCondition } from './contracts.ts';

/**
 * Ends the search as solved once a terminal node, or an answer, reaches a score.
 *
 * @param options - `score`: the least undiscounted return of a solution. Default 1.
 */
export function solved(
  options: { readonly score?: number } = {},
): <State, Action>(progress: Parameters<StopCondition<State, Action>>[0]) => 'solved' | false {
  // If `solved` was passed without being called, a search calls it with its progress; the search reports that itself.
  if (!('tree' in Object(options))) expectOptions('solved', options, 'score');
  const { score = 1 } = options;
  expectNumber('score', score);
  return ({ tree }) => {
    const best = tree.bestTerminal;
    return best !== undefined && (tree.score(best, 1) ?? 0) >= score ? 'solved' : false;
  };
}
