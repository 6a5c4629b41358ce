import { expectInteger, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Random } from '../../contracts/context.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { isClosed, subtree } from '../../tree/selection.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext, Simulation } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';

/** Options of {@link bestOfN}. */
export interface BestOfNOptions {
  /** How many trajectories. @defaultValue as many as the budget holds */
  readonly n?: number;
  /** The longest trajectory, in edges. @defaultValue 64 */
  readonly maxDepth?: number;
  /**
   * Which end is taken: the one with the best score; by `majority` one with the answer that most trajectories came to,
   * which is self-consistency and asks no evaluator; or by a `weighted` vote, in which each counts with its score. Votes
   * need an environment with an `answer`.
   *
   * @defaultValue `'best'`
   */
  readonly choose?: 'best' | 'majority' | 'weighted';
}

/**
 * Best of N: draws N independent trajectories from the policy and keeps the one with the best end. The
 * baseline that every search has to beat at equal cost.
 *
 * Each step draws one action, whatever was drawn there before; equal actions meet in one node, so that
 * visits count draws. A policy that lists actions instead of sampling them spreads the first draws at a
 * node over all of them.
 *
 * @see Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", 2023, for votes; Li et
 * al., "Making Language Models Better Reasoners with Step-Aware Verifier", 2023, for weighted ones.
 */
export function bestOfN(options: BestOfNOptions = {}): SearchAlgorithm {
  expectOptions('bestOfN', options, 'n maxDepth choose');
  const { n = Number.POSITIVE_INFINITY, maxDepth = 64, choose = 'best' } = options;
  expectInteger('n', n, { min: 1, max: Number.POSITIVE_INFINITY });
  expectInteger('maxDepth', maxDepth, { min: 1, max: Number.POSITIVE_INFINITY });
  expectOneOf('choose', choose, ['best', 'majority', 'weighted']);

  return {
    name: 'best-of-n',
    concurrency: 'any',
    laws: ['visits', 'values', 'simulations'],
    async run<State, Action>(
      tree: SearchTree<State, Action>,
      context: SearchContext<State, Action>,
    ): Promise<void> {
      // Without answers to vote on it is refused before anything is spent.
      if (choose !== 'best') context.conclude({ votes: [] });
      await context.simulate(
        async (simulation) => {
          if (isClosed(tree.cursor)) return 'exhausted';
          const end = await walk(tree, context, { simulation, maxDepth });
          if (end === undefined) return 'continue';
          if (choose !== 'majority') await context.evaluate([end]);
          const outcome = choose === 'majority' ? 0 : undefined;
          if (end.status !== 'failed') tree.backup(end, { outcome });
          return 'continue';
        },
        { limit: n },
      );
      if (choose !== 'best') context.conclude({ votes: votesOf(tree, choose) });
    },
  };
}

/** Draws a trajectory to its end; `undefined` where a draw failed, which ends this one and no other. */
async function walk<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
  {
    simulation,
    maxDepth,
  }: { readonly simulation: Simulation<State, Action>; readonly maxDepth: number },
): Promise<SearchNode<State, Action> | undefined> {
  let node = tree.cursor;
  while (isInner(node) && node.depth < maxDepth) {
    const next = drawByPrior(await draw(node, context), simulation.random);
    if (next === undefined) return undefined;
    await context.realise([next]);
    node = simulation.visit(tree.original(next));
  }
  return node;
}

/** The ends of all trajectories: each votes as often as it was drawn, by its score where that counts. */
function votesOf<State, Action>(tree: SearchTree<State, Action>, choose: 'majority' | 'weighted') {
  return [...subtree(tree.cursor)]
    .filter(({ visits, children }) => visits > 0 && children.length === 0)
    .map((node) => {
      const score = choose === 'majority' ? 1 : (tree.score(node, 1) ?? 0);
      return { node, weight: Math.min(node.visits * Math.max(0, score), Number.MAX_VALUE) };
    });
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
