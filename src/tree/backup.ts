import type { NodeStatistics } from '../spec/node.ts';

/** What a simulation brings back to a node. */
export interface BackupSample {
  /** G: the return of this simulation through the node, its incoming reward included. */
  readonly target: number;
  /** r(s, a) + γ · Q of the next node on the path, after that one was updated. At the leaf: `target`. */
  readonly bootstrap: number;
  /** r(s, a) of the incoming edge; 0 at the root. */
  readonly reward: number;
  /** The discount of what follows: γ, or 1 at the root, which has no edge of its own. */
  readonly discount: number;
}

/** The new Q(s, a) of a node whose `visits` already count this simulation. Pure. */
export type BackupRule = (node: NodeStatistics, sample: BackupSample) => number;

/**
 * The running mean of the returns: `Q ← Q + (G − Q) / N`.
 *
 * @see Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning", 2006.
 */
export const meanBackup: BackupRule = ({ value, visits }, { target }) =>
  value + (target - value) / visits;

/**
 * The best that is known below: `Q ← r + γ · max Q(child)` over visited children, or the evaluation of
 * a node that has none.
 *
 * @see Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006, "Max".
 */
export const maxBackup: BackupRule = ({ children }, { target, reward, discount }) => {
  let best = Number.NEGATIVE_INFINITY;
  for (const { visits, value } of children) if (visits > 0 && value > best) best = value;
  return best === Number.NEGATIVE_INFINITY ? target : reward + discount * best;
};

/**
 * The mean of the visited children, weighted by their visits: `Q ← r + γ · Σ N·Q / Σ N`.
 *
 * @see Zhang et al., "ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search", 2024,
 * section 3.2, "Value backpropagation".
 */
export const visitWeightedBackup: BackupRule = ({ children }, { target, reward, discount }) => {
  let visits = 0;
  let total = 0;
  for (const child of children) {
    visits += child.visits;
    total += child.visits * child.value;
  }
  return visits === 0 ? target : reward + discount * (total / visits);
};

/**
 * Temporal difference with a constant step: `Q ← Q + α · (r + γ · Q(next) − Q)`. The first visit sets Q.
 *
 * @see Sutton and Barto, "Reinforcement Learning", 2nd edition, 2018, equation 6.2.
 */
export function tdBackup({ stepSize = 0.5 }: { readonly stepSize?: number } = {}): BackupRule {
  return ({ visits, value }, { bootstrap }) =>
    visits === 1 ? bootstrap : value + stepSize * (bootstrap - value);
}
