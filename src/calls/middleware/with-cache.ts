import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { canonicalJson } from '../../base/canonical-json.ts';
import { systemClock } from '../../base/clock.ts';
import { ModelCallError } from '../../base/errors.ts';
import { expectBoolean, expectInteger, expectMethods, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { messageOf, sentenceOf } from '../../base/failure.ts';
import { jsonFault } from '../../base/json.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { ModelCall, Payee, Usage } from '../../contracts/language-model.ts';
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
import { type AnyMiddleware, type Asked, aroundCalls, type Make, withoutWaiting } from './wrap.ts';

/** Options of {@link withCache}. */
export interface CacheOptions {
  /** The store of samples: any object with these two methods, such as a Keyv instance. @defaultValue in memory */
  readonly store?: {
    /** The value of a key, if there is one. */
    get(key: string): unknown;
    /** Keeps a value, which is JSON, for `ttlMs` milliseconds, or forever. */
    set(key: string, value: JsonValue, ttlMs?: number): unknown;
  };
  /** The maximum number of samples in memory, from 1 up; your own store sets its own limit. @defaultValue 10 000 */
  readonly maxEntries?: number;
  /** The time to live of a sample in milliseconds, from 1 up. @defaultValue forever */
  readonly ttlMs?: number;
  /** A prefix for keys, for shared stores. @defaultValue nothing */
  readonly namespace?: string;
  /**
   * Whether cached answers are charged like the original calls: for comparisons, in which each method pays for
   * everything it uses. A prompt is charged once for all samples requested together.
   *
   * @defaultValue `false`: cached answers use no tokens
   */
  readonly charged?: boolean;
  /** Whether a cached answer takes as long as the original call. @defaultValue `false`: it is immediate */
  readonly paced?: boolean;
}

/**
 * Caches answers, so that nothing is paid for twice. The key of a sample is its model with its settings, its request
 * and its index, so that drawing again gives a new sample at any temperature, and a sample is the same whether
 * requested alone or with others; only missing samples are bought. The same holds for the scores of a solution;
 * decisions and embeddings are cached per request. Concurrent equal calls are shared.
 *
 * Cached answers use no tokens, and an entirely cached answer is `fromCache`. Only complete answers are cached: no
 * errors, no refusals, nothing that arrived after an abort. A failing store causes a warning, never a failed call.
 *
 * @throws EspalierError `usage` for an option out of range.
 */
export function withCache(options: CacheOptions = {}): AnyMiddleware {
  expectOptions('withCache', options, 'store maxEntries ttlMs namespace charged paced');
  const { maxEntries = 10_000, ttlMs, charged = false, paced = false } = options;
  expectBoolean('charged', charged);
  expectBoolean('paced', paced);
  // The limit of a map.
  expectInteger('maxEntries', maxEntries, { min: 1, max: 2 ** 24 });
  if (ttlMs !== undefined) expectNumber('ttlMs', ttlMs, { min: 1 });
  if (options.store !== undefined) expectMethods('store', options.store, ['get', 'set']);
  let clock: Clock = systemClock;
  const store = options.store ?? memoryStore(maxEntries, () => clock.now());
  const prefix = options.namespace === undefined ? '' : `${options.namespace}:`;
  const flights = new Flights<Part>();
  return aroundCalls((model) => {
    const own = `${prefix}${settingsKey(model)}`;
    const shared: Shared = { store, ttlMs, prefix: own, charged, paced, flights };
    return (asked, call, make) => {
      clock = call.clock;
      return new CachedCall(asked, call, { make, shared }).answer();
    };
  });
}

/** Models of one name with different settings are different models. */
function settingsKey({ settings = {} }: Payee): string {
  return Object.keys(settings).length === 0 ? '' : `${canonicalJson('settings', settings)}:`;
}

interface Shared {
  readonly store: NonNullable<CacheOptions['store']>;
  readonly ttlMs: number | undefined;
  readonly prefix: string;
  readonly charged: boolean;
  readonly paced: boolean;
  readonly flights: Flights<Part>;
}

/** A part of an answer. */
interface Part {
  readonly answer: Answer;
  /** The usage when it was bought, if that is charged again. */
  readonly usage?: Usage;
  /** How long the call took, in milliseconds. */
  readonly ms?: number;
}

/** A part that must be fetched. */
interface Wanted {
  readonly place: number;
  readonly key: string;
}

/** One call of a model, answered from the cache as far as possible. */
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
    this.#call = withoutWaiting(call);
    this.#make = make;
    this.#shared = shared;
  }

  async answer(): Promise<Answer> {
    const { prefix, flights } = this.#shared;
    const wanted = this.#request.keys.map((key, place) => ({ place, key: `${prefix}${key}` }));
    const { signal } = this.#call;
    const get: Get<Wanted, Part> = (owned, settle) => this.#get(owned, settle);
    const began = this.#call.clock.now();
    try {
      const parts = await flights.share(wanted, { signal, get });
      if (this.#shared.paced) await this.#wait(parts, began);
      return this.#collect(parts);
    } catch (error) {
      throw this.#chargedAsMade(error);
    }
  }

  async #wait(parts: readonly Part[], began: number): Promise<void> {
    const { clock, signal } = this.#call;
    const longest = parts.reduce((most, { ms = 0 }) => Math.max(most, ms), 0);
    const left = longest - (clock.now() - began);
    if (left > 0) await clock.sleep(left, signal);
  }

  #collect(given: readonly Part[]): Answer {
    const parts = given.map(({ answer }) => answer);
    if (this.#shared.charged) {
      const { fromCache: _, ...answer } = this.#parts.join(parts, this.#chargeOf(given));
      return answer;
    }
    // If nothing was bought, the usage is known to be zero.
    if (this.#bought.length === 0) {
      return { ...this.#parts.join(parts, noTokens), fromCache: true };
    }
    const usage = sumOfUsages(this.#bought.map((answer) => ({ ...answer.usage })));
    const isFree = this.#bought.every(({ fromCache }) => fromCache);
    const { fromCache: _, ...answer } = this.#parts.join(parts, usage);
    return isFree ? { ...answer, fromCache: true } : answer;
  }

  /**
   * The usage that the parts would have had if they had been bought for this call: each purchase reads its prompt once.
   */
  #chargeOf(parts: readonly Part[]): Usage {
    const { keys } = this.#request;
    const usageOf = new Map(parts.map(({ usage = {} }, place) => [keys[place] ?? '', usage]));
    const purchases = this.#request.purchases([...keys.keys()], nothingLeft);
    return sumOfUsages(
      purchases.flatMap((purchase) =>
        purchase.keys.map((key, place) => {
          const usage = usageOf.get(key) ?? {};
          return this.#readsOnce && place > 0 ? withoutPrompt(usage) : usage;
        }),
      ),
    );
  }

  /** Whether all parts that are bought together have the same prompt. */
  get #readsOnce(): boolean {
    return this.#operation.samples !== undefined;
  }

  /** A failure is charged to the call that made the request; a call that bought something is charged anyway. */
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
    const began = this.#call.clock.now();
    const made = await this.#make(this.#call, request);
    const answer = this.#operation.accept?.(request, made) ?? made;
    this.#bought.push(answer);
    const ms = this.#call.clock.now() - began;
    const parts = this.#parts.split(answer);
    const lengths = parts.map((part) => lengthOf(this.#parts.keep(part)));
    for (const [place, each] of parts.entries()) {
      const key = `${this.#shared.prefix}${keys[place]}`;
      const share = { place, lengths, readsOnce: this.#readsOnce };
      const part = { answer: each, usage: shareOf(answer.usage ?? {}, share), ms };
      await this.#write(key, part);
      settle(key, part);
    }
  }

  async #read({ key, place }: Wanted): Promise<Part | undefined> {
    let kept: unknown;
    try {
      kept = await this.#shared.store.get(key);
    } catch (error) {
      this.#warn('read, so the model is asked', error);
    }
    if (kept === undefined || jsonFault(kept) !== undefined) return undefined;
    const [purchase] = this.#request.purchases([place], nothingLeft);
    try {
      const { json, ...rest } = this.#opened(structuredClone(kept) as JsonValue);
      const answer = this.#parts.kept(json);
      return { answer: this.#operation.accept?.(purchase?.request, answer) ?? answer, ...rest };
    } catch {
      return undefined;
    }
  }

  /** Reads a stored part, including its usage and duration if these are charged or waited for again. */
  #opened(kept: JsonValue): Omit<Part, 'answer'> & { readonly json: JsonValue } {
    const { charged, paced } = this.#shared;
    return charged || paced ? boughtSchema.parse(kept) : { json: kept };
  }

  async #write(key: string, part: Part): Promise<void> {
    const { isAnswer = () => true } = this.#operation;
    const { charged, paced } = this.#shared;
    const { answer, usage, ms } = part;
    const json = this.#parts.keep(answer);
    const kept = charged || paced ? { json, usage, ms } : json;
    if (this.#call.signal.aborted || !isAnswer(answer) || jsonFault(kept) !== undefined) return;
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

/** Delivers a part to everybody who waits for it. */
type Settle = (key: string, part: Part) => void;

const count = z.int().min(0).exactOptional();
const boughtSchema = z.object({
  json: z.json(),
  usage: z.object({
    ...{ inputTokens: count, outputTokens: count, cachedTokens: count },
    ...{ cacheWriteTokens: count, reasoningTokens: count },
    usd: z.number().min(0).exactOptional(),
    serviceTier: z.string().exactOptional(),
  }),
  ms: z.number().min(0),
});

const written = ['outputTokens', 'reasoningTokens'] as const;
const read = ['inputTokens', 'cachedTokens', 'cacheWriteTokens'] as const;

/** The approximate length of the output for a part: its texts, plus a token of four characters at each end. */
function lengthOf(part: unknown): number {
  const texts = (value: unknown): number => {
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null) return 0;
    return Object.values(value).reduce((sum: number, each) => sum + texts(each), 0);
  };
  return texts(part) + 4;
}

/**
 * The usage of one of several parts. Providers report the sum of the output, of which each part gets a share by its
 * length. The same applies to the input if each part has its own.
 */
function shareOf(
  {
    inputTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens,
    usd,
    serviceTier,
  }: Usage,
  {
    place,
    lengths,
    readsOnce,
  }: {
    readonly place: number;
    readonly lengths: readonly number[];
    readonly readsOnce: boolean;
  },
): Usage {
  const whole = { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens };
  const shared: readonly string[] = readsOnce ? written : [...read, ...written];
  const sumBefore = (end: number) => lengths.slice(0, end).reduce((sum, length) => sum + length, 0);
  const all = sumBefore(lengths.length);
  const [from, to] = [sumBefore(place) / all, sumBefore(place + 1) / all];
  const share = Object.entries(whole).flatMap(([field, used]) => {
    if (used === undefined) return [];
    const isShared = shared.includes(field);
    return [[field, isShared ? Math.round(used * to) - Math.round(used * from) : used]];
  });
  return {
    ...Object.fromEntries(share),
    ...(usd !== undefined && { usd: usd * (to - from) }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
}

/** The usage of a sample whose prompt was read for another sample of the same request. */
function withoutPrompt(usage: Usage): Usage {
  const told = read.filter((field) => usage[field] !== undefined);
  return { ...usage, ...Object.fromEntries(told.map((field) => [field, 0])) };
}

const nothingLeft = (): undefined => undefined;

/** Treats each call as a single part. */
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

/** A store in memory that discards the least recently used entries. `now` gives the time for their age. */
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
