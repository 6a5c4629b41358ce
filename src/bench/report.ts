import type { Interval } from '../base/stats/wilson-interval.ts';
import type { Spend } from '../contracts/spend.ts';
import type { StopReason } from '../search/contracts.ts';

/** A limit in one unit, such as `{ unit: 'tokens', limit: 2000 }`. */
export interface BenchBudget {
  /** What is limited. */
  readonly unit: 'calls' | 'ms' | 'tokens' | 'usd';
  /** How much of it: more than 0. */
  readonly limit: number;
}

/** One method at one budget: a point of the curves. Means are over searches; `low` and `high` are the 95 % interval of the accuracy. */
export interface BenchPoint extends Interval {
  /** The method. */
  readonly method: string;
  /** What each of its searches might be charged. */
  readonly budget: BenchBudget;
  /** Whether it is a baseline: greedy, self-consistency, best-of-N. */
  readonly isBaseline: boolean;
  /** The share of chosen answers that are right: the mean over clusters of the mean over their searches. */
  readonly accuracy: number;
  /** Searches that were scored; those that failed are among them, and count as wrong. */
  readonly n: number;
  /** How many of those failed. */
  readonly failed: number;
  /** Searches that say little about the method: calls failed and no end was chosen, or more than 5 % of the calls failed. */
  readonly outages: number;
  /** Searches that failed by an error of code: of a plan, a policy, an evaluator or an environment. */
  readonly broken: number;
  /** Searches whose answer the oracle could not score; they are left out. */
  readonly unscored: number;
  /** Over seeds, where there are several: the share of problems that any of `k` searches gets right, and that all do; from `k` = 2 on. */
  readonly passAtK: readonly {
    /** How many searches. */
    readonly k: number;
    /** pass@k: that any of them is right. */
    readonly any: number;
    /** pass^k: that all of them are. */
    readonly all: number;
  }[];
  /** The share of searches with a right end anywhere in the tree, chosen or not; `null` where ends are not scored. */
  readonly anyEnd: number | null;
  /** Tokens read and written. */
  readonly tokens: number;
  /** Of those, the ones read. */
  readonly inputTokens: number;
  /** Of those read, the ones that came from a cache of their provider. */
  readonly cachedTokens: number;
  /** The ones written. */
  readonly outputTokens: number;
  /** Dollars; `null` where nobody knows the price of a model. */
  readonly usd: number | null;
  /** Calls. */
  readonly calls: number;
  /**
   * Milliseconds of a search, in which reused answers took as long as when they were bought; `null` where they came at once.
   */
  readonly ms: number | null;
  /** Calls that were answered by what was bought before. */
  readonly reused: number;
  /** The searches that have bought all of their calls themselves. */
  readonly cold: {
    /** How many. */
    readonly n: number;
    /** Milliseconds of one of them; `null` where there are none, or where nobody has measured it. */
    readonly ms: number | null;
  };
  /** The share of the budget that was left by searches that did not end as `solved`, in [0, 1]; 0 where all did. */
  readonly unused: number;
  /** Why searches ended: how many for each reason. */
  readonly ends: Readonly<Partial<Record<StopReason, number>>>;
  /** How far the values of ends say how often these are right; `null` where there are none. */
  readonly calibration: Calibration | null;
  /** Means over trees. */
  readonly tree: {
    /** Nodes. */
    readonly nodes: number;
    /** The longest path, in edges. */
    readonly depth: number;
    /** Children of a node that has any. */
    readonly width: number;
  };
}

/** How values in [0, 1] compare with outcomes. */
export interface Calibration {
  /** Σ n_b / n · |mean value − share right| over ten bins of equal width. */
  readonly expectedError: number;
  /** The mean of (value − outcome)². */
  readonly brier: number;
  /** The bins that hold any, from the least value up. */
  readonly bins: readonly {
    /** The mean value in it. */
    readonly value: number;
    /** The share that is right. */
    readonly right: number;
    /** How many ends it holds. */
    readonly n: number;
  }[];
}

/** How much more one method gets right than another at the same budget, on the same problems. Shares, not points. */
export interface BenchDifference extends Interval {
  /** The one. */
  readonly method: string;
  /** The other. */
  readonly than: string;
  /** The budget of both. */
  readonly budget: BenchBudget;
  /** The share that the one gets right, less that of the other. */
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
  /** `no`: at no budget may a search be better by 3 points or more. `undecided`: neither is known. */
  readonly answer: 'no' | 'undecided' | 'yes';
  /** The answer in words: from which budget, by how much, at what price, what to try next. */
  readonly text: string;
  /** The method that pays, from its least budget on; only with `yes`. */
  readonly best?: BenchDifference;
}

/** What a benchmark found. */
export interface BenchReport {
  /** The version of this form. */
  readonly version: 1;
  /** What was solved. */
  readonly task: {
    /** Its name. */
    readonly name: string;
    /** What it is called in prose. */
    readonly title: string;
    /** What `--task` takes to name it again; `null` where it was given as an object. */
    readonly spec: string | null;
    /** Where its problems come from; `null` where they are generated. */
    readonly source: string | null;
    /** Their licence, as an SPDX identifier; `null` where nobody says. */
    readonly licence: string | null;
    /** The split; `null` where there is only one. */
    readonly split: string | null;
    /** How many instances. */
    readonly instances: number;
    /** Clusters of instances that are independent of each other. */
    readonly clusters: number;
  };
  /** The model, as `provider:modelId`; `null` where none was asked. */
  readonly model: string | null;
  /** The model that judged; `null` where that was `model`. */
  readonly judgeModel: string | null;
  /** The temperature of algorithms; `null` for that of the policy. */
  readonly temperature: number | null;
  /** Searches of each instance by each method at each budget. */
  readonly seeds: number;
  /** What random numbers begin with. */
  readonly seed: number | string;
  /** The method that all others are compared with. */
  readonly baseline: string;
  /** The points of the curves. */
  readonly points: readonly BenchPoint[];
  /** Methods that were guided by an oracle: their accuracy is pass@k. */
  readonly guided: readonly BenchPoint[];
  /** Every other method against the baseline, at each budget. */
  readonly differences: readonly BenchDifference[];
  /** The area under accuracy against log budget, divided by its width: of each method with two budgets or more. */
  readonly areas: readonly {
    /** The method. */
    readonly method: string;
    /** The unit of its budgets. */
    readonly unit: BenchBudget['unit'];
    /** The area, in [0, 1]. */
    readonly area: number;
  }[];
  /** What a reader has to know, each a sentence: few problems, budgets left unused, failures, prices unknown. */
  readonly warnings: readonly string[];
  /** The answer. */
  readonly verdict: Verdict;
  /** Of each problem the share of its searches that were right, in the order of `points`; `null` where none was scored. */
  readonly problems: readonly {
    /** The problem. */
    readonly id: string;
    /** A share for each point. */
    readonly shares: readonly (number | null)[];
  }[];
  /** What was bought by the whole benchmark, and what it would have cost without sharing equal requests. */
  readonly spend: {
    /** What was bought. */
    readonly bought: Pick<Spend, 'calls' | 'tokens' | 'usd'>;
    /** What it would have cost: the sum of what all searches were charged. */
    readonly charged: Pick<Spend, 'calls' | 'tokens' | 'usd'>;
  };
  /** How it can be repeated. */
  readonly versions: {
    /** Of this package. */
    readonly espalier: string;
    /** Of Node.js. */
    readonly node: string;
  };
}
