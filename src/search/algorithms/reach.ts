import type { SearchNode } from '../../spec/node.ts';
import type { SearchContext } from '../contracts.ts';

/**
 * Chooses a node and steps to its state, and chooses again where the state turned out to be that of a
 * sibling or could not be reached. It ends, because each such node is out of the choice.
 */
export function reach<State, Action, Node extends SearchNode<State, Action> | undefined>(
  context: Pick<SearchContext<State, Action>, 'realise'>,
  choose: () => Node,
): Node | Promise<Node> {
  const node = choose();
  if (node === undefined || node.kind !== 'proposed') return node;
  return context
    .realise([node])
    .then(() => (isUsable(node) ? node : reach<State, Action, Node>(context, choose)));
}

function isUsable({ status }: SearchNode): boolean {
  return status !== 'pruned' && status !== 'failed';
}
