import { canonicalJson, contentAddress } from '../../base/canonical-json.ts';
import { systemClock } from '../../base/clock.ts';
import { ModelCallError } from '../../base/errors.ts';
import { expectInteger, expectMethods, expectNumber } from '../../base/expect.ts';
import { modelName } from '../../base/model-name.ts';
import type { Clock } from '../../contracts/clock.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  Middleware,
  ModelCall,
} from '../../contracts/language-model.ts';
import { expectCompletions } from '../replies.ts';
import { sumOfUsages } from '../usage.ts';
import {
  type CachedSample,
  type CacheStore,
  memoryStore,
  parseSample,
  sampleAsJson,
} from './cache-store.ts';
import { Flights, ForeignFailure, type Get } from './flights.ts';
import { remade } from './remade-error.ts';
import { inPlaceOf } from './wrap.ts';

/** Options of {@link withCache}. */
export interface CacheOptions {
  /** Where samples are kept. @defaultValue in memory */
  readonly store?: CacheStore;
  /** How many samples the memory holds, from 1 up; a store of one's own has its own limit. @defaultValue 10 000 */
  readonly maxEntries?: number;
  /** For how many milliseconds a sample is good, from 1 up. @defaultValue for ever */
  readonly ttlMs?: number;
  /** Put before every key, for a store that holds other things too. @defaultValue nothing */
  readonly namespace?: string;
}

/**
 * Buys no sample twice. A sample is known by its model, its request and its index, so that drawing again
 * still gives something new, at any temperature; it is the same sample whether it was asked for alone or
 * with others, and only what is missing is bought. Equal calls under way at once are one.
 *
 * A sample from the cache used no tokens, and a generation of nothing else is `fromCache`. Kept is what was answered in full: no errors, no refusals, nothing
 * that came after the caller had given up. A store that fails is a warning and never a failed call.
 *
 * @throws EspalierError `usage` for an option out of its range.
 */
export function withCache(options: CacheOptions = {}): Middleware {
  const { maxEntries = 10_000, ttlMs } = options;
  expectInteger('maxEntries', maxEntries, { min: 1 });
  if (ttlMs !== undefined) expectNumber('ttlMs', ttlMs, { min: 1 });
  if (options.store !== undefined) expectMethods('store', options.store, ['get', 'set']);
  let clock: Clock = systemClock;
  const store = options.store ?? memoryStore(maxEntries, () => clock.now());
  const prefix = options.namespace === undefined ? '' : `${options.namespace}:`;
  const flights = new Flights<CachedSample>();
  return (next) =>
    inPlaceOf(next, {
      generate(request, call) {
        clock = call.clock;
        return new CachedCall(next, call, { store, ttlMs, flights }).answer(request, prefix);
      },
    });
}

interface Shared {
  readonly store: CacheStore;
  readonly ttlMs: number | undefined;
  readonly flights: Flights<CachedSample>;
}

/** A sample that somebody has to get, and how to hand it to all who wait for it. */
interface Wanted {
  readonly index: number;
  readonly key: string;
}

/** One call of a model that is answered as far as possible from what is known. */
class CachedCall {
  readonly #model: LanguageModel;
  readonly #call: ModelCall;
  readonly #shared: Shared;
  readonly #bought: Generation[] = [];

  constructor(model: LanguageModel, call: ModelCall, shared: Shared) {
    this.#model = model;
    this.#call = call;
    this.#shared = shared;
  }

  async answer(request: GenerateRequest, prefix: string): Promise<Generation> {
    const { samples = 1, offset = 0, ...content } = request;
    const { provider, modelId } = this.#model;
    const address = contentAddress(canonicalJson('request', [provider, modelId, content]));
    const wanted = Array.from({ length: samples }, (_, place) => ({
      index: offset + place,
      key: `${prefix}${address}#${offset + place}`,
    }));
    const { signal } = this.#call;
    const get: Get<Wanted, CachedSample> = (owned, settle) => this.#get(owned, { content, settle });
    try {
      return this.#collect(await this.#shared.flights.share(wanted, { signal, get }));
    } catch (error) {
      throw this.#chargedAsMade(error);
    }
  }

