import type { Clock } from './clock.ts';
import type { DecisionModel, DecisionRequest, Decisions } from './decision-model.ts';
import type { EmbeddingModel } from './embedding-model.ts';
import type { JsonValue } from './json.ts';
import type { GenerateRequest, Generation, LanguageModel, ModelCall } from './language-model.ts';
import type { Operation } from './operation.ts';
import type { RewardModel, ScoreRequest, StepScores } from './reward-model.ts';

/**
 * The only door to the outside. Whatever a plug-in does through it is reserved against the budget,
 * written to the journal, cancelled with the search, and not bought twice.
 */
export interface CallContext {
  /** Aborts when the search is abandoned or its deadline passes. */
  readonly signal: AbortSignal;
  /** Random numbers that depend on the seed and on what is being done, never on timing. */
  readonly random: Random;
  /** The time of the search. */
  readonly clock: Clock;
  /**
   * Makes a call of any kind, or shares an equal one that was made before.
   *
   * @throws EspalierError `budget` where it does not fit any more, and whatever its kind throws.
   */
  call<Request, Result>(operation: Operation<Request, Result>, request: Request): Promise<Result>;
  /** Asks a language model for text. */
  generate(model: LanguageModel, request: GenerateRequest): Promise<Generation>;
  /**
   * Asks a reward model for the scores of solutions. Those that it was asked for before are not asked for
   * again. A solution whose scores are too few, too many or no numbers fails alone.
   */
  score(model: RewardModel, request: ScoreRequest): Promise<StepScores>;
  /** Asks a decision model typed questions. */
  decide(model: DecisionModel, request: DecisionRequest): Promise<Decisions>;
  /** Turns texts into vectors. */
  embed(model: EmbeddingModel, texts: readonly string[]): Promise<readonly (readonly number[])[]>;
  /**
   * Runs a tool, a file access, a browser action. Its result must be JSON. Effects with equal names and inputs on
   * equal states are one effect, unless they are `pure`. The state is the one in which a step is taken or a proposal
   * made, and the one that a verifier looks at: told by the environment's `key`, else its `codec`, else by the actions
   * that led to it, which must be JSON then. Put into `input` all that the outcome depends on besides; an evaluator,
   * which is asked about several states at once, puts the state there as well.
   */
  effect<T>(effect: EffectName, input: JsonValue, run: (call: ModelCall) => Promise<T>): Promise<T>;
}

/** The name of an effect; a bare name is not repeatable. */
export type EffectName =
  | string
  | {
      /** The name, part of its content address. */
      readonly name: string;
      /** Whether it may run again after a crash in its middle; otherwise its outcome is reported as unknown. */
      readonly repeatable: boolean;
      /**
       * Whether its outcome depends on its input alone, and on no state: then it is one effect wherever it is run.
       *
       * @defaultValue false
       */
      readonly pure?: boolean;
      /**
       * Whether it costs nothing that a budget counts: something local that is written down only so that a replay
       * finds it as it was.
       *
       * @defaultValue false: it is one call
       */
      readonly free?: boolean;
    };

/** A source of random numbers. Same seed, same numbers, on every platform. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, limit). */
  integer(limit: number): number;
  /** An independent source named by labels; it leaves this one as it was. */
  split(...labels: readonly (string | number)[]): Random;
}
