import type { LanguageModel } from '../../contracts/language-model.ts';

/** A model in this process. */
export interface TinyModel extends LanguageModel, AsyncDisposable {
  /** Reads the file now; otherwise that happens at the first request. Rejects where it cannot be read. */
  load(): Promise<void>;
  /** What it has done since it was loaded. */
  stats(): Promise<{
    /** Requests that were answered. */
    readonly requests: number;
    /** Tokens that went through the model. */
    readonly computed: number;
    /** Tokens that were not, because they had been read before. */
    readonly reused: number;
    /** Tokens that were drawn. */
    readonly sampled: number;
    /** Passes through the model. */
    readonly batches: number;
    /** Tokens in the cache now. */
    readonly cached: number;
    /** Tokens that left the cache to make room. */
    readonly evicted: number;
    /** Seconds in the model. */
    readonly seconds: number;
  }>;
  /** Lets the model go. Requests under way fail, and so do later ones. */
  close(): Promise<void>;
}

/** What it has done. */
export type TinyStats = Awaited<ReturnType<TinyModel['stats']>>;
