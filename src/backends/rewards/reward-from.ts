import { EspalierError } from '../../base/errors.ts';
import {
  expectArray,
  expectation,
  expectBoolean,
  expectFunction,
  expectOneOf,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { MaybePromise } from '../../contracts/json.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import type { RewardModel, Solution, StepScores } from '../../contracts/reward-model.ts';

/**
 * Makes a reward model from a function: an in-process model, a rule, a table. It is free, but each solution is still
 * one call.
 *
 * @throws EspalierError `usage` if an option is out of range.
 */
export function rewardFrom(
  options: Pick<RewardModel, 'incremental' | 'range' | 'scores'> & {
    /** The name in journals. */
    readonly name: string;
    /**
     * The scores of one solution: one per step from `from` on, or one for the solution; or why there is none. An error
     * fails this solution alone.
     */
    score(solution: Solution, call: ModelCall): MaybePromise<StepScores['scores'][number]>;
  },
): RewardModel {
  expectOptions('rewardFrom', options, 'incremental range scores name score');
  const { name, score, scores = 'steps', incremental = false, range = [0, 1] } = options;
  expectBoolean('incremental', incremental);
  if (typeof name !== 'string' || name === '') throw expectation('name', 'a name', name);
  expectFunction('score', score);
  expectOneOf('scores', scores, ['solution', 'steps']);
  expectArray('range', range);
  const areNumbers = range.every((bound: unknown) => typeof bound === 'number');
  if (!(areNumbers && range[0] < range[1]))
    throw expectation('range', 'two numbers, the lesser first', range);
  return {
    provider: 'local',
    modelId: name,
    price: { input: 0, output: 0 },
    scores,
    incremental,
    range,
    score: async ({ solutions }, call) => ({
      scores: await Promise.all(
        solutions.map(async (solution) => scoresOf(() => score(solution, call), call)),
      ),
      usage: { inputTokens: 0, outputTokens: 0 },
    }),
  };
}

async function scoresOf(
  score: () => MaybePromise<StepScores['scores'][number]>,
  { signal }: ModelCall,
): Promise<StepScores['scores'][number]> {
  try {
    return await score();
  } catch (error) {
    if (signal.aborted || EspalierError.isInstance(error)) throw error;
    return { kind: 'call', message: error instanceof Error ? error.message : String(error) };
  }
}
