import { endsSearch } from '../base/errors.ts';
import { bindTakenOut } from '../base/taken-out.ts';
import { acting } from '../calls/acting-on.ts';
import type { Calls } from '../calls/calls.ts';
import { Door } from '../calls/door.ts';
import type { Clock } from '../contracts/clock.ts';
import type { Random } from '../contracts/context.ts';
import type { Completion } from '../contracts/language-model.ts';
import type { Operation } from '../contracts/operation.ts';
import type { Role } from '../contracts/spend.ts';

/** State shared by all plug-in calls of one search. */
export interface PluginRuntime {
  readonly calls: Calls;
  /** Aborts work that starts from now on. Giving up earlier work does not abort it. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The source of random numbers from which every plug-in call derives its own. */
  readonly random: Random;
}

/** The role that each kind of call belongs to; all others belong to the algorithm. */
const roles: Readonly<Record<string, Role>> = {
  ...{ reset: 'environment', step: 'environment', propose: 'policy' },
  ...{ evaluate: 'evaluator', simulate: 'evaluator' },
};

/** The place in the search where a plug-in call is made. */
export interface PluginPlace {
  readonly node?: number;
  readonly offset?: number;
  /** The index of the samples that its calls draw, if equal requests were made before. @defaultValue 0 */
  readonly round?: number;
  /** The content address of the state that its effects act on. */
  readonly state?: () => string;
  /** The completion from which the action of a step was read. */
  readonly completion?: Completion | undefined;
}

/**
 * The call context of one plug-in call. Its random numbers are derived from what is being done, so that they do not
 * depend on other work in flight.
 */
export class PluginContext extends Door {
  readonly #runtime: PluginRuntime;
  readonly #signal: AbortSignal;
  readonly #purpose: string;
  readonly #node: number;
  readonly #offset: number;
  readonly #round: number;
  readonly #state: (() => string) | undefined;
  readonly completion: Completion | undefined;
  #random: Random | undefined;
  /** The refusal that this plug-in call received, kept in case the plug-in swallows it. */
  #refusal: Error | undefined;

  constructor(
    runtime: PluginRuntime,
    purpose: string,
    { node = 0, offset = 0, round = 0, state, completion }: PluginPlace = {},
  ) {
    super();
    this.#runtime = runtime;
    this.#signal = runtime.signal;
    this.#purpose = purpose;
    this.#node = node;
    this.#offset = offset;
    this.#round = round;
    this.#state = state;
    this.completion = completion;
  }

  get signal(): AbortSignal {
    return this.#signal;
  }

  get clock(): Clock {
    return this.#runtime.clock;
  }

  get random(): Random {
    this.#random ??= this.#runtime.random.split(this.#purpose, this.#node, this.#offset);
    return this.#random;
  }

  async call<Request, Result>(
    operation: Operation<Request, Result>,
    request: Request,
  ): Promise<Result> {
    const bound = this.#state === undefined ? operation : acting(operation, this.#state);
    const asked = this.#round === 0 ? request : (bound.again?.(request, this.#round) ?? request);
    this.signal.throwIfAborted();
    try {
      return await this.#runtime.calls.call(bound, asked, roles[this.#purpose]);
    } catch (error) {
      this.note(error);
      throw error;
    }
  }

  /** Keeps an error that ends the search, in case the plug-in swallows it. */
  note(error: unknown): void {
    if (endsSearch(error)) this.#refusal ??= error;
  }

  /** Whether the search is over, or has refused a call made through this context. */
  get isInterrupted(): boolean {
    return this.signal.aborted || this.#refusal !== undefined;
  }

  /**
   * Throws if the search is over or a call was refused: a result that was made up in place of the refused call must not
   * be used.
   */
  throwIfInterrupted(): void {
    this.signal.throwIfAborted();
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /** Ends the search in place of this plug-in call. */
  refuse(refusal: Error): never {
    this.#refusal ??= refusal;
    throw refusal;
  }

  static {
    bindTakenOut(PluginContext.prototype, 'call');
  }
}
