import { turn } from '#platform';
import { EspalierError } from '../base/errors.ts';
import type { Environment } from '../contracts/environment.ts';
import type { SearchOptions, SearchResult } from './contracts.ts';
import { eventToJson, type SearchEventJson } from './event-json.ts';
import { EventQueue } from './event-queue.ts';
import type { SearchEvent } from './events.ts';
import { runAlone } from './run-alone.ts';

/** A running search: its events in order, and its result. */
export interface SearchStream<State, Action>
  extends AsyncGenerator<SearchEvent<State, Action>, void, undefined> {
  /**
   * The result. Asking for it starts a search whose events nobody reads yet: a reader that comes later misses the events
   * before it. If a reader leaves early, it rejects.
   */
  readonly result: Promise<SearchResult<State, Action>>;
  /**
   * The events as JSON, for sending elsewhere. Read either these or the events themselves, not both.
   *
   * @throws EspalierError `usage` for a state or an action that JSON cannot hold, if the environment has no codec.
   */
  json(): AsyncGenerator<SearchEventJson, void, undefined>;
}

/** Starts with its first reader. */
export class EventStream<State, Action> implements SearchStream<State, Action> {
  readonly #environment: Environment<State, Action>;
  readonly #options: SearchOptions<State, Action>;
  readonly #result: Promise<SearchResult<State, Action>>;
  #settle: (result: Promise<SearchResult<State, Action>>) => void = () => {};
  #events: AsyncGenerator<SearchEvent<State, Action>, void, undefined> | undefined;
  #hasBegun = false;
  /** What reads the events, in whichever form. */
  #reader: AsyncGenerator<unknown, void, undefined> | undefined;

  constructor(environment: Environment<State, Action>, options: SearchOptions<State, Action>) {
    this.#environment = environment;
    this.#options = options;
    this.#result = new Promise((resolve) => {
      this.#settle = resolve;
    });
    // Whoever reads the events learns of a rejection there.
    this.#result.catch(() => {});
  }

  get result(): Promise<SearchResult<State, Action>> {
    if (!this.#hasBegun) void this.#readAll();
    return this.#result;
  }

  json(): AsyncGenerator<SearchEventJson, void, undefined> {
    const { codec } = this.#environment;
    return this.#read((event) => eventToJson(event, codec));
  }

  next(): Promise<IteratorResult<SearchEvent<State, Action>, void>> {
    this.#events ??= this.#read((event) => event);
    return this.#events.next();
  }

  async return(): Promise<IteratorResult<SearchEvent<State, Action>, void>> {
    if (this.#reader === undefined) this.#events = this.#read((event) => event);
    await this.#reader?.return();
    // A search that was not begun comes to nothing; what another one has come to stays.
    const left = Promise.reject<SearchResult<State, Action>>(readerLeft());
    left.catch(() => {});
    this.#settle(left);
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<SearchEvent<State, Action>, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Whoever asks for the result before reading the events has this turn to begin. */
  async #readAll(): Promise<void> {
    await turn();
    if (this.#hasBegun) return;
    try {
      for await (const event of this.#reader ?? this) void event;
    } catch {
      // The result tells it.
    }
  }

  #read<Told>(
    tell: (event: SearchEvent<State, Action>) => Told,
  ): AsyncGenerator<Told, void, undefined> {
    if (this.#reader !== undefined) {
      throw new EspalierError(
        'usage',
        'The events of this search are being read already. Read them once, from the stream or from `json()`, or await `result`.',
      );
    }
    const reader = this.#run(tell);
    this.#reader = reader;
    return reader;
  }

  /** Nodes are live: an event is told when it happens, and not when it is read. */
  async *#run<Told>(
    tell: (event: SearchEvent<State, Action>) => Told,
  ): AsyncGenerator<Told, void, undefined> {
    this.#hasBegun = true;
    const events = new EventQueue<Told>();
    const left = new AbortController();
    const { signal } = this.#options;
    const signals = signal === undefined ? [left.signal] : [signal, left.signal];
    const emit = (event: SearchEvent<State, Action>): void => {
      try {
        events.push(tell(event));
      } catch (error) {
        left.abort(error);
      }
    };
    const running = runAlone<State, Action>(
      this.#environment,
      { ...this.#options, signal: AbortSignal.any(signals) },
      { emit, ready: () => events.drained() },
    );
    this.#settle(running);
    const close = (): void => events.close();
    void running.then(close, close);
    try {
      yield* events;
      await running;
    } finally {
      left.abort(readerLeft());
      events.close();
      // Whoever leaves the loop early waits for the end, and not for the rejection that this causes.
      await running.catch(() => {});
    }
  }
}

function readerLeft(): Error {
  return new Error('The reader left the stream.');
}
