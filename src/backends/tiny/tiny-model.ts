import type { LanguageModel } from '../../contracts/language-model.ts';

/** An in-process model. */
export interface TinyModel extends LanguageModel, AsyncDisposable {
  /** Loads the file now instead of at the first request. Rejects if it cannot be read. */
  load(): Promise<void>;
  /** Statistics since it was loaded. */
  stats(): Promise<{
    /** Requests answered. */
    readonly requests: number;
    /** Tokens computed by the model. */
    readonly computed: number;
    /** Tokens reused from the cache. */
    readonly reused: number;
    /** Tokens sampled. */
    readonly sampled: number;
    /** Passes through the model. */
    readonly batches: number;
    /** Tokens currently in the cache. */
    readonly cached: number;
    /** Tokens evicted from the cache. */
    readonly evicted: number;
    /** Seconds spent in the model. */
    readonly seconds: number;
  }>;
  /** Unloads the model. Pending and later requests fail. */
  close(): Promise<void>;
}

/** Statistics of a model. */
export type TinyStats = Awaited<ReturnType<TinyModel['stats']>>;
