import { expectInteger, expectNumber } from '../../runtime/expect.ts';
import type { SearchNode } from '../../spec/node.ts';
import { type BackupRule, meanBackup } from '../../tree/backup.ts';
import { descend, type Selection, uct, type WideningRule } from '../../tree/selection.ts';
import type { SearchAlgorithm } from '../contracts.ts';
import { reach } from './reach.ts';

/** Options of {@link mcts}. */
export interface MctsOptions {
  /** From which node a simulation goes on. @defaultValue `descend(uct(), { widening })` */
  readonly selection?: Selection;
  /** How returns are merged into values. @defaultValue {@link meanBackup} */
  readonly backup?: BackupRule;
  /** γ, the discount of each edge, in [0, 1]. @defaultValue 1 */
  readonly discount?: number;
  /** How many actions to ask for at once. @defaultValue all that the policy has */
  readonly width?: number;
  /** Whether a node may get further children later. @defaultValue never */
  readonly widening?: WideningRule;
  /** The longest path, in edges from the root. @defaultValue 64 */
  readonly maxDepth?: number;
}

/**
 * Monte-Carlo tree search: select a leaf, expand it, evaluate one of its children, back up the value.
 *
 * The evaluator takes the place of the roll-out; with a `rollout` value it is one. A new leaf's children
 * have no values yet, so the prior decides which of them is evaluated.
 *
 * @see Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning", 2006; Coulom, 2006; with `puct()` as
 * selection rule: Silver et al., 2018.
 */
export function mcts(options: MctsOptions = {}): SearchAlgorithm {
  const { backup: rule = meanBackup, discount = 1, width = Number.POSITIVE_INFINITY } = options;
  const { widening, maxDepth = 64 } = options;
  const { selection = descend(uct(), widening === undefined ? {} : { widening }) } = options;
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectInteger('width', width, { min: 1, max: Number.POSITIVE_INFINITY });
  expectInteger('maxDepth', maxDepth, { min: 1, max: Number.POSITIVE_INFINITY });

  return {
    name: 'mcts',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run(tree, context) {
      await context.simulate(async (simulation) => {
        const leaf = await reach(context, () => selection(tree, simulation.random));
        if (leaf === undefined) return 'exhausted';
        simulation.visit(leaf);

        const grows = leaf.status === 'open' && leaf.depth < maxDepth;
        const children = grows ? await context.expand(leaf, { count: width }) : [];
        if (widening === undefined || !grows) tree.complete(leaf);

        const node = await reach(context, () => simulation.visit(firstToTry(children) ?? leaf));
        await context.evaluate([node]);
        if (node.status !== 'failed') tree.backup(node, { rule, discount });
        return 'continue';
      });
    },
  };
}

/** The least tried child, of equal ones the likeliest: simulations that arrive together spread. */
function firstToTry<State, Action>(
  children: readonly SearchNode<State, Action>[],
): SearchNode<State, Action> | undefined {
  let best: SearchNode<State, Action> | undefined;
  for (const child of children) {
    if (child.status === 'failed' || child.status === 'pruned') continue;
    if (best === undefined || tries(child) < tries(best)) best = child;
    else if (tries(child) === tries(best) && child.prior > best.prior) best = child;
  }
  return best;
}

function tries({ visits, inFlight }: SearchNode): number {
  return visits + inFlight;
}
