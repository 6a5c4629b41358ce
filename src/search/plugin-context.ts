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

/** What all plug-in calls of one search share. */
export interface PluginRuntime {
  readonly calls: Calls;
  /** Aborts what starts now. What is given up does not abort what starts after it. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The source from which every plug-in call splits its own. */
  readonly random: Random;
}

/** Who is asked for what; all else is the algorithm's. */
const roles: Readonly<Record<string, Role>> = {
  ...{ reset: 'environment', step: 'environment', propose: 'policy' },
  ...{ evaluate: 'evaluator', simulate: 'evaluator' },
};

/** Where a plug-in call is made. */
export interface PluginPlace {
  readonly node?: number;
  readonly offset?: number;
  /** Which samples its calls draw, where equal requests were made before. @defaultValue 0 */
  readonly round?: number;
  /** The content address of the state that its effects act on. */
  readonly state?: () => string;
  /** What the action of a step was read from. */
  readonly completion?: Completion | undefined;
}

/**
 * The call context of one plug-in call. Its random numbers are named by what is being done, so that they
 * do not depend on what else is under way.
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
  /** The refusal that this plug-in call ran into, kept in case the plug-in swallows it. */
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

  /** Keeps what ends the search, in case the plug-in swallows it. */
  note(error: unknown): void {
    if (endsSearch(error)) this.#refusal ??= error;
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

  static {
    bindTakenOut(PluginContext.prototype, 'call');
  }
}
