import { EspalierError } from '../base/errors.ts';
import type { NodeWithState, SearchNode } from '../contracts/node.ts';

/** A node to be expanded. @throws EspalierError `usage` if it has no state yet. */
export function withState<State, Action>(
  node: SearchNode<State, Action>,
): NodeWithState<State, Action> {
  if (node.kind !== 'proposed') return node;
  throw new EspalierError('usage', 'Expected a node with a state, got a proposed one.');
}
