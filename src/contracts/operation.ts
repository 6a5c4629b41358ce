import type { Codec, JsonValue, MaybePromise } from './json.ts';
import type { ModelCall, Payee, Usage } from './language-model.ts';

/**
 * A call that can be made, whatever its kind: all that budget, journal and replay have to know of it. It is made
 * with {@link CallContext.call}. An object of functions that need no `this`: contexts may copy it.
 */
export interface Operation<Request, Result> {
  /** What kind of call it is, in journals and reports. */
  readonly kind: string;
  /** Who or what is asked, in journals and reports: a model, a tool. */
  readonly name: string;
  /** Who is paid for the tokens. @defaultValue nobody: tokens count, and cost nothing */
  readonly payee?: Payee;
  /** Whether it may run again after a crash in its middle; otherwise its outcome is reported as unknown. */
  readonly repeatable: boolean;
  /** Whether its outcome depends on the state in which it is made, which is part of its address then. @defaultValue false */
  readonly actsOnState?: boolean;
  /** Throws, or rejects, where a request cannot be asked: before anything is reserved. */
  check?(request: Request): MaybePromise<void>;
  /** What is asked. Calls of equal kind, name and address are one call. */
  address(request: Request): JsonValue;
  /** The most that it may use, which is reserved before it starts. @defaultValue one call and no tokens */
  worstCase?(request: Request): WorstCase;
  /** What it used. @defaultValue unknown, and charged as reserved */
  usage?(request: Request, result: Result): Usage | undefined;
  /**
   * The same request for the samples of another round, where the kind draws samples: rounds from 1 up share none with each
   * other or with round 0, the request itself. Nodes that are evaluated again ask so.
   *
   * @defaultValue the request itself: asked again, it has the same answer
   */
  again?(request: Request, round: number): Request;
  /** Makes the call. What it throws is the failure of this call; `unavailable` says that no further one makes sense, and ends the search. */
  run(request: Request, call: ModelCall): Promise<Result>;
  /** How the result stands in the journal. @defaultValue as it is, and must be JSON then */
  readonly result?: Codec<Result>;
}

/** The most that a call may use. */
export interface WorstCase {
  /** As how many calls it counts. @defaultValue 1 */
  readonly calls?: number;
  /** Tokens read. @defaultValue 0 */
  readonly inputTokens?: number;
  /** Tokens written. @defaultValue 0 */
  readonly outputTokens?: number;
}
