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

/** One that can be left at any time: an async generator's own `return` waits for a `next` that is pending. */
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
  /** Aborted when the reader leaves, or when an event cannot be told. */
  readonly #ended = new AbortController();
  #settle: (result: Promise<SearchResult<State, Action>>) => void = () => {};
  #events: Reader<SearchEvent<State, Action>> | undefined;
  #hasBegun = false;
  #isLeft = false;
  /** What reads the events, in whichever form. */
  #reader: Reader<unknown> | undefined;

  constructor(environment: Environment<State, Action>, options: SearchOptions<State, Action>) {
    super();
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
    return { done: true, value: undefined };
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

  #read<Told>(tell: (event: SearchEvent<State, Action>) => Told): Reader<Told> {
    if (this.#reader !== undefined) {
      throw new EspalierError(
        'usage',
        'The events of this search are being read already. Read them once, from the stream or from `json()`, or await `result`.',
      );
    }
    const reader = new EventReader(this.#run(tell), () => this.#leave());
    this.#reader = reader;
    return reader;
  }

  #leave(): void {
    this.#isLeft = true;
    const error = new Error('The reader left the stream.');
    this.#ended.abort(error);
    // A search that was not begun comes to nothing; what another one has come to stays.
    const left = Promise.reject<SearchResult<State, Action>>(error);
    left.catch(() => {});
    this.#settle(left);
  }

  /** Nodes are live: an event is told when it happens, and not when it is read. */
  async *#run<Told>(
    tell: (event: SearchEvent<State, Action>) => Told,
  ): AsyncGenerator<Told, void, undefined> {
    this.#hasBegun = true;
    const events = new EventQueue<Told>();
    const close = (): void => events.close();
    const ended = this.#ended.signal;
    ended.addEventListener('abort', close);
    const { signal = ended } = this.#options;
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
      // Whoever leaves early waits for the end, and not for the rejection that this causes.
      await running.catch(() => {});
    }
    if (!this.#isLeft) await running;
  }
}
