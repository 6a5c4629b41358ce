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

/** A node is solved once all its children are closed, and failed where failures left none of use. */
function closeIfDone<State, Action>(node: TreeNode<State, Action>): boolean {
  if (node.status !== 'open') return isClosed(node);
  if (!node.children.every((child) => isClosed(child))) return false;
  // A duplicate stands for its sibling: it neither failed nor is it known.
  const { children } = node;
  const isKnown = children.some(({ status }) => status === 'solved' || status === 'terminal');
  if (!isKnown && children.some(({ status }) => status === 'failed')) {
    node.status = 'failed';
    node.set({ failure: { kind: 'empty', message: 'All of its children failed.' } });
  } else {
    node.status = 'solved';
  }
  return true;
}
