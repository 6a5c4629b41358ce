/**
 * Ready-made scores for pair rules.
 *
 * @module
 */

import { expectNumber } from '../../base/expect.ts';
import type { NodeStatistics, SearchNode } from '../../contracts/node.ts';
import { mixedValue } from '../../tree/qtransform.ts';
import { knownValue } from '../../tree/selection.ts';
import { isEnd } from '../record.ts';
import type { PairScore } from './pair-rule.ts';

/**
 * Q(s, a); of an action that was never visited what is known: its reward and its evaluation, and of an end with a
 * reward that reward. `undefined` for an action that was never visited nor valued.
 */
export function q(node: NodeStatistics): number | undefined {
  const { visits, rawValue, reward } = node;
  const isKnown = visits > 0 || rawValue !== undefined || (isEnd(node) && reward !== undefined);
  return isKnown ? knownValue(node) : undefined;
}

/**
 * `α · Q + (1 − α) · v`, what was backed up and what was evaluated. Before the first visit, and without an
 * evaluation, it is `q`.
 *
 * @param alpha - α, the share of the search, in [0, 1].
 * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024, section 4.
 */
export function mixed(alpha: number): PairScore {
  expectNumber('alpha', alpha, { min: 0, max: 1 });
  return (node) => (q(node) === undefined ? undefined : mixedValue(node, 1 - alpha));
}

/**
 * A(s, a) = Q(s, a) − V(s). Among siblings it ranks as Q does; a threshold of 0 parts what is better than the
 * state promised from what is worse.
 */
export function advantage(node: SearchNode): number | undefined {
  const own = q(node);
  const before = node.parent === undefined ? undefined : q(node.parent);
  // V(s) is without the reward on the way to s.
  return own === undefined || before === undefined
    ? undefined
    : own - (before - (node.parent?.reward ?? 0));
}

/** 1 where a right end stands at or below, 0 where only wrong ones do, `undefined` where neither does. */
export const hardOutcome: PairScore = (_node, { right, wrong }) => {
  if (right > 0) return 1;
  return wrong > 0 ? 0 : undefined;
};
