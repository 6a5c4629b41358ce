import { expectBounds, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Random } from '../../contracts/context.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { promiseOf } from '../../tree/summary.ts';
import type { SearchTree } from '../../tree/tree.ts';
import type { SearchAlgorithm, SearchContext } from '../contracts.ts';
import type { AlgorithmEntry } from './entry.ts';

/** Options of {@link beam}. */
export interface BeamOptions {
  /** B, the number of nodes kept per level: an integer from 1 up. @defaultValue 5 */
  readonly width?: number;
  /** Actions to request per node: an integer from 1 up. @defaultValue all that the policy has */
  readonly samples?: number;
  /** The longest path, in edges: an integer from 1 up. @defaultValue 64 */
  readonly maxDepth?: number;
  /**
   * Which nodes are kept: the `best`, or a `sample` drawn without replacement with probability proportional to promise.
   *
   * @defaultValue `'best'`
   */
  readonly select?: 'best' | 'sample';
  /**
   * What is evaluated in one batch: the children of one `node`, or those of the entire `level`, for evaluators that
   * compare nodes. With `level`, each level costs one extra simulation.
   *
   * @defaultValue `'node'`
   */
  readonly batch?: 'level' | 'node';
}

/**
 * Beam search: expands all nodes of a level, evaluates their children, and keeps the best of them. The others are
 * pruned, except complete answers. Nodes are ranked by the rewards on their path plus their evaluation:
 * {@link promiseOf}. Terminal nodes leave the beam and stay in the tree; the best of them is the answer. An infinite
 * width makes the search exhaustive.
 *
 * Each node of a level is one simulation.
 *
 * @see Lowerre, "The HARPY Speech Recognition System", 1976; Yao et al., "Tree of Thoughts: Deliberate Problem
 * Solving with Large Language Models", 2023, algorithm 1, for steps of a language model.
 */
export function beam(options: BeamOptions = {}): SearchAlgorithm {
  expectOptions('beam', options, 'width samples maxDepth select batch');
  const { width = 5, samples = Number.POSITIVE_INFINITY, maxDepth = 64 } = options;
  const { select = 'best', batch = 'node' } = options;
  expectBounds({ width, samples, maxDepth });
  expectOneOf('select', select, ['best', 'sample']);
  expectOneOf('batch', batch, ['level', 'node']);
  return {
    name: 'beam',
    concurrency: 'any',
    laws: [],
    async run(tree, context) {
      const promise = (node: SearchNode) => promiseOf(node, tree.discount);
      let level = [tree.cursor].filter(isOpen);
      while (level.length > 0) {
        const end = await grow(tree, context, { level, samples, batch });
        if (end === 'stopped') return;
        const random = context.random.split('level', level[0]?.depth ?? 0);
        const candidates = level.flatMap(({ children }) => children.filter(isOpen));
        const { kept, others } = chosen(candidates, { width, select, promise }, random);
        for (const node of others) leaveOut(tree, node);
        if (kept[0] !== undefined) tree.prefer(kept[0]);
        level = kept.filter(({ depth }) => depth < maxDepth);
      }
    },
  };
}

/** Expands the nodes of a level and evaluates their children. */
async function grow<State, Action>(
  tree: SearchTree<State, Action>,
  context: SearchContext<State, Action>,
  {
    level,
    samples,
    batch,
  }: {
    readonly level: readonly SearchNode<State, Action>[];
    readonly samples: number;
    readonly batch: 'level' | 'node';
  },
): Promise<'done' | 'stopped'> {
  const isNext = batch === 'node' ? isToDo : ({ complete }: SearchNode) => !complete;
  const end = await context.round('level', level.filter(isNext), async (node) => {
    if (!node.complete) await context.expand(node, { count: samples });
    tree.complete(node);
    if (batch === 'node') await context.evaluate(node.children);
  });
  if (end === 'stopped' || batch === 'node') return end;
  const [first] = level.filter(isToDo);
  return context.round('judgement', first === undefined ? [] : [first], () =>
    context.evaluate(level.flatMap(({ children }) => children)),
  );
}

interface Rules {
  readonly width: number;
  readonly select: 'best' | 'sample';
  readonly promise: (node: SearchNode) => number;
}

/** Splits a level into the nodes that stay in the beam, best first, and the others. */
function chosen<Node extends SearchNode>(
  nodes: readonly Node[],
  { width, select, promise }: Rules,
  random: Random,
): { readonly kept: readonly Node[]; readonly others: readonly Node[] } {
  const best = nodes.toSorted((a, b) => promise(b) - promise(a));
  const wanted = best.filter(hasToDo);
  const others = wanted.splice(select === 'best' ? width : 0);
  while (select === 'sample' && others.length > 0 && wanted.length < width) {
    const weights = others.map((node) => Math.max(0, promise(node)));
    let rest = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
    const place = weights.findIndex((weight) => {
      rest -= weight;
      return rest < 0;
    });
    // If no node has any promise, take the first.
    wanted.push(...others.splice(Math.max(0, place), 1));
  }
  const out = new Set(others);
  return { kept: best.filter((node) => !out.has(node)), others };
}

/** Removes a node from the beam: a complete answer is closed, any other node is pruned. */
function leaveOut<State, Action>(
  tree: SearchTree<State, Action>,
  node: SearchNode<State, Action>,
): void {
  if (node.answer) tree.complete(node);
  else tree.prune(node, 'beam');
}

/** Whether a node has not been expanded yet, or not all of its children are evaluated. */
export function isToDo({ complete, children }: SearchNode): boolean {
  return !complete || children.some(isUnjudged);
}

/** Whether work is left at or below a node. A node that an earlier pass has finished takes no place in the beam. */
function hasToDo(node: SearchNode): boolean {
  return isToDo(node) || node.children.some((child) => isOpen(child) && hasToDo(child));
}

function isUnjudged({ status, rawValue, reward }: SearchNode): boolean {
  if (rawValue !== undefined) return false;
  return status === 'open' || (status === 'terminal' && reward === undefined);
}

function isOpen({ status }: SearchNode): boolean {
  return status === 'open';
}

/** List entry of beam search: five nodes per level, and five samples per node if the actions come from a model. */
export const beamEntry: AlgorithmEntry = {
  name: 'beam',
  title: 'Beam search',
  paper: 'Lowerre, The HARPY Speech Recognition System, 1976; Yao et al., Tree of Thoughts, 2023',
  create: ({ asksModel }) => beam(asksModel ? { samples: 5 } : {}),
};
