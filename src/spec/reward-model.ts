import type { ModelCall, Usage } from './language-model.ts';

/** A model that scores the steps of a solution (a PRM). Call it through `CallContext.score`. */
export interface RewardModel {
  readonly provider: string;
  readonly modelId: string;
  score(request: ScoreRequest, call: ModelCall): Promise<StepScores>;
}

/** A solution to score. */
export interface ScoreRequest {
  readonly prompt: string;
  readonly steps: readonly string[];
}

/** One score a step, in the order of the steps. */
export interface StepScores {
  readonly scores: readonly number[];
  readonly usage?: Usage;
}
