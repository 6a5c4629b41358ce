import type { Spend } from '../contracts/spend.ts';
import type { StopReason } from '../search/contracts.ts';
import type { BenchBudget } from './report.ts';

/** One search of one instance by one method at one budget: what reports are made of. Plain JSON. */
export interface BenchCell {
  /** The instance. */
  readonly instance: string;
  /** What it depends on others by; else the instance. */
  readonly cluster: string;
  /** The method. */
  readonly method: string;
  /** What it might be charged. */
  readonly budget: BenchBudget;
  /** Which search of the instance, from 0; searches of equal number share the seed and what was bought. */
  readonly attempt: number;
  /** `failed`: the search could not go on, and counts as wrong. `unscored`: nobody can say whether its answer is right. */
  readonly status: 'failed' | 'scored' | 'unscored';
  /** Why it failed or was not scored, in one sentence. */
  readonly reason?: string;
  /** What was chosen, at most 2,000 characters: the answer of the environment, or the actions; left out where nothing was. */
  readonly answer?: string;
  /** Present where it failed through no fault of its method: calls failed, and no end was chosen. */
  readonly isOutage?: true;
  /**
   * Present where it failed by an error of code, and no call of it had failed: a plan, a policy, an evaluator or `reset` threw
   * or returned what it must not, and no end was chosen.
   */
  readonly isBroken?: true;
  /** Whether the chosen answer is right. */
  readonly right: boolean;
  /** Whether any end of its tree is right, chosen or not: of many ends that an oracle scores, 64 are looked at. */
  readonly anyRight: boolean;
  /** Whether it was guided by an oracle. */
  readonly isGuided: boolean;
  /** The values of the ends in its tree, and whether they are right: of more than 64, as many spread evenly over it. */
  readonly ends: readonly {
    /** What the evaluator said of it; `null` where it was not asked. */
    readonly value: number | null;
    /** Whether it is right. */
    readonly right: boolean;
  }[];
  /** Why it ended. */
  readonly stopReason: StopReason;
  /** The limit that was met; left out where none was. */
  readonly exceeded?: keyof Spend;
  /** What came to nothing in its tree; left out where nothing did. */
  readonly lost?: {
    /** How many things did. */
    readonly count: number;
    /** How many of them are calls that failed; left out where none did. */
    readonly calls?: number;
    /** Why the first did, in one sentence. */
    readonly reason: string;
  };
  /** Present where nothing can be right: there is no oracle, and the environment has rewarded nothing in this tree. */
  readonly isUnrewarded?: true;
  /** The calls that it was charged, as if it had bought all that it used. */
  readonly calls: number;
  /** How many calls were answered by what was bought before: by another search, or by itself in an earlier session. */
  readonly reused: number;
  /** The tokens that it was charged. */
  readonly tokens: number;
  /** The tokens that models read, by what they told. */
  readonly inputTokens: number;
  /** Of those, the ones that came from a cache of their provider. */
  readonly cachedTokens: number;
  /** The tokens that models wrote. */
  readonly outputTokens: number;
  /** The dollars that it was charged; `null` where nobody knows the price of a model. */
  readonly usd: number | null;
  /** How long it took, where what was bought before took as long as it did then; `null` where that came at once. */
  readonly ms: number | null;
  /** The shape of its tree. */
  readonly tree: {
    /** How many nodes there are. */
    readonly nodes: number;
    /** The longest path, in edges. */
    readonly depth: number;
    /** The mean number of children of a node that has any. */
    readonly width: number;
  };
}
