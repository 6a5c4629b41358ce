import { expectFunction, expectInteger, expectNumber, expectOneOf } from '../../runtime/expect.ts';
import type { SearchNode } from '../../spec/node.ts';
import { type BackupRule, meanBackup } from '../../tree/backup.ts';
import {
  descend,
  knownValue,
  puct,
  type Selection,
  type WideningRule,
} from '../../tree/selection.ts';
import type { SearchAlgorithm } from '../contracts.ts';
import { reach } from './reach.ts';

/** Options of {@link mcts}. */
export interface MctsOptions {
  /** From which node a simulation goes on. @defaultValue `descend(puct(), { widening })` */
  readonly selection?: Selection;
  /** How returns are merged into values. @defaultValue {@link meanBackup} */
  readonly backup?: BackupRule;
  /** γ, the discount of each edge, in [0, 1]. @defaultValue 1 */
  readonly discount?: number;
  /** How many actions to ask for at once. @defaultValue all that the policy has */
  readonly width?: number;
  /**
   * Which of a leaf's new children are evaluated: the likeliest `one`, which is then backed up, or `all`
   * in one batch, of which the best is. Process reward models score `all` for little more than one.
   *
   * @defaultValue `'one'`
   */
  readonly evaluates?: 'one' | 'all';
  /** Whether a node may get further children later. @defaultValue never */
  readonly widening?: WideningRule;
  /** The longest path, in edges from the root. @defaultValue 64 */
  readonly maxDepth?: number;
}

/**
 * Monte-Carlo tree search: select a leaf, expand it, evaluate one of its children, back up the value.
 *
 * The evaluator takes the place of the roll-out; with a `rollout` value it is one.
 *
 * @see Coulom, "Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search", 2006; Kocsis and
 * Szepesvári, "Bandit based Monte-Carlo Planning", 2006, for `uct()`; Silver et al., 2018, for `puct()`.
 */
export function mcts(options: MctsOptions = {}): SearchAlgorithm {
  const { backup: rule = meanBackup, discount = 1, width = Number.POSITIVE_INFINITY } = options;
  const { widening, maxDepth = 64, evaluates = 'one' } = options;
  const { selection = descend(puct(), widening === undefined ? {} : { widening }) } = options;
  expectFunction('selection', selection);
  expectFunction('backup', rule);
  if (widening !== undefined) expectFunction('widening', widening);
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectInteger('width', width, { min: 1, max: Number.POSITIVE_INFINITY });
  expectOneOf('evaluates', evaluates, ['one', 'all']);
  expectInteger('maxDepth', maxDepth, { min: 1, max: Number.POSITIVE_INFINITY });

  const canGrow = ({ status, depth }: SearchNode) => status === 'open' && depth < maxDepth;
  // A node whose children the budget had no room for is asked again when the search goes on.
  const isFull = ({ depth, children }: SearchNode) =>
    depth >= maxDepth || (widening === undefined && children.length > 0);
  return {
    name: 'mcts',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run(tree, context) {
      await context.simulate(async (simulation) => {
        // Marked in the same breath: simulations that start together must see each other.
        const leaf = await reach(context, () => {
          const selected = selection(tree, simulation.random);
          return selected && simulation.visit(selected);
        });
        if (leaf === undefined) return 'exhausted';

        const children = canGrow(leaf) ? await context.expand(leaf, { count: width }) : [];
        if (isFull(leaf)) tree.complete(leaf);
        if (evaluates === 'all') await context.evaluate(children);

        const node = await reach(context, () => simulation.visit(firstToTry(children) ?? leaf));
        await context.evaluate([node]);
        if (node.status !== 'failed') tree.backup(node, { rule, discount });
        return 'continue';
      });
    },
  };
}

/**
 * The least tried child: simulations that arrive together spread. Of equal ones the best as far as is
 * known, then the likeliest.
 */
function firstToTry<State, Action>(
  children: readonly SearchNode<State, Action>[],
): SearchNode<State, Action> | undefined {
  let best: SearchNode<State, Action> | undefined;
  for (const child of children) {
    if (child.status === 'failed' || child.status === 'pruned') continue;
    if (best === undefined || compare(child, best) > 0) best = child;
  }
  return best;
}

function compare(a: SearchNode, b: SearchNode): number {
  return (
    b.visits + b.inFlight - (a.visits + a.inFlight) ||
    knownValue(a) - knownValue(b) ||
    a.prior - b.prior
  );
}
