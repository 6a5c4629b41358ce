import { expectNumber } from '../../runtime/expect.ts';
import type { NodeStatistics } from '../../spec/node.ts';
import { mixedValue } from '../../tree/qtransform.ts';
import type { EndCounts } from '../record.ts';
import type { PairScore } from './pair-rule.ts';

/** Ready-made scores for pair rules. */
export interface PairScores {
  /** Q(s, a); of an action that was never visited the evaluation. */
  readonly q: PairScore;
  /**
   * `α · Q + (1 − α) · v`, what was backed up and what was evaluated. Where one of them is not known, the other.
   *
   * @param alpha - α, the share of the search, in [0, 1].
   * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024, section 4.
   */
  mixed(alpha: number): PairScore;
  /**
   * A(s, a) = Q(s, a) − V(s). Among siblings it ranks as Q does; a threshold of 0 parts what is better than the
   * state promised from what is worse.
   */
  readonly advantage: PairScore;
  /** 1 where a right end stands at or below, 0 where only wrong ones do, `undefined` where neither does. */
  readonly hardOutcome: PairScore;
}

/** Ready-made scores for pair rules. */
export const pairScores: PairScores = {
  q: knownValue,
  mixed(alpha) {
    expectNumber('alpha', alpha, { min: 0, max: 1 });
    return (node) => mixedValue(node, 1 - alpha);
  },
  advantage(node) {
    const q = knownValue(node);
    const v = node.parent === undefined ? undefined : stateValue(node.parent);
    return q === undefined || v === undefined ? undefined : q - v;
  },
  hardOutcome(_node, { right, wrong }: EndCounts) {
    if (right > 0) return 1;
    return wrong > 0 ? 0 : undefined;
  },
};

/** Q(s, a), or the evaluation before any visit. */
function knownValue({ visits, value, rawValue }: NodeStatistics): number | undefined {
  return visits > 0 ? value : rawValue;
}

/** V(s): without the reward on the way to s. */
function stateValue({ visits, value, reward = 0, rawValue }: NodeStatistics): number | undefined {
  return visits > 0 ? value - reward : rawValue;
}
