import type { CallOutput } from './call-in-flight.ts';
import { failingOf } from './call-outcome.ts';

/** A call that equal requests share. */
interface Shared {
  readonly output: Promise<CallOutput>;
  failing?: ReturnType<typeof failingOf>;
}

/** The calls of a search and of those that it continues, so that equal calls are made once. */
export class SharedCalls {
  readonly #calls: Map<string, Shared>;
  /** Interrupted calls that must not be repeated automatically, because their effect is unknown. */
  readonly #abandoned: Set<string>;

  constructor(before: SharedCalls | undefined) {
    this.#calls = new Map(before === undefined ? [] : before.#calls);
    this.#abandoned = new Set(before === undefined ? [] : before.#abandoned);
  }

  /** The output of the call with this address. */
  get(key: string): Promise<CallOutput> | undefined {
    return this.#calls.get(key)?.output;
  }

  /** Shares an output with all equal requests. */
  share(key: string, output: Promise<CallOutput>): void {
    const shared: Shared = { output };
    this.#calls.set(key, shared);
    output.catch((error: unknown) => {
      shared.failing = failingOf(error);
      // A call that failed was made; one that was refused or abandoned may be requested again.
      if (shared.failing === undefined && this.#calls.get(key) === shared) this.#calls.delete(key);
    });
  }

  /** Allows failed calls to be repeated: all, or those with a transient failure. */
  forgetFailures(all: boolean): void {
    for (const [key, { failing }] of this.#calls) {
      if (failing === 'transient' || (all && failing === 'final')) this.#calls.delete(key);
    }
  }

  /** Notes that a call was interrupted. */
  abandon(key: string): void {
    this.#calls.delete(key);
    this.#abandoned.add(key);
  }

  /** Whether a call was interrupted. */
  isAbandoned(key: string): boolean {
    return this.#abandoned.has(key);
  }
}
