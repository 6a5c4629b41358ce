import type { Embedding, EmbeddingModel } from './embedding-model.ts';
import type { JsonValue } from './json.ts';
import type { GenerateRequest, Generation, LanguageModel, ModelCall } from './language-model.ts';
import type { RewardModel, ScoreRequest, StepScores } from './reward-model.ts';

/**
 * The only door to the outside. Whatever a plug-in does through it is reserved against the budget,
 * written to the journal, cancelled with the search, and not bought twice.
 */
export interface CallContext {
  readonly signal: AbortSignal;
  /** Random numbers that depend on the seed and on what is being done, never on timing. */
  readonly random: Random;
  readonly clock: Clock;
  generate(model: LanguageModel, request: GenerateRequest): Promise<Generation>;
  score(model: RewardModel, request: ScoreRequest): Promise<StepScores>;
  embed(model: EmbeddingModel, texts: readonly string[]): Promise<readonly Embedding[]>;
  /**
   * Runs a tool, a file access, a browser action. Its result must be JSON. Effects with equal names
   * and inputs are one effect: put into `input` all that the outcome depends on.
   */
  effect<T>(effect: EffectName, input: JsonValue, run: (call: ModelCall) => Promise<T>): Promise<T>;
}

/**
 * The name of an effect. `repeatable` says that it may run again after a crash in its middle; otherwise
 * its outcome is then reported as unknown.
 */
export type EffectName = string | { readonly name: string; readonly repeatable: boolean };

/** A source of random numbers. Same seed, same numbers, on every platform. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, limit). */
  integer(limit: number): number;
  /** An independent source named by labels; it leaves this one as it was. */
  split(...labels: readonly (string | number)[]): Random;
}

/** The time. */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
