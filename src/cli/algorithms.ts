import { astar } from '../search/algorithms/astar.ts';
import { bestOfN } from '../search/algorithms/best-of-n.ts';
import { mcts } from '../search/algorithms/mcts.ts';
import type { SearchAlgorithm, StopCondition } from '../search/contracts.ts';
import { solved } from '../search/stop-conditions.ts';
import { valueWidening } from '../tree/widening.ts';
import type { Unaided } from './problem.ts';

/** The name of an algorithm in commands. */
export type AlgorithmName = 'astar' | 'best-of-n' | 'mcts';

/** All of them. */
export const algorithmNames: readonly AlgorithmName[] = ['astar', 'best-of-n', 'mcts'];

/**
 * MCTS as the command line runs it: selection by `puct`. The estimate costs no call, so that all new
 * children of a leaf are evaluated.
 */
export function mctsOfPuzzles(): SearchAlgorithm {
  return mcts({ evaluate: 'all' });
}

/**
 * MCTS over the samples of a model, two at first, each of them judged: further ones are drawn where the
 * judgements leave no hope.
 */
export function mctsOfModels(): SearchAlgorithm {
  return mcts({ evaluate: 'all', width: 2, widening: valueWidening() });
}

/**
 * An algorithm, and when its search is over before the budget is spent.
 *
 * @param unaided - What guides the search instead of a model; absent where a model does.
 */
export function algorithmFor(
  name: AlgorithmName,
  unaided: Pick<Unaided, 'heuristic'> | undefined,
): { readonly algorithm: SearchAlgorithm; readonly stopWhen: readonly StopCondition[] } {
  const stopWhen = [solved()];
  switch (name) {
    case 'astar': {
      if (unaided === undefined) return { algorithm: astar(), stopWhen };
      // It stops by itself: its first solution is not always the shortest.
      const { heuristic } = unaided;
      return { algorithm: astar({ heuristic, admissible: true }), stopWhen: [] };
    }
    case 'best-of-n':
      return { algorithm: bestOfN(), stopWhen };
    case 'mcts':
      return { algorithm: unaided === undefined ? mctsOfModels() : mctsOfPuzzles(), stopWhen };
  }
}
