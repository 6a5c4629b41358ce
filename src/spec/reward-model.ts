import type { ModelCall, ModelPrice, Usage } from './language-model.ts';

/** A model that scores the steps of a solution (a PRM). Call it through `CallContext.score`. */
export interface RewardModel {
  /** Who serves it. */
  readonly provider: string;
  /** Its name there, and in price tables. */
  readonly modelId: string;
  /** What it costs, where its provider knows. A price table overrides it. */
  readonly price?: ModelPrice;
  /** One score a step, or an error. */
  score(request: ScoreRequest, call: ModelCall): Promise<StepScores>;
}

/** A solution to score. */
export interface ScoreRequest {
  /** The question. */
  readonly prompt: string;
  /** The steps of the solution so far, in order. */
  readonly steps: readonly string[];
}

/** One score a step, in the order of the steps. */
export interface StepScores {
  /** In the order of the steps. */
  readonly scores: readonly number[];
  /** The tokens that were read. */
  readonly usage?: Usage;
}
