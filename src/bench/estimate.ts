import type { ModelPrice } from '../contracts/language-model.ts';
import type { BenchBudget } from './report.ts';
import { groupsOf } from './statistics.ts';

/** The expected use of the searches with budgets in one unit. */
export interface UnitEstimate {
  readonly unit: BenchBudget['unit'];
  readonly searches: number;
  /** The most that these searches may be charged, in their unit. */
  readonly most: number;
  /** What is likely to be bought, in their unit, or less: smaller budgets ask only what the largest one asks too. */
  readonly likely: number;
  /** What tokens cost at most; nothing for other units, and where the price is unknown. */
  readonly usd?: { readonly most: number; readonly likely: number };
}

/** The expected use of a benchmark, before anything is spent. A budget does not limit other units. */
export interface Estimate {
  readonly searches: number;
  readonly units: readonly UnitEstimate[];
}

/** The most that a benchmark may use. */
export function estimateOf(
  {
    instances,
    seeds,
    methods,
    budgets,
  }: {
    readonly instances: number;
    readonly seeds: number;
    readonly methods: number;
    readonly budgets: readonly BenchBudget[];
  },
  price: ModelPrice | undefined,
): Estimate {
  const each = instances * seeds * methods;
  const groups = groupsOf(
    budgets,
    budgets.map(({ unit }) => unit),
  );
  const units = groups.map((of): UnitEstimate => {
    const unit = of[0]?.unit ?? 'tokens';
    const largest = Math.max(...of.map(({ limit }) => limit));
    const most = each * of.reduce((sum, { limit }) => sum + limit, 0);
    const likely = each * largest;
    const usd = unit === 'tokens' ? highestPrice(price, largest) : undefined;
    return {
      ...{ unit, searches: each * of.length, most, likely },
      ...(usd !== undefined && { usd: { most: usd * most, likely: usd * likely } }),
    };
  });
  return { searches: each * budgets.length, units };
}

/** Dollars for a token of a search of that size: all may be read into a cache, or all be written. */
export function highestPrice(price: ModelPrice | undefined, tokens: number): number | undefined {
  if (price === undefined) return undefined;
  const { input, cacheWrite = 0, output, longContext } = price;
  const long = longContext !== undefined && tokens > longContext.above ? longContext : undefined;
  const read = Math.max(input, cacheWrite) * Math.max(1, long?.input ?? 1);
  return Math.max(read, output * Math.max(1, long?.output ?? 1)) / 1e6;
}
