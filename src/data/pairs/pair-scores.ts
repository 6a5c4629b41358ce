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
 * Q(s, a); for an unvisited action, its reward plus its evaluation, or only the reward of a rewarded end. `undefined`
 * for an action that was neither visited nor valued.
 *
 * @param about - `discount`: γ of the tree, for what was never visited. Default 1.
 */
export function q(
  node: NodeStatistics,
  about: { readonly discount?: number } = {},
): number | undefined {
  const { visits, rawValue, reward } = node;
  const isKnown = visits > 0 || rawValue !== undefined || (isEnd(node) && reward !== undefined);
  return isKnown ? knownValue(node, about) : undefined;
}

/**
 * `α · Q + (1 − α) · v`, a mix of backed-up value and evaluation. Before the first visit, and without an evaluation, it
 * is `q`.
 *
 * @param alpha - α, the weight of the search, in [0, 1].
 * @see Putta et al., "Agent Q: Advanced Reasoning and Learning for Autonomous AI Agents", 2024, section 4.
 */
export function mixed(alpha: number): PairScore {
  expectNumber('alpha', alpha, { min: 0, max: 1 });
  return (node, about) => (q(node) === undefined ? undefined : mixedValue(node, 1 - alpha, about));
}

/**
 * A(s, a) = Q(s, a) − V(s). Among siblings it ranks like Q; a threshold of 0 separates actions better than the state's
 * value from worse ones.
 *
 * @param about - `discount`: γ of the tree. Default 1; with 0 nothing is known of V(s) but at the root.
 */
export function advantage(
  node: SearchNode,
  about: { readonly discount?: number } = {},
): number | undefined {
  const { parent } = node;
  const own = q(node, about);
  const before = parent === undefined ? undefined : q(parent, about);
  if (own === undefined || before === undefined) return undefined;
  // Q(s, a) = r + γ · V(s) on the way to s; the root has no edge.
  const discount = parent?.kind === 'root' ? 1 : (about.discount ?? 1);
  return discount === 0 ? undefined : own - (before - (parent?.reward ?? 0)) / discount;
}

/** 1 with a right end at or below, 0 with only wrong ones, `undefined` with neither. */
export const hardOutcome: PairScore = (_node, { right, wrong }) => {
  if (right > 0) return 1;
  return wrong > 0 ? 0 : undefined;
};
