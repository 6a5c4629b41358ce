import { EspalierError } from '../base/errors.ts';
import type { SearchNode } from '../contracts/node.ts';

/** The state of a node that is to be expanded. @throws EspalierError `usage` where it has none yet. */
export function stateOf<State, Action>(node: SearchNode<State, Action>): State {
  if (node.kind === 'proposed') {
    throw new EspalierError('usage', 'Expected a node with a state, got a proposed one.');
  }
  return node.state;
}
