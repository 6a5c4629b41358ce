import { expectBounds } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { promiseOf } from '../../tree/summary.ts';
import type { SearchAlgorithm } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';

/** Options of {@link beam}. */
export interface BeamOptions {
  /** B, how many nodes of a level go on: an integer from 1 up. @defaultValue 5 */
  readonly width?: number;
  /** How many actions a node is asked for: an integer from 1 up. @defaultValue all that the policy has */
  readonly samples?: number;
  /** The longest path, in edges: an integer from 1 up. @defaultValue 64 */
  readonly maxDepth?: number;
}

/**
 * Beam search: expands all nodes of a level, evaluates their children, and goes on with the best of them. The
 * others are put aside, but for complete answers. A node is worth the rewards on its way and what is known of it: {@link promiseOf}. Ends leave
 * the beam and stay in the tree; the best of them is the answer. With an infinite width it is exhaustive.
 *
 * Each node of a level is one simulation.
 *
 * @see Lowerre, "The HARPY Speech Recognition System", 1976; Yao et al., "Tree of Thoughts: Deliberate Problem
 * Solving with Large Language Models", 2023, algorithm 1, for steps of a language model.
 */
export function beam(options: BeamOptions = {}): SearchAlgorithm {
  expectOptions('beam', options, 'width samples maxDepth');
  const { width = 5, samples = Number.POSITIVE_INFINITY, maxDepth = 64 } = options;
  expectBounds({ width, samples, maxDepth });
  return {
    name: 'beam',
    concurrency: 'any',
    laws: [],
    async run(tree, context) {
      let level = [tree.cursor].filter(isOpen);
      while (level.length > 0) {
        const end = await context.round('level', level.filter(isToDo), async (node) => {
          if (!node.complete) await context.expand(node, { count: samples });
          tree.complete(node);
          await context.evaluate(node.children);
        });
        if (end === 'stopped') return;
        const candidates = level.flatMap(({ children }) => children.filter(isOpen));
        const best = candidates.toSorted(
          (a, b) => promiseOf(b, tree.discount) - promiseOf(a, tree.discount),
        );
        for (const node of best.slice(width)) {
          if (node.answer) tree.complete(node);
          else tree.prune(node, 'beam');
        }
        if (best[0] !== undefined) tree.prefer(best[0]);
        level = best.slice(0, width).filter(({ depth }) => depth < maxDepth);
      }
    },
  };
}

/** Whether a node was not expanded yet, or not all of its children are evaluated. */
function isToDo({ complete, children }: SearchNode): boolean {
  const isUnknown = ({ status, reward, rawValue }: SearchNode) =>
    rawValue === undefined &&
    (status === 'open' || (status === 'terminal' && reward === undefined));
  return !complete || children.some(isUnknown);
}

function isOpen({ status }: SearchNode): boolean {
  return status === 'open';
}

/** A beam in lists: five nodes a level; of a model five samples each. */
export const beamEntry: AlgorithmEntry = {
  name: 'beam',
  title: 'Beam search',
  paper: 'Lowerre, The HARPY Speech Recognition System, 1976; Yao et al., Tree of Thoughts, 2023',
  create: ({ asksModel }) => beam(asksModel ? { samples: 5 } : {}),
};
