import { expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Random } from '../../contracts/context.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { isClosed } from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';

/** Options of {@link bestOfN}. */
export interface BestOfNOptions {
  /** How many trajectories. @defaultValue as many as the budget holds */
  readonly n?: number;
  /** The longest trajectory, in edges. @defaultValue 64 */
  readonly maxDepth?: number;
}

/**
 * Best of N: draws N independent trajectories from the policy and keeps the one with the best end. The
 * baseline that every search has to beat at equal cost.
 *
 * Each step draws one action, whatever was drawn there before; equal actions meet in one node, so that
 * visits count draws. A policy that lists actions instead of sampling them spreads the first draws at a
 * node over all of them.
 */
export function bestOfN(options: BestOfNOptions = {}): SearchAlgorithm {
  expectOptions('bestOfN', options, 'n maxDepth');
  const { n = Number.POSITIVE_INFINITY, maxDepth = 64 } = options;
  expectInteger('n', n, { min: 1, max: Number.POSITIVE_INFINITY });
  expectInteger('maxDepth', maxDepth, { min: 1, max: Number.POSITIVE_INFINITY });

  return {
    name: 'best-of-n',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run<State, Action>(
      tree: SearchTree<State, Action>,
      context: SearchContext<State, Action>,
    ): Promise<void> {
      await context.simulate(
        async (simulation) => {
          let node: SearchNode<State, Action> = tree.cursor;
          if (isClosed(node)) return 'exhausted';
          while (isInner(node) && node.depth < maxDepth) {
            const next = drawByPrior(await draw(node, context), simulation.random);
            // A draw that failed ends this trajectory, and no other.
            if (next === undefined) return 'continue';
            await context.realise([next]);
            node = simulation.visit(tree.original(next));
          }
          await context.evaluate([node]);
          if (node.status !== 'failed') tree.backup(node);
          return 'continue';
        },
        { limit: n },
      );
    },
  };
}

/** Whether something can follow. What is known in full is walked through once more. */
function isInner({ status }: SearchNode): boolean {
  return status === 'open' || status === 'closed';
}

/**
 * The actions to go on with, as a rule one. A policy that knows no independent samples offers each action
 * once; when it has no more, all of them are drawn from.
 */
async function draw<State, Action>(
  node: SearchNode<State, Action>,
  context: SearchContext<State, Action>,
): Promise<readonly SearchNode<State, Action>[]> {
  const drawn = node.complete ? [] : await context.expand(node, { count: 1, independent: true });
  if (drawn.length > 0 || !node.complete) return drawn;
  return node.children.filter(({ status }) => status !== 'failed' && status !== 'pruned');
}

/** One of the nodes, by prior: a policy may offer more than the one action that was asked for. */
function drawByPrior<State, Action>(
  nodes: readonly SearchNode<State, Action>[],
  random: Random,
): SearchNode<State, Action> | undefined {
  if (nodes.length < 2) return nodes[0];
  let left = random.next() * nodes.reduce((sum, { prior }) => sum + prior, 0);
  return (
    nodes.find(({ prior }) => {
      left -= prior;
      return left < 0;
    }) ?? nodes.at(-1)
  );
}

/** Best-of-N in lists. */
export const bestOfNEntry: AlgorithmEntry = {
  name: 'best-of-n',
  title: 'independent trajectories, of which the best is taken',
  create: () => bestOfN(),
};
