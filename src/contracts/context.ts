import type { Clock } from './clock.ts';
import type { DecisionModel, DecisionRequest, Decisions } from './decision-model.ts';
import type { EmbeddingModel } from './embedding-model.ts';
import type { JsonValue } from './json.ts';
import type { GenerateRequest, Generation, LanguageModel, ModelCall } from './language-model.ts';
import type { Operation } from './operation.ts';
import type { RewardModel, ScoreRequest, StepScores } from './reward-model.ts';

/**
 * A plug-in's only access to the outside world. Everything it does through this context is reserved against the budget,
 * written to the journal, cancelled with the search, and never paid for twice.
 */
export interface CallContext {
  /** Aborts when the search is abandoned or its deadline passes. */
  readonly signal: AbortSignal;
  /** Random numbers that depend on the seed and on the call, never on timing. */
  readonly random: Random;
  /** The time of the search. */
  readonly clock: Clock;
  /**
   * Makes a call of any kind, or reuses the result of an equal earlier one.
   *
   * @throws EspalierError `budget` if it exceeds the remaining budget, and whatever its kind throws.
   */
  call<Request, Result>(operation: Operation<Request, Result>, request: Request): Promise<Result>;
  /** Asks a language model for text. */
  generate(model: LanguageModel, request: GenerateRequest): Promise<Generation>;
  /**
   * Asks a reward model for the scores of solutions, reusing scores from earlier requests. A solution with too few, too
   * many or non-numeric scores fails alone.
   */
  score(model: RewardModel, request: ScoreRequest): Promise<StepScores>;
  /** Asks a decision model typed questions. */
  decide(model: DecisionModel, request: DecisionRequest): Promise<Decisions>;
  /** Turns texts into vectors. */
  embed(model: EmbeddingModel, texts: readonly string[]): Promise<readonly (readonly number[])[]>;
  /**
   * Runs a tool, a file access, a browser action. Its result must be JSON. Effects with equal names and inputs on equal
   * states are run once; for `pure` effects the state does not matter. The state is the one in which a step is taken or
   * a proposal made, or the one that a verifier checks. It is identified by the environment's `key`, else its `codec`,
   * else the actions that led to it, which must then be JSON. Put everything else the outcome depends on into `input`;
   * an evaluator, which handles several states at once, must include the state there.
   */
  effect<T>(effect: EffectName, input: JsonValue, run: (call: ModelCall) => Promise<T>): Promise<T>;
}

/** The name of an effect; a bare name is not repeatable. */
export type EffectName =
  | string
  | {
      /** The name, part of its content address. */
      readonly name: string;
      /** Whether it may run again if a crash interrupts it; otherwise its outcome is reported as unknown. */
      readonly repeatable: boolean;
      /**
       * Whether its outcome depends on its input alone, not on the state: then it runs once for equal inputs, whatever
       * the state.
       *
       * @defaultValue false
       */
      readonly pure?: boolean;
      /**
       * Whether it is free in the budget: a local effect, journaled only so that replays are exact.
       *
       * @defaultValue false: it counts as one call
       */
      readonly free?: boolean;
    };

/** A source of random numbers. Same seed, same numbers, on every platform. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** An integer in [0, limit). */
  integer(limit: number): number;
  /** An independent source named by labels; this one is unchanged. */
  split(...labels: readonly (string | number)[]): Random;
}
