import type { NodeStatistics } from '../spec/node.ts';

/** Picks the action to take once the search is over. Pure. */
export type FinalChoice = <Node extends NodeStatistics>(
  children: readonly Node[],
) => Node | undefined;

/**
 * The child with the most visits; ties go to the higher value, then to the first. Where solved subtrees
 * are not visited again, a value says more than a count: then prefer {@link maxChild}.
 *
 * @see Chaslot, Winands, van den Herik, Uiterwijk, Bouzy, "Progressive Strategies for Monte-Carlo Tree
 * Search", 2008, section 2.4.
 */
export const robustChild: FinalChoice = (children) =>
  greatest(children, (a, b) => a.visits - b.visits || a.value - b.value);

/** The visited child with the highest value; ties go to more visits, then to the first. */
export const maxChild: FinalChoice = (children) =>
  greatest(children, (a, b) => a.value - b.value || a.visits - b.visits);

/**
 * The {@link robustChild}, unless a child below which everything is known can return at least as much: it is not
 * visited again, so that its visits say nothing, and its mean still holds the guesses on the way.
 */
export const robustOrSolvedChild: FinalChoice = (children) => {
  const robust = robustChild(children);
  const solved = greatest(children.filter(isKnown), (a, b) => bestReturn(a) - bestReturn(b));
  if (robust === undefined || solved === undefined) return robust;
  const expected = isKnown(robust) ? bestReturn(robust) : robust.value;
  return bestReturn(solved) >= expected ? solved : robust;
};

function isKnown({ status }: NodeStatistics): boolean {
  return status === 'solved' || status === 'terminal';
}

/** The best that can come of a node below which everything is known: its reward and that of the best way on. */
function bestReturn({ children, reward = 0, value }: NodeStatistics): number {
  const known = children.filter((child) => child.visits > 0 && isKnown(child));
  return known.length === 0 ? value : reward + Math.max(...known.map(bestReturn));
}

function greatest<Node extends NodeStatistics>(
  nodes: readonly Node[],
  compare: (a: Node, b: Node) => number,
): Node | undefined {
  let best: Node | undefined;
  for (const node of nodes) {
    if (node.visits === 0) continue;
    if (best === undefined || compare(node, best) > 0) best = node;
  }
  return best;
}
