import { AsyncLocalStorage } from 'node:async_hooks';

const makers = new AsyncLocalStorage<true>();

/** Makes a call that may make others. Those take no place of their own: each would wait for the other. */
export function makingOthers<Result>(make: () => Result): Result {
  return makers.run(true, make);
}

/** What one call has of the places. */
interface Place {
  /** Takes it, unless it is taken. Returns a promise where there is none yet. */
  take(): Promise<void> | undefined;
  /** Gives it back, where it was taken. */
  give(): void;
}

/** A call that waits for its place. */
interface Waiter {
  readonly admit: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** Bounds how many calls are in flight. Who comes first is served first. */
export class Places {
  #free: number;
  readonly #waiters: Waiter[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** The place of a call that is asked for here. */
  next(): Place {
    let isTaken = false;
    const isInside = makers.getStore() === true;
    const enter = (): void => {
      isTaken = true;
      this.#free--;
    };
    return {
      take: () => {
        if (isInside || isTaken) return undefined;
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

  /** Says that a call is shared. One in flight may wait for one without a place: then all that wait are let in. */
  share(): void {
    if (makers.getStore() !== true) return;
    for (const { admit } of this.#waiters.splice(0)) admit();
  }

  /** Turns away all that wait. */
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
