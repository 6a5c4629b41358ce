import { AsyncLocalStorage } from 'node:async_hooks';

const makers = new AsyncLocalStorage<true>();

/** Makes a call that may make others. Those take no place of their own: each would wait for the other. */
export function makingOthers<Result>(make: () => Result): Result {
  return makers.run(true, make);
}

/** What one call has of the places. */
export interface Place {
  /** Takes it, unless it is taken. Returns a promise where there is none yet. */
  take(): Promise<void> | undefined;
  /** Gives it back, where it was taken. */
  give(): void;
}

/** Bounds how many calls are in flight. Who comes first is served first. */
export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** The place of a call that is asked for here. */
  next(signal: AbortSignal): Place {
    let isTaken = false;
    const isInside = makers.getStore() === true;
    const enter = (): void => {
      isTaken = true;
      this.#free--;
    };
    return {
      take: () => {
        if (isInside || isTaken) return undefined;
        if (this.#free <= 0) return this.#turn(enter, signal);
        enter();
        return undefined;
      },
      give: () => {
        if (!isTaken) return;
        this.#free++;
        if (this.#free > 0) this.#admit(1);
      },
    };
  }

  /** Says that a call is shared. One in flight may wait for one without a place: then all that wait are let in. */
  share(): void {
    if (makers.getStore() === true) this.#admit(this.#waiting.size);
  }

  #turn(enter: () => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal.removeEventListener('abort', leave);
        enter();
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(admit);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(admit);
    });
  }

  #admit(count: number): void {
    for (const admit of [...this.#waiting].slice(0, count)) {
      this.#waiting.delete(admit);
      admit();
    }
  }
}
