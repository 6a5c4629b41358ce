import type { SearchNode } from '../contracts/node.ts';
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

/** Opens the nodes above one that is open again, as far as they were closed for want of it. */
export function openAbove<State, Action>(node: TreeNode<State, Action>): void {
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (above.status === 'failed' && hasFailedBelow(above)) above.set({ failure: undefined });
    else if (above.status !== 'solved') return;
    above.status = 'open';
  }
}

/** A node is solved once all its children are closed, and failed where failures left none of use. */
function closeIfDone<State, Action>(node: TreeNode<State, Action>): boolean {
  if (node.status !== 'open') return isClosed(node);
  if (!node.children.every((child) => isClosed(child))) return false;
  // A duplicate stands for its sibling: it neither failed nor is it known.
  const { children } = node;
  const isKnown = children.some(({ status }) => status === 'solved' || status === 'terminal');
  const failed = isKnown ? undefined : children.find(({ status }) => status === 'failed');
  if (failed === undefined) {
    node.status = 'solved';
  } else {
    node.status = 'failed';
    node.set({ failure: { kind: 'empty', message: causeBelow(failed) } });
  }
  return true;
}

/** Names what failed first, however far below: not that it failed because something below it did. */
function causeBelow<State, Action>(failed: TreeNode<State, Action>): string {
  const message = failed.failure?.message ?? 'no reason is known.';
  return hasFailedBelow(failed)
    ? message
    : `All of its children failed, the first of them: ${message}`;
}

/** Whether a node failed only because all its children did: the failure is theirs. */
export function hasFailedBelow({
  status,
  complete,
  children,
  failure,
}: Pick<SearchNode, 'status' | 'complete' | 'failure'> & {
  readonly children: readonly unknown[];
}): boolean {
  return status === 'failed' && complete && children.length > 0 && failure?.kind === 'empty';
}
