/** What a search has used, or may use. */
export interface Spend {
  /** Simulations started, including one that found nothing left to search. */
  readonly simulations: number;
  /** Nodes in the tree beyond those it started with. */
  readonly nodes: number;
  /**
   * Completions, scores, embeddings and effects requested; one completion is one call. Calls refused by the server also
   * count, but cost no tokens or dollars, so that a limit on calls also bounds requests to a server that refuses
   * everything.
   */
  readonly calls: number;
  /** Tokens read and written by models. */
  readonly tokens: number;
  /** US dollars. */
  readonly usd: number;
  /** Milliseconds on the clock of the search. */
  readonly ms: number;
}

/**
 * Upper limits on what a search may spend. Reaching one ends the search gracefully with the best found so far. Missing
 * limits do not apply. `ms` is a deadline.
 */
export type Budget = { readonly [Unit in keyof Spend]?: Spend[Unit] };

/** The part of a search that calls a model. */
export type Role = 'algorithm' | 'environment' | 'evaluator' | 'policy';

/**
 * Tokens that one model read and wrote for one role, in answered calls, as reported by its server. Failed calls and
 * unreported usage appear only in `spend`.
 */
export interface ModelUsage {
  /** The part that called it. */
  readonly role: Role;
  /** The model, as `provider:modelId`. */
  readonly model: string;
  /** Completions, scores, embeddings. */
  readonly calls: number;
  /** Tokens read, those from a cache included. */
  readonly inputTokens: number;
  /** Those read from a cache. */
  readonly cachedTokens: number;
  /** Those written to a cache at a separate price. */
  readonly cacheWriteTokens: number;
  /** Tokens written, those of hidden reasoning included. */
  readonly outputTokens: number;
  /** Those of hidden reasoning. */
  readonly reasoningTokens: number;
  /** US dollars; `undefined` if the price is unknown. */
  readonly usd: number | undefined;
  /** The cost without caching. */
  readonly uncachedUsd: number | undefined;
}
