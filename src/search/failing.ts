import type { Failure } from '../spec/failure.ts';
import type { SearchNode } from '../spec/node.ts';
import type { SearchSession } from './session.ts';

/** Marks a node as failed and says so. */
export function failNode<State, Action>(
  { tree, emit }: Pick<SearchSession<State, Action>, 'tree' | 'emit'>,
  node: SearchNode<State, Action>,
  failure: Failure,
): void {
  tree.fail(node, failure);
  emit?.({ type: 'node-failed', node, failure });
}
