import type { Failure } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { TreeNode } from './node.ts';
import { isClosed } from './selection.ts';

/** Closes a node that has nothing left to learn, and then whatever that closes above it. */
export function closeFrom<State, Action>(node: TreeNode<State, Action>): void {
  if (node.complete) closeIfDone(node);
  if (isClosed(node)) closeAbove(node);
}

/** Closes the nodes above one that has just been closed, as long as nothing is left to learn there. */
export function closeAbove<State, Action>(node: TreeNode<State, Action>): void {
  for (let above = node.parent; above?.complete === true; above = above.parent) {
    if (!closeIfDone(above)) return;
  }
}

/** Reopens the nodes above a reopened one that were closed because of it. */
export function openAbove<State, Action>(node: TreeNode<State, Action>): void {
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (hasFailedBelow(above) || hasFailedToGrow(above)) above.set({ failure: undefined });
    else if (above.status !== 'closed') return;
    above.status = 'open';
    above.exact = false;
  }
}

/** A node closes once all its children are closed, and fails if no usable child is left. */
function closeIfDone<State, Action>(node: TreeNode<State, Action>): boolean {
  if (node.status !== 'open') return isClosed(node);
  if (!node.children.every((child) => isClosed(child))) return false;
  // A duplicate counts as its sibling: neither failed nor explored.
  const { children } = node;
  const isKnown = children.some(({ status }) => status === 'closed' || status === 'terminal');
  const failed = isKnown ? undefined : children.find(({ status }) => status === 'failed');
  if (failed === undefined) {
    node.status = 'closed';
    node.exact = isExact(node);
  } else {
    node.status = 'failed';
    node.set({ failure: { kind: 'empty', message: causeBelow(failed) } });
  }
  return true;
}

/** Whether everything below a closed node is explored, without failures. */
function isExact({
  children,
  failedProposals,
}: Pick<TreeNode<unknown, unknown>, 'children' | 'failedProposals'>): boolean {
  return (
    children.length > 0 &&
    failedProposals.length === 0 &&
    children.every(
      ({ status, exact, duplicateOf }) =>
        status === 'terminal' || exact || duplicateOf !== undefined,
    )
  );
}

/** Names the root cause, however far below, not the failures that followed from it. */
function causeBelow<State, Action>(failed: TreeNode<State, Action>): string {
  const message = failed.failure?.message ?? 'no reason is known.';
  return hasFailedBelow(failed) ? message : `All continuations failed, the first with: ${message}`;
}

/** Whether a node failed because none of its samples could be used. */
export function hasFailedToGrow({
  status,
  failure,
  failedProposals,
}: Pick<SearchNode, 'status' | 'failure' | 'failedProposals'>): boolean {
  const isWhy = ({ kind, message }: Failure) =>
    kind === failure?.kind && message === failure.message;
  return status === 'failed' && failedProposals.some(isWhy);
}

/** Whether a node failed only because all its children did. */
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
