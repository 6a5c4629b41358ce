import { expectArray, expectation } from '../base/expect.ts';
import type { NodeStatistics, SearchNode } from '../contracts/node.ts';
import { type Explained, named } from './rules.ts';
import { isOut, subtree } from './selection.ts';
import { promiseOf } from './summary.ts';

/** Picks the action to take once the search is over. `discount` is γ, default 1. Pure. */
export type FinalChoice = Explained &
  (<Node extends NodeStatistics>(children: readonly Node[], discount?: number) => Node | undefined);

/**
 * The child with the most visits; ties go to the higher value, then to the first. If closed subtrees are not revisited,
 * values say more than counts: prefer {@link maxChild}.
 *
 * @see Chaslot, Winands, van den Herik, Uiterwijk, Bouzy, "Progressive Strategies for Monte-Carlo Tree
 * Search", 2008, section 2.4.
 */
export const robustChild: FinalChoice = choosing('robustChild', 'visits', (children) =>
  greatest(children, (a, b) => a.visits - b.visits || a.value - b.value),
);

/** The visited child with the highest value; ties go to more visits, then to the first. */
export const maxChild: FinalChoice = choosing('maxChild', 'value', (children) =>
  greatest(children, (a, b) => a.value - b.value || a.visits - b.visits),
);

/** A choice by one statistic of the children, with ties broken by another. */
function choosing(name: string, by: 'value' | 'visits', choice: FinalChoice): FinalChoice {
  const explain = () => (child: NodeStatistics) => {
    const { value, visits } = child;
    return { total: child[by], terms: { value, visits } };
  };
  return named(name, {}, Object.assign(choice, { explain }));
}

/**
 * The {@link robustChild}, unless a fully explored child can return at least as much: it is not revisited, so its
 * visits say nothing, and its mean still includes early estimates.
 */
export const robustOrSolvedChild: FinalChoice = (children, discount = 1) => {
  const robust = robustChild(children);
  const returns = new Map<NodeStatistics, number>();
  for (const child of children.filter(isKnown)) returns.set(child, bestReturn(child, discount));
  const returnOf = (node: NodeStatistics) => returns.get(node) ?? node.value;
  const solved = greatest(children.filter(isKnown), (a, b) => returnOf(a) - returnOf(b));
  if (robust === undefined || solved === undefined) return robust;
  return returnOf(solved) >= returnOf(robust) ? solved : robust;
};

function isKnown({ status }: NodeStatistics): boolean {
  return status === 'closed' || status === 'terminal';
}

/** The best return of a fully explored node: its reward plus that of the best path below. */
function bestReturn(top: NodeStatistics, discount: number): number {
  const returns = new Map<NodeStatistics, number>();
  // Parents first, then processed backwards: paths may be longer than the call stack is deep.
  const nodes = [top];
  for (const node of nodes) for (const child of knownBelow(node)) nodes.push(child);
  for (const node of nodes.toReversed()) {
    let best = Number.NEGATIVE_INFINITY;
    for (const child of knownBelow(node)) best = Math.max(best, returns.get(child) ?? best);
    const isEnd = best === Number.NEGATIVE_INFINITY;
    returns.set(node, isEnd ? node.value : (node.reward ?? 0) + discount * best);
  }
  return returns.get(top) ?? top.value;
}

function knownBelow({ children }: NodeStatistics): readonly NodeStatistics[] {
  return children.filter((child) => child.visits > 0 && isKnown(child));
}

function greatest<Node extends NodeStatistics>(
  nodes: readonly Node[],
  compare: (a: Node, b: Node) => number,
): Node | undefined {
  expectArray('nodes', nodes);
  let best: Node | undefined;
  for (const node of nodes as readonly (Node | null | undefined)[]) {
    if (!node) throw expectation('nodes', 'nodes of a tree', node);
    if (node.visits === 0) continue;
    if (best === undefined || compare(node, best) > 0) best = node;
  }
  return best;
}

/**
 * The best guess of a search without ends: the end of the most visited path; without visits, the most promising node,
 * ties going to the deepest and then to the first.
 */
export function bestBet<State, Action>(
  from: SearchNode<State, Action>,
  discount: number,
): SearchNode<State, Action> {
  if (from.visits === 0) return unvisitedBet(from, discount);
  let node = from;
  for (;;) {
    const next = robustChild(node.children.filter(({ status }) => status !== 'pruned'));
    if (next === undefined) return node;
    node = next;
  }
}

function unvisitedBet<State, Action>(
  from: SearchNode<State, Action>,
  discount: number,
): SearchNode<State, Action> {
  const nodes = [...subtree(from)].filter((node) => node.kind !== 'proposed' && !isOut(node));
  // A start that was not evaluated has no promise.
  const promise = (node: SearchNode) =>
    node === from && node.rawValue === undefined ? -Infinity : promiseOf(node, discount);
  return mostPromising(nodes, promise) ?? from;
}

/** The most promising node; ties go to the deepest, then to the first. */
export function mostPromising<Node extends SearchNode>(
  nodes: readonly Node[],
  promise: (node: Node) => number,
): Node | undefined {
  let best: Node | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const node of nodes) {
    const own = promise(node);
    if (best === undefined || own > most || (own === most && node.depth > best.depth)) {
      best = node;
      most = own;
    }
  }
  return best;
}
