import { turn } from '#platform';

/**
 * The order in which the results of calls take effect.
 *
 * - `arrival`: as they arrive. Fastest; a replay of the journal repeats the same order.
 * - `issued`: in the order of their requests. A live run with a deterministic model is then itself deterministic, at
 *   some cost in waiting.
 */
export type Order = 'arrival' | 'issued';

/** What takes effect of a call, in its turn. */
interface Happening {
  readonly apply: () => void;
  /** Its place in the journal that is being repeated. */
  readonly place: number;
  readonly arrival: number;
  readonly isLast: boolean;
}

/** The place of a call in the order of issue. */
export interface Ticket {
  /**
   * Hands in what is to take effect next: an attempt that failed, or, as the last, the outcome.
   *
   * @param place - Its place in the journal. @defaultValue none: it has just happened
   */
  arrive(apply: () => void, options?: { readonly place?: number; readonly isLast?: boolean }): void;
  /** Says that nothing will arrive by itself: the journal knows no more of the call. */
  stall(): void;
  /** Says that something will arrive after all. */
  goOn(): void;
  /** Gives the place up. */
  drop(): void;
}

/** A ticket from within. */
interface Held {
  readonly happenings: Happening[];
  isStalled: boolean;
}

/**
 * Lets results take effect one at a time, each only after everything set off by the one before has come
 * to rest. So the order of application alone decides what a search does, however its calls were timed.
 */
export class Sequencer {
  readonly #order: Order;
  /** Waited for before each release: a slow reader of events slows the search down. */
  readonly #ready: () => Promise<void> | undefined;
  /** Called at rest where only calls that have stalled could bring the search on. */
  onStalled: () => void = () => {};
  /** Called when something has taken effect, an attempt that failed or an outcome, before anything else may. */
  onReleased: () => void = () => {};
  readonly #tickets: Held[] = [];
  #arrivals = 0;
  #released = 0;
  #outcomes = 0;
  /** How many outcomes may take effect: a replay may come to an attempt that failed later than the run did. */
  mostOutcomes: () => number = () => Number.POSITIVE_INFINITY;
  #holds = 0;
  #pumping = false;
  #next: { promise: Promise<void>; resolve: () => void } | undefined;

  constructor(order: Order, ready: () => Promise<void> | undefined = () => undefined) {
    this.#order = order;
    this.#ready = ready;
  }

  /** Whether a call may wait for those issued after it: not where they take effect only after it. */
  get mayWait(): boolean {
    return this.#order === 'arrival';
  }

  /** Calls issued whose results have not taken effect. */
  get pending(): number {
    return this.#tickets.length;
  }

  /** How often something has taken effect, attempts that failed included. */
  get released(): number {
    return this.#released;
  }

  /** How many outcomes have taken effect. */
  get outcomes(): number {
    return this.#outcomes;
  }

  /** Takes a place in the order of issue. */
  issue(): Ticket {
    const held: Held = { happenings: [], isStalled: false };
    this.#tickets.push(held);
    return {
      arrive: (apply, { place = Infinity, isLast = false } = {}) => {
        held.isStalled = false;
        held.happenings.push({ apply, place, isLast, arrival: this.#arrivals++ });
        this.#pump();
      },
      stall: () => {
        held.isStalled = true;
        this.#pump();
      },
      goOn: () => {
        held.isStalled = false;
      },
      drop: () => {
        const index = this.#tickets.indexOf(held);
        if (index < 0) return;
        this.#tickets.splice(index, 1);
        this.#wake();
        this.#pump();
      },
    };
  }

  /** Resolves when an outcome has taken effect, or a call was given up. An attempt that failed decides nothing. */
  nextRelease(): Promise<void> {
    if (this.#next === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#next = { promise, resolve };
    }
    return this.#next.promise;
  }

  /** Lets the event loop turn once, during which no result takes effect. */
  async rest(): Promise<void> {
    this.#holds++;
    await this.#ready();
    await turn();
    this.#holds--;
    this.#pump();
  }

  /** Drops all that is pending: the search is over. */
  clear(): void {
    this.#tickets.length = 0;
    this.#wake();
  }

  #wake(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }

  #pump(): void {
    if (this.#pumping || this.#holds > 0) return;
    if (this.#choose() === undefined && !this.#isStalled) return;
    this.#pumping = true;
    void this.#release();
  }

  async #release(): Promise<void> {
    await this.#ready();
    await turn();
    this.#pumping = false;
    if (this.#holds > 0) return;
    const ticket = this.#choose();
    const happening = ticket?.happenings.shift();
    if (ticket === undefined || happening === undefined) {
      if (this.#isStalled) this.onStalled();
      return;
    }
    this.#released++;
    if (happening.isLast) {
      this.#tickets.splice(this.#tickets.indexOf(ticket), 1);
      this.#outcomes++;
    }
    happening.apply();
    this.onReleased();
    if (happening.isLast) this.#wake();
    this.#pump();
  }

  /** Whether nothing can take effect but by what has stalled. */
  get #isStalled(): boolean {
    if (this.#order === 'issued') return this.#tickets[0]?.isStalled === true;
    return this.#tickets.some(({ isStalled }) => isStalled);
  }

  #choose(): Held | undefined {
    if (this.#order === 'issued') {
      const head = this.#tickets[0];
      return head?.happenings[0] === undefined ? undefined : head;
    }
    const most = this.mostOutcomes();
    let best: Held | undefined;
    for (const ticket of this.#tickets) {
      const [next] = ticket.happenings;
      if (next?.isLast === true && this.#outcomes >= most) continue;
      if (next !== undefined && (best === undefined || precedes(next, best.happenings[0]))) {
        best = ticket;
      }
    }
    return best;
  }
}

/** What is recorded comes first, in the order of its journal; what happens now follows as it arrives. */
function precedes(a: Happening, b: Happening | undefined): boolean {
  if (b === undefined) return true;
  return a.place === b.place ? a.arrival < b.arrival : a.place < b.place;
}
