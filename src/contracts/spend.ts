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
