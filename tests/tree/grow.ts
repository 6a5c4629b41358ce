import type { Random } from '../../src/contracts/context.ts';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { NodeStatistics, SearchNode } from '../../src/contracts/node.ts';
import { SearchTree } from '../../src/tree/tree.ts';

/** A tree whose states and actions are words. */
export type WordTree = SearchTree<string, string>;

/** A node of such a tree. */
export type WordNode = SearchNode<string, string>;

/** A tree that is only a root, in the state 'root'. */
export function plant(): WordTree {
  return new SearchTree('root', { environment: 'words', seed: 0 });
}

/** What a child is grown with. Its state is the state above it followed by its action. */
export interface ChildSpec {
  readonly prior?: number;
  readonly reward?: number;
  readonly value?: number;
  readonly terminal?: boolean;
  readonly answer?: boolean;
}

/** Adds a child, takes its action, and evaluates it where a value is given. */
export function grow(
  tree: WordTree,
  parent: WordNode,
  [action, { prior = 1, value, ...transition }]: readonly [string, ChildSpec],
): WordNode {
  const [child] = tree.add(parent, [{ action, prior }]);
  if (child === undefined) throw new Error('A child was added and not returned.');
  tree.realise(child, { state: `${parent.state ?? ''}/${action}`, ...transition });
  if (value !== undefined) tree.addEvaluation(child, evaluated(value));
  return child;
}

/** An evaluation that is nothing but its value. */
export function evaluated(value: number): Evaluation {
  return { value };
}

/** The numbers of a node, as a rule sees them: all at rest unless given. */
export function stats(changes: Partial<NodeStatistics> = {}): NodeStatistics {
  return {
    id: 0,
    depth: 0,
    samples: 0,
    visits: 0,
    value: 0,
    inFlight: 0,
    prior: 1,
    reward: undefined,
    rawValue: undefined,
    about: 'state',
    status: 'open',
    exact: false,
    terminal: false,
    answer: false,
    children: [],
    ...changes,
  };
}

/** A random source that must not be asked. */
export const noRandom: Random = {
  next: () => {
    throw new Error('This rule draws no random numbers.');
  },
  integer: () => {
    throw new Error('This rule draws no random numbers.');
  },
  split: () => noRandom,
};

/** A random source that gives these numbers in turn. */
export function scripted(...numbers: readonly number[]): Random {
  const left = [...numbers];
  const next = (): number => {
    const number = left.shift();
    if (number === undefined) throw new Error('The scripted numbers are used up.');
    return number;
  };
  return {
    next,
    integer: (limit) => Math.floor(next() * limit),
    split: () => scripted(...left),
  };
}

/** Sets the numbers of a node as if simulations had been backed up through it. */
export function setStatistics(
  tree: WordTree,
  node: WordNode,
  numbers: { readonly visits?: number; readonly value?: number; readonly inFlight?: number },
): void {
  Object.assign(tree.mutable(node.id), numbers);
}
