import type { TreeNode } from './node.ts';
import { isClosed } from './selection.ts';

/** Closes a node that has nothing left to learn, and then whatever that closes above it. */
export function closeFrom<State, Action>(node: TreeNode<State, Action>): void {
  if (node.complete) closeIfDone(node);
  if (isClosed(node)) closeAbove(node);
}

/** Closes the nodes above one that has just been closed, as far as nothing is left to learn there. */
export function closeAbove<State, Action>(node: TreeNode<State, Action>): void {
  for (let above = node.parent; above?.complete === true; above = above.parent) {
    if (!closeIfDone(above)) return;
  }
}

/** A node is solved once all its children are closed, and failed once all of them failed. */
function closeIfDone<State, Action>(node: TreeNode<State, Action>): boolean {
  if (node.status !== 'open') return isClosed(node);
  if (!node.children.every((child) => isClosed(child))) return false;
  const { children } = node;
  if (children.length > 0 && children.every(({ status }) => status === 'failed')) {
    node.status = 'failed';
    node.set({ failure: { kind: 'empty', message: 'All of its children failed.' } });
  } else {
    node.status = 'solved';
  }
  return true;
}
