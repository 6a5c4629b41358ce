import type { Interval } from '../base/stats/wilson-interval.ts';
import type { Spend } from '../contracts/spend.ts';
import type { StopReason } from '../search/contracts.ts';

/** A limit in one unit, such as `{ unit: 'tokens', limit: 2000 }`. */
export interface BenchBudget {
  readonly unit: 'calls' | 'ms' | 'tokens' | 'usd';
  readonly limit: number;
}

/** One method at one budget: a point of the curves. Means are over searches; `low` and `high` are the 95 % interval of the accuracy. */
export interface BenchPoint extends Interval {
  readonly method: string;
  readonly budget: BenchBudget;
  /** Whether it is a baseline: greedy, self-consistency, best-of-N. */
  readonly isBaseline: boolean;
  /** The share of chosen answers that are right: the mean over clusters of the mean over their searches. */
  readonly accuracy: number;
  /** Searches that were scored; those that failed are among them, and count as wrong. */
  readonly n: number;
  /** How many of those failed. */
  readonly failed: number;
  /** Searches whose answer the oracle could not score; they are left out. */
  readonly unscored: number;
  /** Over seeds, where there are several: the share of problems that any of `k` searches gets right, and that all do; from `k` = 2 on. */
  readonly passAtK: readonly { readonly k: number; readonly any: number; readonly all: number }[];
  /** The share of searches with a right end anywhere in the tree, chosen or not; `null` where ends are not scored. */
  readonly anyEnd: number | null;
  /** Tokens read and written, and those that came from a cache of the provider among those read. */
  readonly tokens: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Dollars; `null` where nobody knows the price of a model. */
  readonly usd: number | null;
  readonly calls: number;
  /** Milliseconds of a search; `null` where answers were reused without waiting as long as they took. */
  readonly ms: number | null;
  /** The share of the budget that was left by searches that did not end as `solved`, in [0, 1]; 0 where all did. */
  readonly unused: number;
  /** Why searches ended: how many for each reason. */
  readonly ends: Readonly<Partial<Record<StopReason, number>>>;
  /** How far the values of ends say how often these are right; `null` where there are none. */
  readonly calibration: Calibration | null;
  /** Means over trees. */
  readonly tree: { readonly nodes: number; readonly depth: number; readonly width: number };
}

/** How values in [0, 1] compare with outcomes. */
export interface Calibration {
  /** Σ n_b / n · |mean value − share right| over ten bins of equal width. */
  readonly expectedError: number;
  /** The mean of (value − outcome)². */
  readonly brier: number;
  readonly bins: readonly {
    readonly value: number;
    readonly right: number;
    readonly n: number;
  }[];
}

/** How much more one method gets right than another at the same budget, on the same problems. Shares, not points. */
export interface BenchDifference extends Interval {
  readonly method: string;
  readonly than: string;
  readonly budget: BenchBudget;
  readonly difference: number;
  /** How many independent clusters have searches of both that were scored. */
  readonly clusters: number;
  /** The two-sided p-value of no difference. */
  readonly p: number;
  /** The same, corrected by Holm's procedure for all comparisons of the report: of searches, or of baselines among themselves. */
  readonly adjustedP: number;
}

/** Does search pay here? */
export interface Verdict {
  readonly answer: 'no' | 'undecided' | 'yes';
  /** The answer in words: from which budget, by how much, at what price, what to try next. */
  readonly text: string;
  /** The method that pays, from its least budget on; only with `yes`. */
  readonly best?: BenchDifference;
}

/** What a benchmark found. */
export interface BenchReport {
  readonly version: 1;
  readonly task: {
    readonly name: string;
    readonly title: string;
    readonly source: string | null;
    readonly licence: string | null;
    readonly split: string | null;
    readonly instances: number;
    /** Clusters of instances that are independent of each other. */
    readonly clusters: number;
  };
  /** The model, as `provider:modelId`; `null` where none was asked. */
  readonly model: string | null;
  /** Searches of each instance by each method at each budget. */
  readonly seeds: number;
  readonly seed: number | string;
  /** The method that all others are compared with. */
  readonly baseline: string;
  readonly points: readonly BenchPoint[];
  /** Methods that were guided by an oracle: their accuracy is pass@k. */
  readonly guided: readonly BenchPoint[];
  readonly differences: readonly BenchDifference[];
  /** The area under accuracy against log budget, divided by its width: of each method with two budgets or more. */
  readonly areas: readonly {
    readonly method: string;
    readonly unit: BenchBudget['unit'];
    readonly area: number;
  }[];
  /** What a reader has to know, each a sentence: few problems, budgets left unused, failures, prices unknown. */
  readonly warnings: readonly string[];
  readonly verdict: Verdict;
  /** Of each problem the share of its searches that were right, in the order of `points`; `null` where none was scored. */
  readonly problems: readonly {
    readonly id: string;
    readonly shares: readonly (number | null)[];
  }[];
  /** What was bought by the whole benchmark, and what it would have cost without sharing equal requests. */
  readonly spend: {
    readonly bought: Pick<Spend, 'calls' | 'tokens' | 'usd'>;
    readonly charged: Pick<Spend, 'calls' | 'tokens' | 'usd'>;
  };
  /** How it can be repeated. */
  readonly versions: { readonly espalier: string; readonly node: string };
}
