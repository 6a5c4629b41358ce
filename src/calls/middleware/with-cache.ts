import { LRUCache } from 'lru-cache';
import { systemClock } from '../../base/clock.ts';
import { ModelCallError } from '../../base/errors.ts';
import { expectInteger, expectMethods, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { messageOf, sentenceOf } from '../../base/failure.ts';
import { jsonFault } from '../../base/json.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import { addressOfCall } from '../call-request.ts';
import { contentOf } from '../calls.ts';
import type {
  Answer,
  ModelOperation,
  Parts,
  PartsOf,
  Purchase,
} from '../operations/model-operation.ts';
import { sumOfUsages } from '../usage.ts';
import { Flights, ForeignFailure, type Get } from './flights.ts';
import { remade } from './remade-error.ts';
import { type AnyMiddleware, type Asked, aroundCalls, type Make } from './wrap.ts';

/** Options of {@link withCache}. */
export interface CacheOptions {
  /** Where samples are kept: anything with these two methods, so a Keyv instance as it is. @defaultValue in memory */
  readonly store?: {
    /** The value of a key, if there is one. */
    get(key: string): unknown;
    /** Keeps a value, which is JSON, for so many milliseconds, or for ever. */
    set(key: string, value: JsonValue, ttlMs?: number): unknown;
  };
  /** How many samples the memory holds, from 1 up; a store of one's own has its own limit. @defaultValue 10 000 */
  readonly maxEntries?: number;
  /** For how many milliseconds a sample is good, from 1 up. @defaultValue for ever */
  readonly ttlMs?: number;
  /** Put before every key, for a store that holds other things too. @defaultValue nothing */
  readonly namespace?: string;
}

/**
 * Buys nothing twice. A sample is known by its model, its request and its index, so that drawing again still
 * gives something new, at any temperature; it is the same sample whether it was asked for alone or with others,
 * and only what is missing is bought. So are the scores of a solution; decisions and embeddings are known by all
 * that was asked together. Equal calls under way at once are one.
 *
 * What comes from the cache used no tokens, and an answer of nothing else is `fromCache`. Kept is what was answered
 * in full: no errors, no refusals, nothing that came after the caller had given up. A store that fails is a warning
 * and never a failed call.
 *
 * @throws EspalierError `usage` for an option out of its range.
 */
export function withCache(options: CacheOptions = {}): AnyMiddleware {
  expectOptions('withCache', options, 'store maxEntries ttlMs namespace');
  const { maxEntries = 10_000, ttlMs } = options;
  expectInteger('maxEntries', maxEntries, { min: 1 });
  if (ttlMs !== undefined) expectNumber('ttlMs', ttlMs, { min: 1 });
  if (options.store !== undefined) expectMethods('store', options.store, ['get', 'set']);
  let clock: Clock = systemClock;
  const store = options.store ?? memoryStore(maxEntries, () => clock.now());
  const prefix = options.namespace === undefined ? '' : `${options.namespace}:`;
  const shared: Shared = { store, ttlMs, prefix, flights: new Flights() };
  return aroundCalls(() => (asked, call, make) => {
    clock = call.clock;
    return new CachedCall(asked, call, { make, shared }).answer();
  });
}

interface Shared {
  readonly store: NonNullable<CacheOptions['store']>;
  readonly ttlMs: number | undefined;
  readonly prefix: string;
  readonly flights: Flights<Answer>;
}

/** A part that somebody has to get. */
interface Wanted {
  readonly place: number;
  readonly key: string;
}

/** One call of a model that is answered as far as possible from what is known. */
class CachedCall {
  readonly #operation: ModelOperation<unknown, Answer>;
  readonly #parts: Parts<unknown, Answer>;
  readonly #request: PartsOf<unknown>;
  readonly #call: ModelCall;
  readonly #make: Make;
  readonly #shared: Shared;
  readonly #bought: Answer[] = [];

  constructor(
    { operation, request }: Asked,
    call: ModelCall,
    { make, shared }: { readonly make: Make; readonly shared: Shared },
  ) {
    this.#operation = operation;
    this.#parts = operation.parts ?? whole(operation);
    this.#request = this.#parts.of(request);
    this.#call = call;
    this.#make = make;
    this.#shared = shared;
  }

  async answer(): Promise<Answer> {
    const { prefix, flights } = this.#shared;
    const wanted = this.#request.keys.map((key, place) => ({ place, key: `${prefix}${key}` }));
    const { signal } = this.#call;
    const get: Get<Wanted, Answer> = (owned, settle) => this.#get(owned, settle);
    try {
      return this.#collect(await flights.share(wanted, { signal, get }));
    } catch (error) {
      throw this.#chargedAsMade(error);
    }
  }

  #collect(parts: readonly Answer[]): Answer {
    // What was bought nowhere is known to have used nothing.
    if (this.#bought.length === 0) {
      return { ...this.#parts.join(parts, noTokens), fromCache: true };
    }
    const usage = sumOfUsages(this.#bought.map((answer) => ({ ...answer.usage })));
    const isFree = this.#bought.every(({ fromCache }) => fromCache);
    const { fromCache: _, ...answer } = this.#parts.join(parts, usage);
    return isFree ? { ...answer, fromCache: true } : answer;
  }

  /** A failure is charged to whoever made the request; a call that bought something is charged anyway. */
  #chargedAsMade(error: unknown): unknown {
    const isForeign = error instanceof ForeignFailure;
    const failure = isForeign ? error.cause : error;
    if (!ModelCallError.isInstance(failure)) return failure;
    const charged = this.#bought.length > 0 || (!isForeign && failure.charged);
    return charged === failure.charged ? failure : remade(failure, { charged });
  }

  /** Finds parts in the store and buys the others. */
  async #get(wanted: readonly Wanted[], settle: Settle): Promise<void> {
    const known = await Promise.all(wanted.map((each) => this.#read(each)));
    const missing = wanted.filter(({ key }, at) => {
      const part = known[at];
      if (part !== undefined) settle(key, part);
      return part === undefined;
    });
    const places = missing.map(({ place }) => place);
    const [first, ...rest] = this.#request.purchases(places, nothingLeft);
    if (first === undefined) return;
    // The first request of several warms the server's prefix cache for the others.
    await this.#buy(first, settle);
    await Promise.all(
      rest.map(async (purchase) => {
        await this.#call.requestExtraCall?.('Only some of the samples were in the cache.');
        await this.#buy(purchase, settle);
      }),
    );
  }

  async #buy({ request, keys }: Purchase<unknown>, settle: Settle): Promise<void> {
    const made = await this.#make(this.#call, request);
    const answer = this.#operation.accept?.(request, made) ?? made;
    this.#bought.push(answer);
    for (const [place, part] of this.#parts.split(answer).entries()) {
      const key = `${this.#shared.prefix}${keys[place]}`;
      await this.#write(key, part);
      settle(key, part);
    }
  }

  async #read({ key, place }: Wanted): Promise<Answer | undefined> {
    let kept: unknown;
    try {
      kept = await this.#shared.store.get(key);
    } catch (error) {
      this.#warn('read, so the model is asked', error);
    }
    if (kept === undefined || jsonFault(kept) !== undefined) return undefined;
    const [purchase] = this.#request.purchases([place], nothingLeft);
    try {
      const part = this.#parts.kept(structuredClone(kept) as JsonValue);
      return this.#operation.accept?.(purchase?.request, part) ?? part;
    } catch {
      return undefined;
    }
  }

  async #write(key: string, part: Answer): Promise<void> {
    const { isAnswer = () => true } = this.#operation;
    const kept = this.#parts.keep(part);
    if (this.#call.signal.aborted || !isAnswer(part) || jsonFault(kept) !== undefined) return;
    const { store, ttlMs } = this.#shared;
    const value = JSON.parse(JSON.stringify(kept)) as JsonValue;
    try {
      await (ttlMs === undefined ? store.set(key, value) : store.set(key, value, ttlMs));
    } catch (error) {
      this.#warn('written to, so the sample will be bought again', error);
    }
  }

  #warn(what: string, error: unknown): void {
    const reason = sentenceOf(messageOf(error));
    this.#call.warn?.({
      model: this.#operation.name,
      about: 'cache',
      message: `The cache could not be ${what}: ${reason}`,
    });
  }
}

