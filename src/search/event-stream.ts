import { turn } from '#platform';
import { EspalierError } from '../base/errors.ts';
import { expectSignal } from '../base/expect.ts';
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
   * The result. Reading this property starts the search if no reader has; a reader that starts later misses earlier
   * events. It rejects if a reader leaves early.
   */
  readonly result: Promise<SearchResult<State, Action>>;
  /**
   * The events as JSON, for sending elsewhere. Read either these or the events themselves, not both.
   *
   * @throws EspalierError `usage` for a state or an action that JSON cannot hold, if the environment has no codec.
   */
  json(): AsyncGenerator<SearchEventJson, void, undefined>;
}

/** A reader that can be left at any time: an async generator's own `return` would wait for a pending `next`. */
abstract class Reader<Told> implements AsyncGenerator<Told, void, undefined> {
  abstract next(): Promise<IteratorResult<Told, void>>;
  abstract return(): Promise<IteratorResult<Told, void>>;

  async throw(error: unknown): Promise<IteratorResult<Told, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

class EventReader<Told> extends Reader<Told> {
  readonly #events: AsyncGenerator<Told, void, undefined>;
  readonly #leave: () => void;

  constructor(events: AsyncGenerator<Told, void, undefined>, leave: () => void) {
    super();
    this.#events = events;
    this.#leave = leave;
  }

  next(): Promise<IteratorResult<Told, void>> {
    return this.#events.next();
  }

  return(): Promise<IteratorResult<Told, void>> {
    this.#leave();
    return this.#events.return();
  }
}

/** Starts with its first reader. */
export class EventStream<State, Action>
  extends Reader<SearchEvent<State, Action>>
  implements SearchStream<State, Action>
{
  readonly #environment: Environment<State, Action>;
  readonly #options: SearchOptions<State, Action>;
  readonly #result: Promise<SearchResult<State, Action>>;
  /** Aborted when the reader leaves, or when an event cannot be converted. */
  readonly #ended = new AbortController();
  #settle: (result: Promise<SearchResult<State, Action>>) => void = () => {};
  #events: Reader<SearchEvent<State, Action>> | undefined;
  #hasBegun = false;
  #isLeft = false;
  /** The reader of the events, in either form. */
  #reader: Reader<unknown> | undefined;

  constructor(environment: Environment<State, Action>, options: SearchOptions<State, Action>) {
    super();
    this.#environment = environment;
    this.#options = options;
    this.#result = new Promise((resolve) => {
      this.#settle = resolve;
    });
    // A reader of the events learns of a rejection there.
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
    return { done: true, value: undefined };
  }

  /** After the result is requested, a reader has the rest of this turn to start. */
  async #readAll(): Promise<void> {
    await turn();
    if (this.#hasBegun) return;
    try {
      for await (const event of this.#reader ?? this) void event;
    } catch {
      // The result reports it.
    }
  }

  #read<Told>(tell: (event: SearchEvent<State, Action>) => Told): Reader<Told> {
    if (this.#reader !== undefined) {
      throw new EspalierError(
        'usage',
        'The events of this search are already being read. Read them once, from the stream or from `json()`, or await `result`.',
      );
    }
    const reader = new EventReader(this.#run(tell), () => this.#leave());
    this.#reader = reader;
    return reader;
  }

  #leave(): void {
    this.#isLeft = true;
    const message =
      'The reader left the stream. For a result, read it to its end, or await `result` alone.';
    const error = new EspalierError('usage', message);
    this.#ended.abort(error);
    // A search that never started rejects; the result of one that did is kept.
    const left = Promise.reject<SearchResult<State, Action>>(error);
    left.catch(() => {});
    this.#settle(left);
  }

  /** Nodes are live, so an event is converted when it happens and not when it is read. */
  async *#run<Told>(
    tell: (event: SearchEvent<State, Action>) => Told,
  ): AsyncGenerator<Told, void, undefined> {
    this.#hasBegun = true;
    const events = new EventQueue<Told>();
    const close = (): void => events.close();
    const ended = this.#ended.signal;
    ended.addEventListener('abort', close);
    // Options that are no object are refused by the search.
    const { signal = ended } = Object(this.#options) as { readonly signal?: AbortSignal };
    expectSignal(signal);
    const emit = (event: SearchEvent<State, Action>): void => {
      try {
        events.push(tell(event));
      } catch (error) {
        this.#ended.abort(error);
      }
    };
    const running = runAlone<State, Action>(
      this.#environment,
      { ...this.#options, signal: AbortSignal.any([signal, ended]) },
      { emit, ready: () => events.drained() },
    );
    this.#settle(running);
    void running.then(close, close);
    try {
      yield* events;
    } finally {
      // A reader that leaves early waits for the end, but does not get the rejection that it caused.
      await running.catch(() => {});
    }
    if (!this.#isLeft) await running;
  }
}
