import { EspalierError } from '../spec/errors.ts';
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

/** What an error thrown by a plug-in means for the node it was working on. */
export function failureOf(error: unknown, kind: Failure['kind']): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const code = EspalierError.isInstance(error) ? error.code : undefined;
  return { kind: code === 'interrupted' || code === 'unrecorded' ? code : kind, message };
}
