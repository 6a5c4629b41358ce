import { EspalierError } from '../base/errors.ts';
import { expectNode, expectObject } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { ChildNode, SearchNode } from '../contracts/node.ts';

/** The statistics of the actions at one node. All arrays are in the order of the children. */
export interface SearchSummary<Action> {
  /** The actions themselves. */
  readonly actions: readonly Action[];
  /** N(s, a). */
  readonly visitCounts: readonly number[];
  /** N(s, a) / Σ N. All 0 before any visit. */
  readonly visitProbs: readonly number[];
  /** Q(s, a); `undefined` for an unvisited action. */
  readonly qvalues: readonly (number | undefined)[];
  /** The improved policy, a training target: `N^(1/temperature)`, normalised; the priors before any visit. */
  readonly actionWeights: readonly number[];
  /** V(s) of the node itself. */
  readonly value: number;
}

/**
 * The statistics of a node's children, for callers and training.
 *
 * @see Silver et al., "Mastering the game of Go without human knowledge", 2017, "Play".
 */
export function summarise<State, Action>(
  node: SearchNode<State, Action>,
  options: {
    /** T ≥ 0 of the action weights; 0 puts all weight on the most visited. @defaultValue 1 */
    readonly temperature?: number;
  } = {},
): SearchSummary<Action> {
  expectNode('node', node);
  expectOptions('summarise', options, 'temperature');
  const { temperature = 1 } = options;
  if (!(temperature >= 0)) {
    throw new EspalierError(
      'usage',
      `Expected \`temperature\` to be a number from 0 up, got \`${temperature}\`.`,
    );
  }
  const { children } = node;
  const visitCounts = children.map(({ visits }) => visits);
  const total = visitCounts.reduce((sum, visits) => sum + visits, 0);
  return {
    actions: children.map(({ action }) => action),
    visitCounts,
    visitProbs: visitCounts.map((visits) => (total === 0 ? 0 : visits / total)),
    qvalues: children.map(({ visits, value }) => (visits === 0 ? undefined : value)),
    actionWeights: total === 0 ? normalised(priors(children)) : sharpen(visitCounts, temperature),
    value: node.value,
  };
}

function priors(children: readonly ChildNode[]): readonly number[] {
  return children.map(({ prior }) => prior);
}

/** Divides by the greatest first, so that no power overflows. */
function sharpen(counts: readonly number[], temperature: number): readonly number[] {
  const most = counts.reduce((max, count) => Math.max(max, count), 0);
  return normalised(
    counts.map((count) => {
      // 1 ** Infinity is NaN.
      if (count === most) return 1;
      return temperature === 0 ? 0 : (count / most) ** (1 / temperature);
    }),
  );
}

function normalised(weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (sum === 0 ? 0 : weight / sum));
}

/** The nodes from the root to `node`, both included. */
export function pathTo<State, Action>(
  node: SearchNode<State, Action>,
): readonly SearchNode<State, Action>[] {
  expectNode('node', node);
  const path: SearchNode<State, Action>[] = [];
  for (
    let current: SearchNode<State, Action> | undefined = node;
    current !== undefined;
    current = current.parent
  ) {
    path.push(current);
  }
  return path.reverse();
}

/** The actions from the root to `node`. */
export function actionsTo<State, Action>(node: SearchNode<State, Action>): readonly Action[] {
  return pathTo(node).flatMap((step) => (step.kind === 'root' ? [] : [step.action]));
}

/** The return of a finished path: see `SearchTree.score`. */
export function scoreOf(node: SearchNode, discount: number): number | undefined {
  const evaluated = node.about === 'action' ? undefined : node.rawValue;
  const ahead = node.reward === undefined ? (node.outcome?.value ?? evaluated) : 0;
  return ahead === undefined ? undefined : returnOf(node, ahead, discount);
}

/**
 * The promise of a path: the rewards on the way to a node plus, unless it is a rewarded end, its evaluation. Each edge
 * after the first is discounted once more by γ.
 */
export function promiseOf(node: SearchNode, discount: number): number {
  expectObject('node', node);
  const { parent, terminal, reward, rawValue = 0, about } = node;
  const isRewardedEnd = terminal && reward !== undefined;
  // Q(s, a) already includes the reward of its edge.
  return parent !== undefined && about === 'action' && !isRewardedEnd
    ? returnOf(parent, rawValue, discount)
    : returnOf(node, isRewardedEnd ? 0 : rawValue, discount);
}

/** The discounted return at the root, given the return from a node on. */
function returnOf(node: SearchNode, ahead: number, discount: number): number {
  let sum = ahead;
  for (let at: SearchNode | undefined = node; at !== undefined; at = at.parent) {
    sum = (at.reward ?? 0) + (at.parent === undefined ? 1 : discount) * sum;
  }
  return sum;
}
