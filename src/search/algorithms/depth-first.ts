import { expectBounds } from '../../base/expect.ts';
import { expectGoal } from '../../base/expect-goal.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { canWiden, subtree, type WideningRule } from '../../tree/selection.ts';
import type { SearchAlgorithm } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';
import { isGoal } from './is-goal.ts';

/** Options of {@link depthFirst}. */
export interface DepthFirstOptions {
  /**
   * w, the maximum number of actions per node, proposed one at a time: an integer from 1 up. @defaultValue 2, the
   * paper's
   */
  readonly width?: number;
  /** The longest path, in edges: an integer from 1 up. @defaultValue 12, the reference code's */
  readonly maxDepth?: number;
  /**
   * Levels to backtrack from an end before another action is tried: an integer from 1 up. @defaultValue 2, the
   * reference code's
   */
  readonly climb?: number;
  /** The number of answers after which the search ends: an integer from 1 up. @defaultValue 1 */
  readonly answers?: number;
  /** Whether an end is an answer; other ends are abandoned. @defaultValue ends with a positive reward or no reward */
  readonly goal?: (node: SearchNode) => boolean;
}

/**
 * DFSDT, the depth-first search with diversity of ToolLLM: follows one action at a time as deep as it leads, then
 * backtracks and proposes a different one. The policy shows the model the earlier siblings and their results:
 * `introspective`, or the prompt part `siblings`. It needs no evaluator.
 *
 * From an end it backtracks `climb` levels, so with 2 the parent of the end gets no other action; from a path that is
 * too long, or has nothing left to try, it backtracks one. Each proposal is one simulation.
 *
 * @see Qin et al., "ToolLLM: Facilitating Large Language Models to Master 16000+ Real-world APIs", 2023 (arXiv
 * 2307.16789), section 3, and its reference code for the climb.
 */
export function depthFirst(options: DepthFirstOptions = {}): SearchAlgorithm {
  expectOptions('depthFirst', options, 'width maxDepth climb answers goal');
  const { width = 2, maxDepth = 12, climb = 2, answers = 1 } = options;
  const goal = expectGoal(options.goal ?? isGoal);
  expectBounds({ width, maxDepth, climb, answers });
  const widening: WideningRule = ({ children, samples }) =>
    Math.max(children.length, samples) < width;
  /**
   * Finds the node at or below the given one where the next action is proposed; if there is none, the number of levels
   * to backtrack.
   */
  const nextPlace = <S, A>(node: SearchNode<S, A>): SearchNode<S, A> | number => {
    if (node.terminal) return climb;
    if (node.depth >= maxDepth) return 1;
    let up = 1;
    for (const child of node.children) {
      const place = nextPlace(child);
      if (typeof place !== 'number') return place;
      // Only the last child counts: earlier ones were abandoned when their next sibling was proposed.
      up = place;
    }
    if (up > 1) return up - 1;
    return canWiden(node, widening) ? node : 1;
  };
  return {
    name: 'depth-first',
    concurrency: { serial: 'each action is proposed with the results of the ones before it' },
    laws: [],
    async run(tree, context) {
      await context.simulate(async () => {
        const place = nextPlace(tree.cursor);
        if (typeof place === 'number') return 'exhausted';
        await context.realise(await context.expand(place, { count: 1, widening }));
        const ends = [...subtree(tree.cursor)].filter((node) => node.terminal && goal(node));
        const node = ends[answers - 1];
        if (node !== undefined) context.conclude({ node, optimal: false });
        return 'continue';
      });
    },
  };
}

/** List entry of depth-first search: with a model as in the paper; if actions are listed, all of them. */
export const depthFirstEntry: AlgorithmEntry = {
  name: 'depth-first',
  title: 'Depth-first search with diversity (DFSDT)',
  paper: 'Qin et al., ToolLLM, 2023, arXiv 2307.16789',
  create: ({ asksModel }) => depthFirst(asksModel ? {} : { width: 64, climb: 1, maxDepth: 64 }),
};
