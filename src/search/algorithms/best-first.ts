import { expectBounds, expectNumber, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { subtree } from '../../tree/selection.ts';
import { promiseOf } from '../../tree/summary.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext } from '../contracts.ts';
import { isToDo } from './beam.ts';
import type { AlgorithmEntry } from './entry.ts';
import { Frontier } from './frontier.ts';

/** Options of {@link bestFirst}. */
export interface BestFirstOptions {
  /**
   * Which open node is expanded next: with `value`, the one with the greatest value, ties going to the shallowest; with
   * `depth`, the deepest, ties going to the greatest value, which is depth-first search with the best child first.
   *
   * @defaultValue `'value'`
   */
  readonly order?: 'depth' | 'value';
  /** Actions to request per node: an integer from 1 up. @defaultValue all that the policy has */
  readonly width?: number;
  /** The longest path, in edges: an integer from 1 up. @defaultValue 64 */
  readonly maxDepth?: number;
  /** Nodes whose promise is at most this are pruned: a finite number. @defaultValue no node is pruned */
  readonly threshold?: number;
}

/**
 * Best-first search: repeatedly expands the most promising open node and evaluates its children. Promise is the rewards
 * on the path plus the evaluation: {@link promiseOf}. Each expansion is one simulation. It continues until no node is
 * open or the budget is spent: `stopWhen: solved()` ends it at the first solution. Equal states on different paths are
 * not merged; `astar` without a heuristic keeps each state once, and adds up costs.
 *
 * With `order: 'depth'` and a `threshold` it is the depth-first search of Tree of Thoughts.
 *
 * Children are evaluated when they are created, as in treequest; in Koh et al. the queue holds actions that inherit the
 * value of the state they leave.
 *
 * @see Pearl, "Heuristics", 1984; Koh et al., "Tree Search for Language Model Agents", 2024; Yao et al., "Tree of
 * Thoughts: Deliberate Problem Solving with Large Language Models", 2023, algorithm 2.
 */
export function bestFirst(options: BestFirstOptions = {}): SearchAlgorithm {
  expectOptions('bestFirst', options, 'order width maxDepth threshold');
  const { order = 'value', width = Number.POSITIVE_INFINITY, maxDepth = 64 } = options;
  const { threshold = Number.NEGATIVE_INFINITY } = options;
  expectOneOf('order', order, ['depth', 'value']);
  expectBounds({ width, maxDepth });
  if (options.threshold !== undefined) expectNumber('threshold', threshold);
  return {
    name: 'best-first',
    concurrency: 'any',
    laws: [],
    async run<State, Action>(
      tree: SearchTree<State, Action>,
      context: SearchContext<State, Action>,
    ): Promise<void> {
      const frontier = new Frontier<SearchNode<State, Action>>();
      const promise = (node: SearchNode) => promiseOf(node, tree.discount);
      const admit = (node: SearchNode<State, Action>): void => {
        const { depth, id } = node;
        if (depth >= maxDepth || !isOpen(node) || !isToDo(node)) return;
        const [f, h] = order === 'value' ? [-promise(node), depth] : [-depth, -promise(node)];
        frontier.push(node, { f, h, id });
      };
      const take = (child: SearchNode<State, Action>): void => {
        const best = tree.preferred ?? tree.root;
        if (promise(child) <= threshold && !child.answer) tree.prune(child, 'hopeless');
        else if (promise(child) > promise(best)) tree.prefer(child);
        admit(child);
      };
      for (const node of subtree(tree.cursor)) admit(node);
      await context.simulate(async (simulation) => {
        const node = frontier.pop();
        // A node being expanded may still add to the frontier.
        if (node === undefined) return 'waiting';
        simulation.visit(node);
        if (!node.complete) await context.expand(node, { count: width });
        tree.complete(node);
        await context.evaluate(node.children);
        for (const child of node.children.filter(isOpen)) take(child);
        return 'continue';
      });
    },
  };
}

function isOpen({ status }: SearchNode): boolean {
  return status === 'open';
}

/** List entry of best-first search: five samples per node if the actions come from a model. */
export const bestFirstEntry: AlgorithmEntry = {
  name: 'best-first',
  title: 'Best-first search on the values',
  paper: 'Koh et al., Tree Search for Language Model Agents, 2024',
  create: ({ asksModel }) => bestFirst(asksModel ? { width: 5 } : {}),
};
