import type { StopReason } from '../search/contracts.ts';
import type { BenchBudget } from './report.ts';

/** One search of one instance by one method at one budget: what reports are made of. Plain JSON. */
export interface BenchCell {
  readonly instance: string;
  readonly cluster: string;
  readonly method: string;
  readonly budget: BenchBudget;
  /** Which search of the instance, from 0; searches of equal number share the seed and what was bought. */
  readonly attempt: number;
  /** `failed`: the search could not go on, and counts as wrong. `unscored`: nobody can say whether its answer is right. */
  readonly status: 'failed' | 'scored' | 'unscored';
  /** Why it failed or was not scored, in one sentence. */
  readonly reason?: string;
  /** Whether the chosen answer is right. */
  readonly right: boolean;
  /** Whether it was guided by an oracle. */
  readonly isGuided: boolean;
  /** The values of the ends in its tree, and whether they are right; none where ends are not scored. */
  readonly ends: readonly { readonly value: number | null; readonly right: boolean }[];
  readonly stopReason: StopReason;
  /** What it was charged, as if it had bought all that it used. */
  readonly calls: number;
  readonly tokens: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly usd: number | null;
  readonly ms: number | null;
  readonly tree: { readonly nodes: number; readonly depth: number; readonly width: number };
}
