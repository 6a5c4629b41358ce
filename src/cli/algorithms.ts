import { astar } from '../search/algorithms/astar.ts';
import { bestOfN } from '../search/algorithms/best-of-n.ts';
import { mcts } from '../search/algorithms/mcts.ts';
import type { SearchAlgorithm, StopCondition } from '../search/contracts.ts';
import { solved } from '../search/stop-conditions.ts';
import type { Task } from './tasks.ts';

/** The name of an algorithm in commands. */
export type AlgorithmName = 'astar' | 'best-of-n' | 'mcts';

/** All of them. */
export const algorithmNames: readonly AlgorithmName[] = ['astar', 'best-of-n', 'mcts'];

/**
 * MCTS as the command line runs it: selection by `puct`. The estimate costs no call, so that all new
 * children of a leaf are evaluated.
 */
export function mctsOfPuzzles(): SearchAlgorithm {
  return mcts({ evaluates: 'all' });
}

/** An algorithm for a task, and when its search is over before the budget is spent. */
export function algorithmFor(
  name: AlgorithmName,
  { puzzle }: Task,
): { readonly algorithm: SearchAlgorithm; readonly stopWhen: readonly StopCondition[] } {
  switch (name) {
    case 'astar':
      // It stops by itself: its first solution is not always the shortest.
      return {
        algorithm: astar({ heuristic: (state) => puzzle.heuristic(state), admissible: true }),
        stopWhen: [],
      };
    case 'best-of-n':
      return { algorithm: bestOfN(), stopWhen: [solved()] };
    case 'mcts':
      return { algorithm: mctsOfPuzzles(), stopWhen: [solved()] };
  }
}
