/** The maximum or actual cost of one paid call. */
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

/** The sum of two costs. */
export function addSpend(a: CallSpend, b: CallSpend): CallSpend {
  return { calls: a.calls + b.calls, tokens: a.tokens + b.tokens, usd: a.usd + b.usd };
}

/** The greater of two amounts, unit by unit. */
export function atLeast(least: CallSpend, spend: CallSpend): CallSpend {
  return {
    calls: Math.max(least.calls, spend.calls),
    tokens: Math.max(least.tokens, spend.tokens),
    usd: Math.max(least.usd, spend.usd),
  };
}

/** The amount beyond what is covered. Dollars are binary fractions, so sums of equal parts may differ by rounding. */
export function beyond(used: number, covered: number): number {
  return used - covered > 1e-12 ? used - covered : 0;
}

/** The negative of a spend. */
export function negative(a: CallSpend): CallSpend {
  return { calls: -a.calls, tokens: -a.tokens, usd: -a.usd };
}
