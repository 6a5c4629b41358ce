/** What a search has used, or may use. */
export interface Spend {
  /** Simulations started. */
  readonly simulations: number;
  /** Nodes in the tree beyond those it started with. */
  readonly nodes: number;
  /**
   * Completions, scores, embeddings and effects asked for; one completion is one call. Calls that the server refused
   * count: they cost no tokens and no dollars, but a limit on calls also bounds what is asked of a server that refuses all.
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
 * Upper limits on what a search may spend. A limit ends the search gracefully with the best found so
 * far; a limit that is left out does not bind. `ms` is a deadline.
 */
export type Budget = { readonly [Unit in keyof Spend]?: Spend[Unit] };

/** Who asks models in a search. */
export type Role = 'algorithm' | 'environment' | 'evaluator' | 'policy';

/**
 * What one model read and wrote for one role: of the calls that were answered, as its server told. What failed, and what
 * nobody told, is in `spend` alone.
 */
export interface ModelUsage {
  /** Who asked. */
  readonly role: Role;
  /** The model, as `provider:modelId`. */
  readonly model: string;
  /** Completions, scores, embeddings. */
  readonly calls: number;
  /** Tokens read, those from a cache included. */
  readonly inputTokens: number;
  /** Of those, the ones that came from a cache. */
  readonly cachedTokens: number;
  /** Of the tokens read, those that were put into a cache at a price of its own. */
  readonly cacheWriteTokens: number;
  /** Tokens written, those of hidden reasoning included. */
  readonly outputTokens: number;
  /** Of those, the ones of hidden reasoning. */
  readonly reasoningTokens: number;
  /** US dollars; `undefined` where nobody knows the price. */
  readonly usd: number | undefined;
  /** What it would have cost without any cache. */
  readonly uncachedUsd: number | undefined;
}
