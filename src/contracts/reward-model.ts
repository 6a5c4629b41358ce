import type { Failure } from './failure.ts';
import type { ModelCall, Payee, Usage } from './language-model.ts';

/**
 * A model that scores solutions: step by step (a process reward model, PRM) or as a whole (an outcome reward
 * model, ORM). Call it through `CallContext.score`.
 */
export interface RewardModel extends Payee {
  /** What gets a score: each step, or the solution as a whole. @defaultValue `'steps'` */
  readonly scores?: 'solution' | 'steps';
  /**
   * Whether it can leave out steps that were scored before ({@link Solution.from}), because the score of a step
   * depends on nothing behind it.
   *
   * @defaultValue false
   */
  readonly incremental?: boolean;
  /** The least and the greatest score there is. @defaultValue `[0, 1]` */
  readonly range?: readonly [number, number];
  /** The scores of each solution, in one request where the server takes several; or an error. */
  score(request: ScoreRequest, call: ModelCall): Promise<StepScores>;
}

/** Solutions to score together. One solution is one call in the ledger. */
export interface ScoreRequest {
  /** In any order; one or more. */
  readonly solutions: readonly Solution[];
}

/** A solution, whole or as far as it goes. */
export interface Solution {
  /** The question. */
  readonly prompt: string;
  /** The steps so far, in order; one or more. */
  readonly steps: readonly string[];
  /** The index of the first step to score. Only for models that are `incremental`. @defaultValue 0 */
  readonly from?: number;
}

/** What a reward model gave. */
export interface StepScores {
  /**
   * For each solution, in order, one score a step from `from` on, or one for the whole; or why there is none.
   */
  readonly scores: readonly (Failure | readonly number[])[];
  /** The tokens that were read. */
  readonly usage?: Usage;
}
