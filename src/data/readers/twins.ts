import type { ChildNode } from '../../contracts/node.ts';
import type { SearchTree } from '../../tree/tree.ts';

/**
 * Puts aside each of some siblings that says the same as an earlier one, as a search does. What stands below it
 * stays: it was reached.
 *
 * @param keyed - The siblings in order, with what they say; of equal ones the first is kept.
 */
export function mergeTwins<State, Action>(
  tree: SearchTree<State, Action>,
  keyed: readonly (readonly [key: string, node: ChildNode<State, Action>])[],
): void {
  const first = new Map<string, ChildNode<State, Action>>();
  for (const [key, node] of keyed) {
    const twin = first.get(key);
    if (twin === undefined) first.set(key, node);
    else tree.merge(node, twin);
  }
}
