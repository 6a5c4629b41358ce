/** What one paid call may cost at most, or did cost. */
export interface CallSpend {
  /** Completions, scores, embeddings, effects. */
  readonly calls: number;
  /** Tokens read and written. */
  readonly tokens: number;
  /** US dollars. */
  readonly usd: number;
}

/** No spend at all. */
export const nothing: CallSpend = { calls: 0, tokens: 0, usd: 0 };

/** Adds up what two calls cost. */
export function addSpend(a: CallSpend, b: CallSpend): CallSpend {
  return { calls: a.calls + b.calls, tokens: a.tokens + b.tokens, usd: a.usd + b.usd };
}

/** At least so much of each unit. */
export function atLeast(least: CallSpend, spend: CallSpend): CallSpend {
  return {
    calls: Math.max(least.calls, spend.calls),
    tokens: Math.max(least.tokens, spend.tokens),
    usd: Math.max(least.usd, spend.usd),
  };
}

/** How far it goes beyond. Dollars are binary fractions: sums of equal parts need not be equal. */
export function beyond(used: number, covered: number): number {
  return used - covered > 1e-12 ? used - covered : 0;
}

/** What takes a spend back. */
export function negative(a: CallSpend): CallSpend {
  return { calls: -a.calls, tokens: -a.tokens, usd: -a.usd };
}
