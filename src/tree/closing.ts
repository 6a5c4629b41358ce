import type { Failure } from '../contracts/failure.ts';
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
    if (hasFailedBelow(above) || hasFailedToGrow(above)) above.set({ failure: undefined });
    else if (above.status !== 'closed') return;
    above.status = 'open';
    above.exact = false;
  }
}

/** A node is closed once all its children are, and has failed where failures left none of use. */
function closeIfDone<State, Action>(node: TreeNode<State, Action>): boolean {
  if (node.status !== 'open') return isClosed(node);
  if (!node.children.every((child) => isClosed(child))) return false;
  // A duplicate stands for its sibling: it neither failed nor is it known.
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

/** Whether all below a closed node is known, and nothing was lost on the way. */
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

/** Names what failed first, however far below: not that it failed because something below it did. */
function causeBelow<State, Action>(failed: TreeNode<State, Action>): string {
  const message = failed.failure?.message ?? 'no reason is known.';
  return hasFailedBelow(failed) ? message : `Every way on failed, the first with: ${message}`;
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
