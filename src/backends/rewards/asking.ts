import { ModelCallError } from '../../base/errors.ts';
import { isFailure } from '../../base/failure.ts';
import type { Failure } from '../../contracts/failure.ts';
import type { ModelCall, Usage } from '../../contracts/language-model.ts';
import type { RewardModel, Solution, StepScores } from '../../contracts/reward-model.ts';
import { type Endpoint, usageOfAll } from '../transport/endpoint.ts';
import { faultOf, type RewardRecipe } from './recipe.ts';

/** The scores of one solution, or why there are none. */
export type Scores = StepScores['scores'][number];

/** The results of requests for several solutions. */
export interface Asked {
  /** In the order of the solutions. */
  readonly scores: readonly Scores[];
  /** The usage of each request. */
  readonly usages: readonly (Usage | undefined)[];
}

/** Asks for the scores of solutions that fit the recipe. */
type Ask = (solutions: readonly Solution[]) => Promise<Asked>;

/**
 * A reward model behind a server.
 *
 * @param ask - Asks for the scores of solutions that fit the recipe.
 */
export function servedReward(
  endpoint: Endpoint,
  {
    recipe,
    settings,
    range,
    ask,
  }: {
    readonly recipe: RewardRecipe;
    /** The options that change scores, besides the recipe. */
    readonly settings: NonNullable<RewardModel['settings']>;
    readonly range?: readonly [number, number];
    readonly ask: (solutions: readonly Solution[], call: ModelCall) => Promise<Asked>;
  },
): RewardModel {
  return endpoint.kept<RewardModel>({
    ...endpoint.names,
    settings: { recipe: recipe.name, ...settings },
    scores: recipe.scores ?? 'steps',
    incremental: recipe.incremental ?? false,
    ...(range !== undefined && { range }),
    score: ({ solutions }, call) => askTogether(recipe, solutions, (sound) => ask(sound, call)),
  });
}

/**
 * Asks for all solutions together, except those that do not fit the recipe. If one of them is too long, the server
 * refuses all: then each is requested separately, and only the long one fails.
 */
async function askTogether(
  recipe: RewardRecipe,
  solutions: readonly Solution[],
  ask: Ask,
): Promise<StepScores> {
  const faults = solutions.map((solution) => faultOf(recipe, solution));
  const sound = solutions.filter((_, place) => faults[place] === undefined);
  const asked = sound.length === 0 ? { scores: [], usages: [] } : await orAlone(sound, ask);
  let next = 0;
  const scores = faults.map((fault) => fault ?? (asked.scores[next++] as Scores));
  // Nothing was requested, so nothing was used.
  const nothing = { usage: { inputTokens: 0, outputTokens: 0 } };
  return { scores, ...(sound.length === 0 ? nothing : usageOfAll(asked.usages)) };
}

async function orAlone(solutions: readonly Solution[], ask: Ask): Promise<Asked> {
  try {
    return await ask(solutions);
  } catch (error) {
    if (!isTooLong(error)) throw error;
    if (solutions.length === 1)
      return { scores: [{ kind: 'call', message: error.message }], usages: [] };
    const alone = await Promise.all(solutions.map((solution) => orAlone([solution], ask)));
    return {
      scores: alone.flatMap(({ scores }) => scores),
      usages: alone.flatMap(({ usages }) => usages),
    };
  }
}

function isTooLong(error: unknown): error is ModelCallError {
  return ModelCallError.isInstance(error) && error.kind === 'context-length';
}

/** One step whose score is requested separately. */
export interface StepAsked {
  /** The solution. */
  readonly solution: Solution;
  /** The index of its solution. */
  readonly owner: number;
  /** The index of the step. */
  readonly place: number;
}

/** The steps to score, by solution, in order. */
export function stepsAsked(
  solutions: readonly Solution[],
  { scores }: RewardRecipe,
): readonly StepAsked[] {
  return solutions.flatMap((solution, owner) => {
    const { from = 0, steps } = solution;
    const first = scores === 'solution' ? steps.length - 1 : from;
    return Array.from({ length: steps.length - first }, (_, index) => ({
      solution,
      owner,
      place: first + index,
    }));
  });
}

/**
 * Requests permission to read the solutions as often as the longest one has steps to score, because each step is sent
 * with all the steps before it.
 */
export async function leaveForSteps(asked: readonly StepAsked[], call: ModelCall): Promise<void> {
  const counts = new Map<number, number>();
  for (const { owner } of asked) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  for (let round = 1; round < most; round++) {
    await call.requestExtraCall?.('Each step is scored by itself.');
  }
}

/** Groups scores of steps by solution. The first failure of a step becomes that of its solution. */
export function gathered(
  asked: readonly StepAsked[],
  scores: readonly (Failure | number)[],
  count: number,
): readonly Scores[] {
  return Array.from({ length: count }, (_, owner) => {
    const own = scores.filter((_score, place) => asked[place]?.owner === owner);
    return own.find(isFailure) ?? (own as readonly number[]);
  });
}
