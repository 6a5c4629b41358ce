import { turn } from '#platform';

/**
 * The order in which the results of calls take effect.
 *
 * - `arrival`: as they arrive. Fastest; a replay of the journal repeats the same order.
 * - `issued`: in the order of their requests. A live run with a deterministic model is then itself deterministic, at
 *   some cost in waiting.
 */
export type Order = 'arrival' | 'issued';

/** One effect of a call, which takes place in its turn. */
interface Happening {
  readonly apply: () => void;
  /** Its position in the journal that is being repeated. */
  readonly place: number;
  readonly arrival: number;
  readonly isLast: boolean;
}

/** The place of a call in the order of issue. */
export interface Ticket {
  /**
   * Hands in what takes effect next: a failed attempt or, as the last, the outcome.
   *
   * @param place - Its position in the journal. @defaultValue none: it has just happened
   */
  arrive(apply: () => void, options?: { readonly place?: number; readonly isLast?: boolean }): void;
  /** Reports that no outcome is coming, because the journal has none for the call. */
  stall(): void;
  /** Says that something will arrive after all. */
  goOn(): void;
  /** Gives up the place. */
  drop(): void;
}

/** A ticket as the sequencer sees it. */
interface Held {
  readonly happenings: Happening[];
  isStalled: boolean;
}

/**
 * Lets results take effect one at a time, each only after all work triggered by the previous one has come to rest. So
 * only the order of results determines what a search does, whatever the timing of its calls.
 */
export class Sequencer {
  readonly #order: Order;
  /** Awaited before each release: a slow reader of events slows the search down. */
  readonly #ready: () => Promise<void> | undefined;
  /** Called at rest, if only stalled calls could bring the search on. */
  onStalled: () => void = () => {};
  /** Called after a failed attempt or an outcome has taken effect, before anything else may. */
  onReleased: () => void = () => {};
  readonly #tickets: Held[] = [];
  #arrivals = 0;
  #released = 0;
  #outcomes = 0;
  /**
   * The maximum number of outcomes that may take effect: a replay may reach a failed attempt later than the run did.
   */
  mostOutcomes: () => number = () => Number.POSITIVE_INFINITY;
  #holds = 0;
  #pumping = false;
  #next: { promise: Promise<void>; resolve: () => void } | undefined;

  constructor(order: Order, ready: () => Promise<void> | undefined = () => undefined) {
    this.#order = order;
    this.#ready = ready;
  }

  /** Whether a call may wait for calls issued after it: not if those take effect only after it. */
  get mayWait(): boolean {
    return this.#order === 'arrival';
  }

  /** The number of issued calls whose results have not taken effect. */
  get pending(): number {
    return this.#tickets.length;
  }

  /** How often something has taken effect, including failed attempts. */
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

  /** Resolves when an outcome has taken effect or a call was given up. A failed attempt does not count. */
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

  /** Gives the event loop one turn, during which no result takes effect. */
  async rest(): Promise<void> {
    this.#holds++;
    await this.#ready();
    await turn();
    this.#holds--;
    this.#pump();
  }

  /** Drops everything pending, because the search is over. */
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

  /** Whether only stalled calls could take effect next. */
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

/** Recorded results come first, in the order of the journal; new ones follow as they arrive. */
function precedes(a: Happening, b: Happening | undefined): boolean {
  if (b === undefined) return true;
  return a.place === b.place ? a.arrival < b.arrival : a.place < b.place;
}
