import type { CallOutput } from './call-in-flight.ts';
import { failingOf } from './call-outcome.ts';

/** A call that whoever asks the same shares. */
interface Shared {
  readonly output: Promise<CallOutput>;
  failing?: ReturnType<typeof failingOf>;
}

/** What was asked in a search and in those that it continues, so that equal calls are made once. */
export class SharedCalls {
  readonly #calls: Map<string, Shared>;
  /** What was broken off and must not be repeated unasked: nobody knows what it has done. */
  readonly #abandoned: Set<string>;

  constructor(before: SharedCalls | undefined) {
    this.#calls = new Map(before === undefined ? [] : before.#calls);
    this.#abandoned = new Set(before === undefined ? [] : before.#abandoned);
  }

  /** What the call with this address comes to. */
  get(key: string): Promise<CallOutput> | undefined {
    return this.#calls.get(key)?.output;
  }

  /** Hands out the same to all who ask. */
  share(key: string, output: Promise<CallOutput>): void {
    const shared: Shared = { output };
    this.#calls.set(key, shared);
    output.catch((error: unknown) => {
      shared.failing = failingOf(error);
      // A call that failed has been made; one that was refused or abandoned may be asked for again.
      if (shared.failing === undefined && this.#calls.get(key) === shared) this.#calls.delete(key);
    });
  }

  /** Lets what failed be asked for again: all of it, or what waiting may mend. */
  forgetFailures(all: boolean): void {
    for (const [key, { failing }] of this.#calls) {
      if (failing === 'transient' || (all && failing === 'final')) this.#calls.delete(key);
    }
  }

  /** Notes that a call was broken off. */
  abandon(key: string): void {
    this.#abandoned.add(key);
  }

  /** Whether a call was broken off. */
  isAbandoned(key: string): boolean {
    return this.#abandoned.has(key);
  }
}
