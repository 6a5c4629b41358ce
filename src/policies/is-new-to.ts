import type { SearchNode } from '../contracts/node.ts';

/**
 * Returns a function that tells whether an action is new: no child of the node has it. Actions are compared as JSON.
 */
export function isNewTo<State, Action>(
  node: SearchNode<State, Action>,
): (action: Action) => boolean {
  if (node.children.length === 0) return () => true;
  const known = new Set(node.children.map(({ action }) => JSON.stringify(action)));
  return (action) => !known.has(JSON.stringify(action));
}
