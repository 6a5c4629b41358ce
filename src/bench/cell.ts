import type { Spend } from '../contracts/spend.ts';
import type { StopReason } from '../search/contracts.ts';
import type { BenchBudget } from './report.ts';

/** One search of one instance by one method at one budget: what reports are made of. Plain JSON. */
export interface BenchCell {
  /** The instance. */
  readonly instance: string;
  /** Its cluster of dependent instances, or else the instance. */
  readonly cluster: string;
  /** The method. */
  readonly method: string;
  /** Its budget. */
  readonly budget: BenchBudget;
  /** The index of the search of this instance, from 0; searches with equal index share the seed and paid answers. */
  readonly attempt: number;
  /**
   * `failed`: the search could not continue, and counts as wrong. `unscored`: the correctness of its answer is unknown.
   */
  readonly status: 'failed' | 'scored' | 'unscored';
  /** Why it failed or was not scored, in one sentence. */
  readonly reason?: string;
  /** The choice, at most 2,000 characters: the environment's answer, or the actions; absent if nothing was chosen. */
  readonly answer?: string;
  /** Present if it came to no end and no answer: what it chose is a step on the way. */
  readonly isUnfinished?: true;
  /** Present if it failed for external reasons: calls failed, and no end was chosen. */
  readonly isOutage?: true;
  /**
   * Present where it failed by an error of code, and no call of it had failed: a plan, a policy, an evaluator or `reset` threw
   * or returned what it must not, and no end was chosen.
   */
  readonly isBroken?: true;
  /** Whether the chosen answer is right. */
  readonly right: boolean;
  /** Whether any end of its tree is right, chosen or not: with an oracle, at most 64 ends are checked. */
  readonly anyRight: boolean;
  /** Whether it was guided by an oracle. */
  readonly isGuided: boolean;
  /** The values of the ends in its tree, and whether they are right: at most 64, spread evenly over it. */
  readonly ends: readonly {
    /** Its evaluation; `null` if it was not evaluated. */
    readonly value: number | null;
    /** Whether it is right. */
    readonly right: boolean;
  }[];
  /** Why it ended. */
  readonly stopReason: StopReason;
  /** The limit that was reached; absent if none was. */
  readonly exceeded?: keyof Spend;
  /** Failures of steps and calls on its way; absent if there are none. */
  readonly lost?: {
    /** Their number. */
    readonly count: number;
    /** How many of `calls` failed; absent if none did. */
    readonly calls?: number;
    /** The first one, in one sentence. */
    readonly reason: string;
  };
  /** Present if nothing can be right: there is no oracle, and the environment rewarded nothing in this tree. */
  readonly isUnrewarded?: true;
  /** The calls charged, as if it had paid for everything it used. */
  readonly calls: number;
  /** The calls answered by earlier ones: of another search, or its own in an earlier session. */
  readonly reused: number;
  /** The tokens charged. */
  readonly tokens: number;
  /** The tokens read by models, as reported. */
  readonly inputTokens: number;
  /** Those read from a provider's cache. */
  readonly cachedTokens: number;
  /** The tokens written by models. */
  readonly outputTokens: number;
  /** The dollars charged; `null` if a price is unknown. */
  readonly usd: number | null;
  /** How long it took, where reused answers took as long as the original calls; `null` if they came at once. */
  readonly ms: number | null;
  /** The shape of its tree. */
  readonly tree: {
    /** The number of nodes. */
    readonly nodes: number;
    /** The longest path, in edges. */
    readonly depth: number;
    /** The mean number of children of a node that has any. */
    readonly width: number;
  };
}
