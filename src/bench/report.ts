import type { Interval } from '../base/stats/wilson-interval.ts';
import type { ModelPrice } from '../contracts/language-model.ts';
import type { Spend } from '../contracts/spend.ts';
import type { StopReason } from '../search/contracts.ts';

/** A limit in one unit, such as `{ unit: 'tokens', limit: 2000 }`. */
export interface BenchBudget {
  /** The unit. */
  readonly unit: 'calls' | 'ms' | 'tokens' | 'usd';
  /** The amount: more than 0. */
  readonly limit: number;
}

/**
 * One method at one budget: a point on the curves. Means are over searches; `low` and `high` bound the 95 % interval of
 * the accuracy.
 */
export interface BenchPoint extends Interval {
  /** The method. */
  readonly method: string;
  /** The budget of each search. */
  readonly budget: BenchBudget;
  /** Whether it is a baseline: greedy, self-consistency, best-of-N. */
  readonly isBaseline: boolean;
  /**
   * The fraction of chosen answers that are right: the mean over clusters of the mean over their searches; `null` if `n` is 0.
   */
  readonly accuracy: number | null;
  /** The number of all searches. */
  readonly searches: number;
  /** The number of scored ones, without outages and broken ones. */
  readonly n: number;
  /** The number of failed ones among those scored, which count as wrong. */
  readonly failed: number;
  /**
   * Searches affected by outages: calls failed and no end was chosen, or more than 5 % of the calls failed. Only the latter are
   * among those scored.
   */
  readonly outages: number;
  /** Searches that failed by an error of code, of a plan, a policy, an evaluator or an environment; they are excluded. */
  readonly broken: number;
  /** Searches that the oracle could not score; they are excluded. */
  readonly unscored: number;
  /**
   * With several seeds: the fraction of problems that any, or every one, of `k` searches gets right; from `k` = 2 on.
   */
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
  /** Tokens read from a provider's cache. */
  readonly cachedTokens: number;
  /** The ones written. */
  readonly outputTokens: number;
  /** Dollars; `null` if a price is unknown. */
  readonly usd: number | null;
  /** Calls. */
  readonly calls: number;
  /** Milliseconds of a search, with reused answers as slow as the original calls; `null` if they came at once. */
  readonly ms: number | null;
  /** The number of calls answered by earlier ones, which depends on sessions; `null` if times were not measured. */
  readonly reused: number | null;
  /** The searches that made all of their calls themselves; `null` if times were not measured. */
  readonly cold: {
    /** Their number. */
    readonly n: number;
    /** Milliseconds of one of them; `null` without any. */
    readonly ms: number | null;
  } | null;
  /**
   * The fraction of the budget left by unsolved searches, in [0, 1]; 0 if all were solved. Where only an oracle knows right
   * answers, no search is solved, whatever it finds.
   */
  readonly unused: number;
  /** The number of searches by stop reason. */
  readonly ends: Readonly<Partial<Record<StopReason, number>>>;
  /** The calibration of the values of ends; `null` without any. */
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
  /** The non-empty bins, in ascending order. */
  readonly bins: readonly {
    /** The mean value in it. */
    readonly value: number;
    /** The fraction that is right. */
    readonly right: number;
    /** The number of ends in it. */
    readonly n: number;
  }[];
}

/** The paired difference in accuracy between two methods at the same budget, on the same problems, as a fraction. */
export interface BenchDifference extends Interval {
  /** The first method. */
  readonly method: string;
  /** The second method. */
  readonly than: string;
  /** The budget of both. */
  readonly budget: BenchBudget;
  /** The accuracy of the first minus that of the second. */
  readonly difference: number;
  /** The number of independent clusters with scored searches of both. */
  readonly clusters: number;
  /** The two-sided mid-p-value of no difference, by flipping the signs of the differences of clusters. */
  readonly p: number;
  /** `p` corrected by Holm's procedure: for all comparisons of searches, or for all of further baselines. */
  readonly adjustedP: number;
}

/** The verdict on whether search pays. */
export interface Verdict {
  /** `no`: at no budget can a search be better by 3 points or more. `undecided`: neither can be concluded. */
  readonly answer: 'no' | 'undecided' | 'yes';
  /** The answer in words: from which budget, by how much, at what price, what to try next. */
  readonly text: string;
  /** The largest gain at the least budget at which any search pays; only with `yes`. */
  readonly best?: BenchDifference;
}

/** The report of a benchmark. */
export interface BenchReport {
  /** The version of this form. */
  readonly version: 1;
  /** The task. */
  readonly task: {
    /** Its name. */
    readonly name: string;
    /** The name in prose. */
    readonly title: string;
    /** The value of `--task` for it; `null` if it was given as an object. */
    readonly spec: string | null;
    /** The source of its problems; `null` if generated. */
    readonly source: string | null;
    /** Their licence, as an SPDX identifier; `null` if unknown. */
    readonly licence: string | null;
    /** The split; `null` if there is only one. */
    readonly split: string | null;
    /** The number of instances. */
    readonly instances: number;
    /** The number of independent clusters of instances. */
    readonly clusters: number;
  };
  /** The model, as `provider:modelId`; `null` without one. */
  readonly model: string | null;
  /** The model that judged; `null` if the same as `model`. */
  readonly judgeModel: string | null;
  /** The temperature of algorithms; `null` for that of the policy. */
  readonly temperature: number | null;
  /** The longest step, in tokens. @defaultValue that of the task */
  readonly maxTokens?: number;
  /** What the model was charged at, in dollars per million tokens; absent if unknown, or without a model. */
  readonly price?: ModelPrice;
  /** Searches per instance, method and budget. */
  readonly seeds: number;
  /** The seed of random numbers. */
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
  /** Warnings for readers, one sentence each: few problems, unused budgets, failures, unknown prices. */
  readonly warnings: readonly string[];
  /** The answer. */
  readonly verdict: Verdict;
  /**
   * For each problem, the fraction of its searches that were right, in the order of `points`; `null` if none was
   * scored.
   */
  readonly problems: readonly {
    /** The problem. */
    readonly id: string;
    /** A share for each point. */
    readonly shares: readonly (number | null)[];
  }[];
  /** What the searches cost, and what they would have cost without sharing equal requests. */
  readonly spend: {
    /**
     * What was paid for them in this benchmark, in any session. Calls that failed, were aborted or were under way when a process
     * was killed count with the most that they may have cost. What only other searches have used is not in it.
     */
    readonly bought: Pick<Spend, 'calls' | 'tokens' | 'usd'>;
    /** The spend without sharing: the sum over all searches. */
    readonly charged: Pick<Spend, 'calls' | 'tokens' | 'usd'>;
  };
  /** How to repeat it. */
  readonly versions: {
    /** Of this package. */
    readonly espalier: string;
    /** Of Node.js. */
    readonly node: string;
  };
}
