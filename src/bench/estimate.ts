import type { ModelPrice } from '../contracts/language-model.ts';
import type { BenchBudget } from './report.ts';

/** What a benchmark will use, before anything is spent. */
export interface Estimate {
  /** Searches that will be made. */
  readonly searches: number;
  /** What all searches together may be charged in each unit that is limited. */
  readonly atMost: Readonly<Partial<Record<BenchBudget['unit'], number>>>;
  /** What is bought where the smaller budgets ask only what the largest one asks too. */
  readonly shared: Readonly<Partial<Record<BenchBudget['unit'], number>>>;
  /** Dollars for those tokens: all of them read, and all of them written; nothing where tokens or the price are not known. */
  readonly usd?: {
    readonly atMost: readonly [read: number, written: number];
    readonly shared: readonly [read: number, written: number];
  };
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
  const atMost: Partial<Record<BenchBudget['unit'], number>> = {};
  const shared: Partial<Record<BenchBudget['unit'], number>> = {};
  for (const { unit, limit } of budgets) {
    atMost[unit] = (atMost[unit] ?? 0) + each * limit;
    shared[unit] = Math.max(shared[unit] ?? 0, each * limit);
  }
  const dollars = (tokens = 0): readonly [number, number] => [
    (tokens * (price?.input ?? 0)) / 1e6,
    (tokens * (price?.output ?? 0)) / 1e6,
  ];
  return {
    searches: each * budgets.length,
    atMost,
    shared,
    ...(price !== undefined &&
      atMost.tokens !== undefined && {
        usd: { atMost: dollars(atMost.tokens), shared: dollars(shared.tokens) },
      }),
  };
}
