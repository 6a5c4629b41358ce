import { EspalierError } from '../base/errors.ts';
import { expectation, expectFunction, expectNumber } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { NodeStatistics } from '../contracts/node.ts';
import type { TreeNode } from './node.ts';
import { expectUncalled } from './rules.ts';
import { isOut } from './selection.ts';

/** The new Q(s, a) of a node whose `visits` already count this simulation. Pure. */
export type BackupRule = (
  node: NodeStatistics,
  sample: {
    /** G: the return of this simulation through the node, its incoming reward included. */
    readonly target: number;
    /** r(s, a) + γ · Q of the next node on the path, after that one was updated. At the leaf: `target`. */
    readonly bootstrap: number;
    /** r(s, a) of the incoming edge; 0 at the root. */
    readonly reward: number;
    /** The discount of what follows: γ, or 1 at the root, which has no incoming edge. */
    readonly discount: number;
  },
) => number;

/** Options of {@link SearchTree.backup}. */
export interface BackupOptions {
  /** How returns update values. @defaultValue {@link meanBackup} */
  readonly rule?: BackupRule;
  /** γ, the discount of each edge, in [0, 1]. @defaultValue that of the tree */
  readonly discount?: number;
  /** The return of a simulation from the node, in place of v(s). Rewarded ends have none. @defaultValue v(s) */
  readonly outcome?: number | undefined;
}

/** Propagates the return of a simulation from a leaf to the root. @returns the return at the root */
export function carryUp<State, Action>(
  leaf: TreeNode<State, Action>,
  options: BackupOptions,
  usualDiscount: number,
): number {
  expectOptions('tree.backup', options, 'rule discount outcome');
  const { rule = meanBackup, discount = usualDiscount, outcome } = options;
  expectFunction('rule', rule);
  expectNumber('discount', discount, { min: 0, max: 1 });
  if (outcome !== undefined) expectNumber('outcome', outcome);
  const isRewardedEnd = leaf.terminal && leaf.reward !== undefined;
  let target = isRewardedEnd ? 0 : (outcome ?? leafValue(leaf));
  // The evaluation of a node may already be Q(s, a). The root has no action.
  let isReturn =
    !isRewardedEnd && outcome === undefined && leaf.parent !== undefined && leaf.about === 'action';
  // One object for the whole path: a rule only reads it and must not keep it.
  const sample = { target, bootstrap: target, reward: 0, discount: 1 };
  for (let own: TreeNode<State, Action> | undefined = leaf; own !== undefined; own = own.parent) {
    sample.discount = own.parent === undefined ? 1 : discount;
    sample.reward = own.parent === undefined ? 0 : (own.reward ?? 0);
    if (!isReturn) {
      target = sample.reward + sample.discount * target;
      sample.bootstrap = sample.reward + sample.discount * sample.bootstrap;
    }
    isReturn = false;
    sample.target = target;
    sample.bootstrap = update(own, rule, sample);
  }
  return target;
}

/** The new value of a node that one more simulation has passed. */
function update<State, Action>(
  node: TreeNode<State, Action>,
  rule: BackupRule,
  sample: Parameters<BackupRule>[1],
): number {
  node.visits += 1;
  const value = rule(node, sample);
  // As text it would be null, and the tree could not be read again.
  if (!Number.isFinite(value)) {
    node.visits -= 1;
    throw expectation('rule(node, sample)', 'a finite number', value);
  }
  node.value = value;
  return value;
}

function leafValue<State, Action>({ id, rawValue }: TreeNode<State, Action>): number {
  if (rawValue !== undefined) return rawValue;
  throw new EspalierError(
    'usage',
    `Expected node ${id} to be evaluated before its value is backed up.`,
  );
}

/**
 * The running mean of the returns: `Q ← Q + (G − Q) / N`.
 *
 * @see Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning", 2006.
 */
export const meanBackup: BackupRule = (node, sample) => {
  expectUncalled('meanBackup', sample);
  return node.value + (sample.target - node.value) / node.visits;
};

/**
 * The best known value below: `Q ← r + γ · max Q(child)` over visited children, or the evaluation of a node without
 * any.
 *
 * @see Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006, "Max".
 */
export const maxBackup: BackupRule = (node, sample) => {
  expectUncalled('maxBackup', sample);
  const { target, reward, discount } = sample;
  let best = Number.NEGATIVE_INFINITY;
  for (const { visits, value } of node.children) if (visits > 0 && value > best) best = value;
  return best === Number.NEGATIVE_INFINITY ? target : reward + discount * best;
};

/**
 * The mean of the children, weighted by their visits: `Q ← r + γ · Σ N·Q / Σ N`. With `unvisited`, an unvisited child
 * counts as one visit, as if N were `max(1, N)`; failed and pruned children do not count.
 *
 * @param options - `unvisited`: the value of the one visit assumed for an unvisited child. If left out, unvisited
 * children do not count. It does not get γ: `knownValue` assumes 1 here, so wrap it if the tree's γ differs.
 * @see Zhang et al., "ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search", 2024, section 3.2, "Value
 * backpropagation"; Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024,
 * section 2.1, and its reference code for `max(1, N)`.
 */
export function visitWeighted(
  options: { readonly unvisited?: (child: NodeStatistics) => number } = {},
): BackupRule {
  expectOptions('visitWeighted', options, 'unvisited');
  const { unvisited } = options;
  if (unvisited !== undefined) expectFunction('unvisited', unvisited);
  return ({ children }, { target, reward, discount }) => {
    let visits = 0;
    let total = 0;
    for (const child of children) {
      if (child.visits > 0) {
        visits += child.visits;
        total += child.visits * child.value;
      } else if (unvisited !== undefined && !isOut(child)) {
        visits += 1;
        total += unvisited(child);
      }
    }
    return visits === 0 ? target : reward + discount * (total / visits);
  };
}

/**
 * Temporal difference with a constant step: `Q ← Q + α · (r + γ · Q(next) − Q)`. The first visit sets Q.
 *
 * @see Sutton and Barto, "Reinforcement Learning", 2nd edition, 2018, equation 6.2.
 */
export function tdBackup(options: { readonly stepSize?: number } = {}): BackupRule {
  expectOptions('tdBackup', options, 'stepSize');
  const { stepSize = 0.5 } = options;
  expectNumber('stepSize', stepSize, { min: 0, max: 1 });
  return ({ visits, value }, { bootstrap }) =>
    visits === 1 ? bootstrap : value + stepSize * (bootstrap - value);
}
