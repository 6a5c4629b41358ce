import { expectOptions } from '../base/expect-options.ts';
import type { NodeStatistics, SearchNode } from '../contracts/node.ts';
import { named, type Reasons } from './rules.ts';
import { isClosed, isOut, ownReturn, type Selection, subtree, type TreeView } from './selection.ts';

/** Options of {@link spendingDown}. */
export interface SpendingDownOptions {
  /** u, the share of the budget that is spent, in [0, 1]. */
  readonly spent: number;
  /** D̂, the mean depth of answers; before the first answer, the greatest depth so far. */
  readonly depth: number;
  /** κ, the weight of depth as the budget ends. @defaultValue 1 */
  readonly kappa?: number;
  /** λ, the weight of the children's variance in favour of another child, while budget remains. @defaultValue 1 */
  readonly lambda?: number;
}

/**
 * The selection of BG-MCTS: broad at first, deep as the budget ends. Walks down from the cursor while the best child's
 * S is greater than GEN of the node, and stops where another child should be sampled.
 *
 * - `S(c) = mean over x in subtree(c) of [v(x) + κ · u · depth(x) / D̂] + √2 · (1 − u) · π(c) · √(ln N(p) / N(c))`, with
 *   π the softmax of the siblings' own values.
 * - `GEN(p) = mean child value + λ · (1 − u) · variance of the children's values`.
 *
 * Kept from the reference code: N of the root is never updated, so that there is no exploration at the root, and an
 * answer has depth 0, so that the bonus favours deep unfinished paths.
 *
 * @see BG-MCTS, 2026 (arXiv 2602.09574), whose reference code this follows.
 */
export function spendingDown(options: SpendingDownOptions): Selection {
  expectOptions('spendingDown', options, 'spent depth kappa lambda');
  const { spent, lambda = 1 } = options;
  const explain = (parent: NodeStatistics, discount: number) => worthOf(parent, discount, options);
  const select = <State, Action>({ cursor, discount = 1 }: TreeView<State, Action>) => {
    let node: SearchNode<State, Action> = cursor;
    if (isClosed(node)) return undefined;
    for (;;) {
      const worth = explain(node, discount);
      const open: readonly SearchNode<State, Action>[] = node.children.filter(
        (child) => !isClosed(child),
      );
      const totals = open.map((child) => worth(child).total);
      const most = Math.max(...totals);
      const next = open[totals.indexOf(most)];
      const another = node.complete
        ? Number.NEGATIVE_INFINITY
        : anotherChild(node, discount, lambda * (1 - spent));
      if (next === undefined || most <= another) return node;
      node = next;
    }
  };
  return named('spendingDown', options, Object.assign(select, { explain }));
}

/** GEN of a node; infinite for a node without children. */
function anotherChild({ children }: NodeStatistics, discount: number, weight: number): number {
  const values = children.filter(isIn).map((child) => ownReturn(child, discount));
  if (values.length === 0) return Number.POSITIVE_INFINITY;
  const mean = meanOf(values);
  return mean + weight * meanOf(values.map((value) => (value - mean) ** 2));
}

/** S of the children of a node. */
function worthOf(
  parent: NodeStatistics,
  discount: number,
  { spent, depth, kappa = 1 }: SpendingDownOptions,
): (child: NodeStatistics) => Reasons {
  const own = (child: NodeStatistics) => ownReturn(child, discount);
  const weights = parent.children.filter(isIn).map((child) => Math.exp(own(child)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const visits = parent.depth === 0 ? 1 : parent.visits;
  const deepening = depth > 0 ? (kappa * spent) / depth : 0;
  return (child) => {
    const nodes = [...below(child)].filter(isIn);
    const value = meanOf(nodes.map(own));
    const deep = meanOf(
      nodes.map((node) => (node.terminal || node.answer ? 0 : deepening * node.depth)),
    );
    const share = Math.exp(own(child)) / sum;
    const spread = Math.sqrt(Math.log(Math.max(1, visits)) / Math.max(1, child.visits));
    const explore = Math.SQRT2 * (1 - spent) * share * spread;
    return { total: value + deep + explore, terms: { value, depth: deep, explore } };
  };
}

function below(top: NodeStatistics): Iterable<NodeStatistics> {
  return subtree(top as SearchNode);
}

/** Failed nodes and duplicates do not count as children. */
function isIn(node: NodeStatistics): boolean {
  return !isOut(node);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
