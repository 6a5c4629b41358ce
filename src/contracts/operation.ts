import type { Codec, JsonValue, MaybePromise } from './json.ts';
import type { ModelCall, Payee, Usage } from './language-model.ts';

/**
 * A kind of call: everything that budget, journal and replay need to know about it. Make it with
 * {@link CallContext.call}. An object of functions that need no `this`: contexts may copy it.
 */
export interface Operation<Request, Result> {
  /** The kind of call, in journals and reports. */
  readonly kind: string;
  /** The model or tool called, in journals and reports. */
  readonly name: string;
  /** The model that charges for tokens. @defaultValue none: tokens count, at no cost */
  readonly payee?: Payee;
  /** Whether it may run again if a crash interrupts it; otherwise its outcome is reported as unknown. */
  readonly repeatable: boolean;
  /** Whether its outcome depends on the current state, which is then part of its address. @defaultValue false */
  readonly actsOnState?: boolean;
  /** Throws, or rejects, for an invalid request, before anything is reserved. */
  check?(request: Request): MaybePromise<void>;
  /** The content address of a request. Calls with equal kind, name and address are made once. */
  address(request: Request): JsonValue;
  /** The maximum that it may use, reserved before it starts. @defaultValue one call and no tokens */
  worstCase?(request: Request): WorstCase;
  /** The actual usage. @defaultValue unknown, and charged as reserved */
  usage?(request: Request, result: Result): Usage | undefined;
  /**
   * The same request for the samples of another round, for kinds that draw samples: rounds share no samples; round 0 is
   * the request itself. Used when nodes are evaluated again.
   *
   * @defaultValue the request itself, which has the same answer again
   */
  again?(request: Request, round: number): Request;
  /**
   * Makes the call. An error fails this call; `unavailable` means that further calls are pointless, and ends the
   * search.
   */
  run(request: Request, call: ModelCall): Promise<Result>;
  /** How the result is stored in the journal. @defaultValue unchanged, as JSON */
  readonly result?: Codec<Result>;
}

/** The maximum that a call may use. */
export interface WorstCase {
  /** The number of calls it counts as. @defaultValue 1 */
  readonly calls?: number;
  /** Tokens read. @defaultValue 0 */
  readonly inputTokens?: number;
  /** Tokens written. @defaultValue 0 */
  readonly outputTokens?: number;
}
