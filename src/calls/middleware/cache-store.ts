import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { jsonFault } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion } from '../../contracts/language-model.ts';

/** Where samples are kept: anything with these two methods, so a Keyv instance as it is. */
export interface CacheStore {
  /** The value of a key, if there is one. */
  get(key: string): unknown;
  /** Keeps a value, which is JSON, for so many milliseconds, or for ever. */
  set(key: string, value: JsonValue, ttlMs?: number): unknown;
}

/** A sample as a cache keeps it. */
export interface CachedSample {
  readonly completion: Completion;
  /** The exact model that answered. */
  readonly answeredBy?: string;
}

/** A store in memory that forgets what was not used for longest. `now` is asked for the age of what it holds. */
export function memoryStore(maxEntries: number, now: () => number): CacheStore {
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

const alternative = { token: z.string(), logprob: z.number() };
const json = z.custom<JsonValue>((value) => jsonFault(value) === undefined, 'expected JSON');

const sampleSchema: z.ZodType<CachedSample> = z.object({
  completion: z.object({
    text: z.string(),
    finishReason: z.exactOptional(z.enum(['stop', 'length', 'tool', 'refusal', 'other'])),
    logprobs: z.exactOptional(
      z.array(z.object({ ...alternative, top: z.exactOptional(z.array(z.object(alternative))) })),
    ),
    toolCalls: z.exactOptional(
      z.array(z.object({ id: z.string(), name: z.string(), input: json })),
    ),
    reasoning: z.exactOptional(z.string()),
  }),
  answeredBy: z.exactOptional(z.string()),
});

/** What a store gave, where it is a sample: stores outlive versions, and others may write to them. */
export function parseSample(value: unknown): CachedSample | undefined {
  return sampleSchema.safeParse(value).data;
}

/** A sample as JSON that nobody else holds; nothing where JSON cannot hold it. */
export function sampleAsJson(sample: CachedSample): JsonValue | undefined {
  if (jsonFault(sample) !== undefined) return undefined;
  return JSON.parse(JSON.stringify(sample)) as JsonValue;
}
