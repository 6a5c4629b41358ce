import { turn } from './clock.ts';

/**
 * In which order the results of calls take effect.
 *
 * - `arrival`: as they come. Fastest; a replay of the journal repeats the same order.
 * - `issued`: in the order in which they were asked for. A live run with a deterministic model is then
 *   itself deterministic, at some cost in waiting.
 */
export type Order = 'arrival' | 'issued';

interface Ticket {
  /** The place of the result in the journal that is being replayed. */
  readonly recorded: number | undefined;
  apply: (() => void) | undefined;
  arrival: number;
}

/**
 * Lets results take effect one at a time, each only after everything set off by the one before has come
 * to rest. So the order of application alone decides what a search does, however its calls were timed.
 */
export class Sequencer {
  readonly #order: Order;
  /** Waited for before each release: a slow reader of events slows the search down. */
  readonly #ready: () => Promise<void> | undefined;
  readonly #tickets: Ticket[] = [];
  #arrivals = 0;
  #released = 0;
  #holds = 0;
  #pumping = false;
  #next: { promise: Promise<void>; resolve: () => void } | undefined;

  constructor(order: Order, ready: () => Promise<void> | undefined = () => undefined) {
    this.#order = order;
    this.#ready = ready;
  }

  /** Calls issued whose results have not taken effect. */
  get pending(): number {
    return this.#tickets.length;
  }

  /** Results that have taken effect. */
  get released(): number {
    return this.#released;
  }

  /** Takes a place in the order of issue. The function it returns hands in the result. */
  issue(recorded?: number): (apply: () => void) => void {
    const ticket: Ticket = { recorded, apply: undefined, arrival: 0 };
    this.#tickets.push(ticket);
    return (apply) => {
      ticket.apply = apply;
      ticket.arrival = this.#arrivals++;
      this.#pump();
    };
  }

  /** Resolves when the next result has taken effect. */
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
    this.#next?.resolve();
    this.#next = undefined;
  }

  #pump(): void {
    if (this.#pumping || this.#holds > 0 || this.#choose() === undefined) return;
    this.#pumping = true;
    void this.#release();
  }

  async #release(): Promise<void> {
    await this.#ready();
    await turn();
    this.#pumping = false;
    const ticket = this.#holds > 0 ? undefined : this.#choose();
    if (ticket?.apply === undefined) return;
    this.#tickets.splice(this.#tickets.indexOf(ticket), 1);
    this.#released++;
    ticket.apply();
    this.#next?.resolve();
    this.#next = undefined;
    this.#pump();
  }

  #choose(): Ticket | undefined {
    if (this.#order === 'issued') {
      const head = this.#tickets[0];
      return head?.apply === undefined ? undefined : head;
    }
    let best: Ticket | undefined;
    for (const ticket of this.#tickets) {
      if (ticket.apply !== undefined && (best === undefined || precedes(ticket, best)))
        best = ticket;
    }
    return best;
  }
}

/** Recorded results come first, in the order of their journal; live ones follow as they arrive. */
function precedes(a: Ticket, b: Ticket): boolean {
  if (a.recorded !== undefined || b.recorded !== undefined) {
    return (a.recorded ?? Infinity) < (b.recorded ?? Infinity);
  }
  return a.arrival < b.arrival;
}
