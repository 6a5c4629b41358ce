import { longestGameStep } from '../bench/tasks/game24.ts';
import { defaultPrices } from '../calls/prices.ts';
import type { LanguageModel, ModelPrice } from '../contracts/language-model.ts';
import type { Budget } from '../contracts/spend.ts';
import {
  type ArithmeticState,
  type ArithmeticStep,
  gameOf24,
  type Rational,
} from '../environments/index.ts';
import { astar, bestOfN } from '../index.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { algorithmFor } from '../runs/algorithms.ts';
import type { SearchAlgorithm, SearchResult } from '../search/contracts.ts';
import { search } from '../search/search.ts';
import { solved } from '../search/stop-conditions.ts';
import { judge } from '../values/judge/judge.ts';

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
  mcts: {
    name: 'MCTS',
    algorithm: algorithmFor('mcts', undefined).algorithm,
    temperature: 0.7,
  },
  astar: { name: 'A* on 1 − value', algorithm: astar(), temperature: 0.7 },
};

/** What came of one attempt. */
export type GameResult = SearchResult<ArithmeticState<Rational>, ArithmeticStep<Rational>>;

/** One method on one puzzle. */
export interface GameAttempt {
  readonly model: LanguageModel;
  readonly method: DemoMethod;
  readonly numbers: readonly number[];
  readonly budget: Budget;
  readonly seed: number | string;
  readonly stopped: () => boolean;
}

/** A hosted model for which the toy stands in, and what it costs. */
export const hostedModel = 'gpt-6-luna';
export const hosted: ModelPrice = defaultPrices[hostedModel] ?? { input: 0, output: 0 };

/** Tries to solve one Game of 24: the model proposes the steps, and judges the states. */
export function solveGame(attempt: GameAttempt): Promise<GameResult> {
  const { model, method, numbers, budget, seed, stopped } = attempt;
  const environment = gameOf24.environment({ numbers });
  const { temperature } = method;
  return search(environment, {
    policy: fromModel({ model, temperature, maxTokens: longestGameStep }),
    evaluator: judge({ model }),
    algorithm: method.algorithm,
    budget,
    prices: { [model.modelId]: hosted },
    stopWhen: [solved(), stopped],
    seed,
  });
}
