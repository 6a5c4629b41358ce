import { openScope } from '#platform';
import { EspalierError } from '../base/errors.ts';

/** The call that is currently being made, if it may make others, and the places of its search. */
const makers = openScope<{ readonly places: Places; readonly number: number }>();

/** The slot of one call. */
interface Place {
  /** Takes the slot, unless it is already taken. Returns a promise if none is free. */
  take(): Promise<void> | undefined;
  /** Gives it back, if it was taken. */
  give(): void;
}

/** A call that waits for a slot. */
interface Waiter {
  readonly admit: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** Limits the number of calls in flight, first come, first served. */
export class Places {
  #free: number;
  readonly #waiters: Waiter[] = [];
  /** Outputs that may be shared before they settle. */
  readonly #unsettled = new Set<Promise<unknown>>();

  constructor(count: number) {
    this.#free = count;
  }

  /** The number of the call from inside which a call is requested. */
  get inside(): number | undefined {
    const maker = makers.getStore();
    return maker?.places === this ? maker.number : undefined;
  }

  /** Whether a call is requested from inside another one. */
  get isInside(): boolean {
    return this.inside !== undefined;
  }

  /** Makes a call that may make others. Those take no slot, because otherwise the calls could wait for each other. */
  makingOthers<Result>(number: number, make: () => Result): Result {
    return makers.run({ places: this, number }, make);
  }

  /** The slot for a call requested here. A free call takes none. */
  next(isFree: boolean): Place {
    let isTaken = false;
    const needsNone = isFree || this.isInside;
    const enter = (): void => {
      isTaken = true;
      this.#free--;
    };
    return {
      take: () => {
        if (needsNone || isTaken) return undefined;
        if (this.#free <= 0) return this.#turn(enter);
        enter();
        return undefined;
      },
      give: () => {
        if (!isTaken) return;
        this.#free++;
        if (this.#free > 0) this.#waiters.shift()?.admit();
      },
    };
  }

  /** Registers an output that may be shared before it settles. */
  offer(output: Promise<unknown>): void {
    const forget = (): void => void this.#unsettled.delete(output);
    this.#unsettled.add(output);
    output.then(forget, forget);
  }

  /**
   * Notes that an output is shared. A call in flight may now wait for a call that has no slot, so all waiting calls are
   * admitted.
   */
  share(output: Promise<unknown>): void {
    if (!this.isInside || !this.#unsettled.has(output)) return;
    for (const { admit } of this.#waiters.splice(0)) admit();
  }

  /** Rejects all waiting calls. */
  clear(reason: unknown): void {
    for (const { refuse } of this.#waiters.splice(0)) refuse(reason);
  }

  #turn(enter: () => void): Promise<void> {
    return new Promise((resolve, refuse) => {
      const admit = (): void => {
        enter();
        resolve();
      };
      this.#waiters.push({ admit, refuse });
    });
  }
}

/** A call that would have to take effect before the one that waits for it. */
export function insideIssued(): EspalierError {
  const message =
    "Expected an effect to make no calls if `order` is 'issued', because their results could not take effect before its own. Use 'arrival'.";
  return new EspalierError('usage', message);
}
