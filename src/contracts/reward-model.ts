import type { Failure } from './failure.ts';
import type { ModelCall, Payee, Usage } from './language-model.ts';

/**
 * A model that scores solutions: step by step (a process reward model, PRM) or as a whole (an outcome reward
 * model, ORM). Call it through `CallContext.score`.
 */
export interface RewardModel extends Payee {
  /** What is scored: each step, or the complete solution. @defaultValue `'steps'` */
  readonly scores?: 'solution' | 'steps';
  /**
   * Whether it can skip steps that were already scored ({@link Solution.from}), because a step's score does not depend
   * on later steps.
   *
   * @defaultValue false
   */
  readonly incremental?: boolean;
  /** The minimum and maximum possible score. @defaultValue `[0, 1]` */
  readonly range?: readonly [number, number];
  /** Returns the scores of each solution, in one request if the server supports it, or rejects. */
  score(request: ScoreRequest, call: ModelCall): Promise<StepScores>;
}

/** Solutions to score together. One solution is one call in the ledger. */
export interface ScoreRequest {
  /** In any order; one or more. */
  readonly solutions: readonly Solution[];
}

/** A complete or partial solution. */
export interface Solution {
  /** The question. */
  readonly prompt: string;
  /** The steps so far, in order; one or more. */
  readonly steps: readonly string[];
  /** The index of the first step to score. Only for models that are `incremental`. @defaultValue 0 */
  readonly from?: number;
}

/** The scores of a reward model. */
export interface StepScores {
  /**
   * For each solution, in order: one score per step from `from` on, or one for the solution; or why there is none.
   */
  readonly scores: readonly (Failure | readonly number[])[];
  /** The tokens that were read. */
  readonly usage?: Usage;
}
