import { expectNumber } from '../../base/expect.ts';
import type { NodeStatistics } from '../../contracts/node.ts';
import { mixedValue } from '../../tree/qtransform.ts';
import { knownValue } from '../../tree/selection.ts';
import type { EndCounts } from '../record.ts';
import type { PairScore } from './pair-rule.ts';

/** Ready-made scores for pair rules. */
export interface PairScores {
  /**
   * Q(s, a); of an action that was never visited what is known: its reward and its evaluation, and of an end with a
   * reward that reward. `undefined` for an action that was never visited nor valued.
   */
  readonly q: PairScore;
  /**
   * `α · Q + (1 − α) · v`, what was backed up and what was evaluated. Before the first visit, and without an
   * evaluation, it is `q`.
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
  q: qvalue,
  mixed(alpha) {
    expectNumber('alpha', alpha, { min: 0, max: 1 });
    return (node) => (qvalue(node) === undefined ? undefined : mixedValue(node, 1 - alpha));
  },
  advantage(node) {
    const q = qvalue(node);
    const v = node.parent === undefined ? undefined : stateValue(node.parent);
    return q === undefined || v === undefined ? undefined : q - v;
  },
  hardOutcome(_node, { right, wrong }: EndCounts) {
    if (right > 0) return 1;
    return wrong > 0 ? 0 : undefined;
  },
};

/** Q(s, a); `undefined` before the first visit of a node that was not valued and is no end with a reward. */
function qvalue(node: NodeStatistics): number | undefined {
  const { visits, rawValue, reward, terminal } = node;
  const isKnown = visits > 0 || rawValue !== undefined || (terminal && reward !== undefined);
  return isKnown ? knownValue(node) : undefined;
}

/** V(s): without the reward on the way to s. */
function stateValue(node: NodeStatistics): number | undefined {
  const q = qvalue(node);
  return q === undefined ? undefined : q - (node.reward ?? 0);
}
