import { openScope } from '#platform';

/** Whose call is being made, where it may make others. */
const makers = openScope<Places>();

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
  /** What may be shared before it has settled. */
  readonly #unsettled = new Set<Promise<unknown>>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Whether a call is asked for by another one that is being made. */
  get isInside(): boolean {
    return makers.getStore() === this;
  }

  /** Makes a call that may make others. Those take no place of their own: each would wait for the other. */
  makingOthers<Result>(make: () => Result): Result {
    return makers.run(this, make);
  }

  /** The place of a call that is asked for here. One that is free takes none. */
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

  /** Tells of something that may be shared before it has settled. */
  offer(output: Promise<unknown>): void {
    const forget = (): void => void this.#unsettled.delete(output);
    this.#unsettled.add(output);
    output.then(forget, forget);
  }

  /** Says that something is shared. A call in flight may wait for one without a place: then all that wait are let in. */
  share(output: Promise<unknown>): void {
    if (!this.isInside || !this.#unsettled.has(output)) return;
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
