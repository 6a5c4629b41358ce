import { expectJson } from '../base/canonical-json.ts';
import { EspalierError } from '../base/errors.ts';
import { isError, messageOf } from '../base/failure.ts';
import { acting } from '../calls/acting-on.ts';
import type { Calls } from '../calls/calls.ts';
import type { Clock } from '../contracts/clock.ts';
import type { CallContext, EffectName, Random } from '../contracts/context.ts';
import type { DecisionModel, DecisionRequest, Decisions } from '../contracts/decision-model.ts';
import type { Embedding, EmbeddingModel } from '../contracts/embedding-model.ts';
import type { JsonValue } from '../contracts/json.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
} from '../contracts/language-model.ts';
import type { RewardModel, ScoreRequest, StepScores } from '../contracts/reward-model.ts';

/** What all plug-in calls of one search share. */
export interface PluginRuntime {
  readonly calls: Calls;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The source from which every plug-in call splits its own. */
  readonly random: Random;
}

/** Where a plug-in call is made. */
export interface PluginPlace {
  readonly node?: number;
  readonly offset?: number;
  /** The content address of the state that its effects act on. */
  readonly state?: () => string;
}

/**
 * The call context of one plug-in call. Its random numbers are named by what is being done, so that they
 * do not depend on what else is under way.
 */
export class PluginContext implements CallContext {
  readonly #runtime: PluginRuntime;
  readonly #purpose: string;
  readonly #node: number;
  readonly #offset: number;
  readonly #state: (() => string) | undefined;
  #random: Random | undefined;
  /** The refusal that this plug-in call ran into, kept in case the plug-in swallows it. */
  #refusal: Error | undefined;

  constructor(
    runtime: PluginRuntime,
    purpose: string,
    { node = 0, offset = 0, state }: PluginPlace = {},
  ) {
    this.#runtime = runtime;
    this.#purpose = purpose;
    this.#node = node;
    this.#offset = offset;
    this.#state = state;
  }

  get signal(): AbortSignal {
    return this.#runtime.signal;
  }

  get clock(): Clock {
    return this.#runtime.clock;
  }

  get random(): Random {
    this.#random ??= this.#runtime.random.split(this.#purpose, this.#node, this.#offset);
    return this.#random;
  }

  generate(model: LanguageModel, request: GenerateRequest): Promise<Generation> {
    return this.#noting(this.#runtime.calls.generate(model, request));
  }

  score(model: RewardModel, request: ScoreRequest): Promise<StepScores> {
    return this.#noting(this.#runtime.calls.score(model, request));
  }

  decide(model: DecisionModel, request: DecisionRequest): Promise<Decisions> {
    return this.#noting(this.#runtime.calls.decide(model, request));
  }

  embed(model: EmbeddingModel, texts: readonly string[]): Promise<readonly Embedding[]> {
    return this.#noting(this.#runtime.calls.embed(model, texts));
  }

  effect<T>(
    effect: EffectName,
    input: JsonValue,
    run: (call: ModelCall) => Promise<T>,
  ): Promise<T> {
    // Before the gate sees it: what a plug-in asks is its own matter, and fails no more than what it was called for.
    expectJson(`input of ${typeof effect === 'string' ? effect : effect.name}`, input);
    const state = this.#state;
    const asked = state === undefined ? ([effect, input] as const) : acting(effect, input, state);
    return this.#noting(this.#runtime.calls.effect(...asked, run));
  }

  /** Whether the search is over, or refused a call that was made through this context. */
  get isInterrupted(): boolean {
    return this.signal.aborted || this.#refusal !== undefined;
  }

  /** What came after the end of the search, or was made up in place of a refused call, is not used. */
  throwIfInterrupted(): void {
    this.signal.throwIfAborted();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /** Ends the search instead of what this plug-in call was for. */
  refuse(refusal: Error): never {
    this.#refusal ??= refusal;
    throw refusal;
  }

  async #noting<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (endsSearch(error)) this.#refusal ??= asError(error);
      throw error;
    }
  }
}

function asError(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(messageOf(thrown));
}

/** Whether an error is about the search as a whole, and not about the one call that met it. */
function endsSearch(error: unknown): boolean {
  return (
    EspalierError.isInstance(error) &&
    ['budget', 'storage', 'usage', 'unavailable'].includes(error.code)
  );
}
