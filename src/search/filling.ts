import type { SearchNode } from '../contracts/node.ts';
import { hasFailedBelow, hasFailedToGrow } from '../tree/closing.ts';
import { isOut } from '../tree/selection.ts';
import type { SearchTree } from '../tree/tree.ts';

/**
 * The nodes that may be asked for further actions, those with the fewest samples first: they have been expanded, and nothing
 * from where the world stands to them was put aside.
 *
 * @param all - Whether that includes nodes which their algorithm may ask again by itself.
 */
export function fillable<State, Action>(
  tree: SearchTree<State, Action>,
  all: boolean,
): readonly SearchNode<State, Action>[] {
  const found: SearchNode<State, Action>[] = [];
  const stack = [tree.cursor];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const hasFailed = hasFailedToGrow(node);
    if (isOut(node) && !hasFailed && !hasFailedBelow(node)) continue;
    stack.push(...node.children);
    if (hasFailed || (node.children.length > 0 && (all || node.complete))) found.push(node);
  }
  return found.sort((a, b) => a.samples - b.samples || a.id - b.id);
}