const noTokens = { inputTokens: 0, outputTokens: 0 };

/** Hands a part to all who wait for it. */
type Settle = (key: string, part: Answer) => void;

const nothingLeft = (): undefined => undefined;

/** Calls that are one part each. */
function whole(operation: ModelOperation<unknown, Answer>): Parts<unknown, Answer> {
  return {
    of(request) {
      const key = addressOfCall(contentOf(operation, request));
      return {
        keys: [key],
        purchases: (places) => places.map(() => ({ request, keys: [key] })),
      };
    },
    inTurn: () => false,
    split: (answer) => [answer],
    join: ([answer], usage) => ({ ...answer, usage }),
    keep: ({ usage: _, ...answer }) => operation.result?.encode(answer) ?? answer,
    kept: (json) => operation.result?.decode(json) ?? (json as Answer),
    requestOf: (address) => address,
  };
}

/** A store in memory that forgets what was not used for longest. `now` is asked for the age of what it holds. */
function memoryStore(maxEntries: number, now: () => number): Shared['store'] {
  const entries = new LRUCache<string, { value: JsonValue; until: number }>({ max: maxEntries });
  return {
    get(key) {
      const entry = entries.get(key);
      return entry !== undefined && now() < entry.until ? entry.value : undefined;
    },
    set: (key, value, ttlMs = Number.POSITIVE_INFINITY) =>
      entries.set(key, { value, until: now() + ttlMs }),
  };
}