  #collect(samples: readonly CachedSample[]): Generation {
    const [answeredBy, ...others] = new Set(samples.map((sample) => sample.answeredBy));
    const [bought, ...more] = this.#bought;
    const requestId = more.length === 0 ? bought?.requestId : undefined;
    return {
      completions: samples.map(({ completion }) => completion),
      // What was bought nowhere is known to have used nothing.
      usage:
        this.#bought.length === 0
          ? { inputTokens: 0, outputTokens: 0 }
          : sumOfUsages(this.#bought.map(({ usage }) => ({ ...usage }))),
      ...(this.#bought.every(({ fromCache }) => fromCache) && { fromCache: true }),
      ...(answeredBy !== undefined && others.length === 0 && { answeredBy }),
      ...(requestId !== undefined && { requestId }),
    };
  }

  /** A failure is charged to whoever made the request; a call that bought something is charged anyway. */
  #chargedAsMade(error: unknown): unknown {
    const isForeign = error instanceof ForeignFailure;
    const failure = isForeign ? error.cause : error;
    if (!ModelCallError.isInstance(failure)) return failure;
    const charged = this.#bought.length > 0 || (!isForeign && failure.charged);
    return charged === failure.charged ? failure : remade(failure, { charged });
  }

  /** Finds samples in the store and buys the others. */
  async #get(wanted: readonly Wanted[], to: Delivery): Promise<void> {
    const known = await Promise.all(wanted.map(({ key }) => this.#read(key)));
    const missing = wanted.filter((each, place) => {
      const sample = known[place];
      if (sample !== undefined) to.settle(each.key, sample);
      return sample === undefined;
    });
    const batches = this.#model.capabilities.n === true;
    const [first, ...rest] = batches ? runsOf(missing) : missing.map((each) => [each]);
    if (first === undefined) return;
    // The first request of several warms the server's prefix cache for the others.
    await this.#buy(first, to);
    await Promise.all(
      rest.map(async (run) => {
        await this.#call.requestExtraCall?.('Only some of the samples were in the cache.');
        await this.#buy(run, to);
      }),
    );
  }

  async #buy(run: readonly Wanted[], { content, settle }: Delivery): Promise<void> {
    const { length: samples } = run;
    const request = { ...content, samples, offset: run[0]?.index ?? 0 };
    const generation = await this.#model.generate(request, this.#call);
    expectCompletions(modelName(this.#model), generation);
    const { completions, answeredBy } = generation;
    if (completions.length !== samples) {
      throw new ModelCallError({
        kind: 'malformed',
        message: `${modelName(this.#model)} gave ${completions.length} of ${samples} completions.`,
      });
    }
    this.#bought.push(generation);
    for (const [place, completion] of completions.entries()) {
      const sample = { completion, ...(answeredBy !== undefined && { answeredBy }) };
      const { key = '' } = run[place] ?? {};
      await this.#write(key, sample);
      settle(key, sample);
    }
  }

  async #read(key: string): Promise<CachedSample | undefined> {
    try {
      return parseSample(await this.#shared.store.get(key));
    } catch (error) {
      this.#warn('read, so the model is asked', error);
      return undefined;
    }
  }

  async #write(key: string, sample: CachedSample): Promise<void> {
    if (this.#call.signal.aborted || sample.completion.finishReason === 'refusal') return;
    const { store, ttlMs } = this.#shared;
    const value = sampleAsJson(sample);
    if (value === undefined) return;
    try {
      await (ttlMs === undefined ? store.set(key, value) : store.set(key, value, ttlMs));
    } catch (error) {
      this.#warn('written to, so the sample will be bought again', error);
    }
  }

  #warn(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#call.warn?.({
      model: modelName(this.#model),
      about: 'cache',
      message: `The cache could not be ${what}: ${reason}`,
    });
  }
}

/** What is asked, and where samples go. */
interface Delivery {
  readonly content: Omit<GenerateRequest, 'samples' | 'offset'>;
  readonly settle: (key: string, sample: CachedSample) => void;
}

/** Samples with consecutive indices, together. */
function runsOf(wanted: readonly Wanted[]): readonly (readonly Wanted[])[] {
  const runs: Wanted[][] = [];
  for (const each of wanted) {
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1)?.index === each.index - 1) run.push(each);
    else runs.push([each]);
  }
  return runs;
}
