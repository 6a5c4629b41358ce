import type { LanguageModel } from '../contracts/language-model.ts';
import { gameOf24 } from '../environments/index.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { astar } from '../search/algorithms/astar.ts';
import { bestOfN } from '../search/algorithms/best-of-n.ts';
import type { SearchAlgorithm, SearchResult } from '../search/contracts.ts';
import { search } from '../search/search.ts';
import { solved } from '../search/stop-conditions.ts';
import { judge } from '../values/judge/judge.ts';
import { mctsOfModels } from './algorithms.ts';

/** One of the methods that the demo compares. */
export interface DemoMethod {
  readonly name: string;
  readonly algorithm: SearchAlgorithm;
  /** The temperature at which steps are proposed. */
  readonly temperature: number;
}

/** The methods of the demo, the simplest first. */
export const demoMethods: Readonly<Record<'greedy' | 'bestOfN' | 'mcts' | 'astar', DemoMethod>> = {
  greedy: { name: 'greedy', algorithm: bestOfN({ n: 1 }), temperature: 0 },
  bestOfN: { name: 'best of N', algorithm: bestOfN(), temperature: 0.7 },
  mcts: { name: 'MCTS', algorithm: mctsOfModels(), temperature: 0.7 },
  astar: { name: 'A* on 1 − value', algorithm: astar(), temperature: 0.7 },
};

type Game = ReturnType<typeof gameOf24.environment>;
type State = ReturnType<Game['reset']>;
type Action = ReturnType<Game['actions']>[number];

/** What came of one attempt. */
export type GameResult = SearchResult<State, Action>;

/** One method on one puzzle. */
export interface GameAttempt {
  readonly model: LanguageModel;
  readonly method: DemoMethod;
  readonly numbers: readonly number[];
  readonly calls: number;
  readonly seed: number | string;
  readonly stopped: () => boolean;
}

/** Tries to solve one Game of 24: the model proposes the steps, and judges the states. */
export function solveGame(attempt: GameAttempt): Promise<GameResult> {
  const { model, method, numbers, calls, seed, stopped } = attempt;
  const environment = gameOf24.environment({ numbers });
  const { notation } = environment;
  const { temperature } = method;
  return search({
    environment,
    policy: fromModel({ model, notation, temperature, maxTokens: 48 }),
    evaluator: judge({ model, notation }),
    algorithm: method.algorithm,
    budget: { calls },
    stopWhen: [solved(), stopped],
    seed,
  });
}
