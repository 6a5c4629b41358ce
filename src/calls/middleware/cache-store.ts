import { LRUCache } from 'lru-cache';
import type { JsonValue } from '../../contracts/json.ts';

/** Where samples are kept: anything with these two methods, so a Keyv instance as it is. */
export interface CacheStore {
  /** The value of a key, if there is one. */
  get(key: string): unknown;
  /** Keeps a value, which is JSON, for so many milliseconds, or for ever. */
  set(key: string, value: JsonValue, ttlMs?: number): unknown;
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
