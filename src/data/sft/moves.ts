import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';

/** A step of a walk through a tree: an action that is taken, or the way back to a node above. */
export type Move<State, Action> =
  | { readonly kind: 'action'; readonly to: ChildNode<State, Action> }
  | {
      readonly kind: 'back';
      readonly from: SearchNode<State, Action>;
      readonly to: SearchNode<State, Action>;
    };

/**
 * One walk that comes to some nodes in order, starting at the root. A node that follows itself counts once. Where
 * the next node is not below the last one, the walk goes back to what both have in common. An action that led to a
 * terminal state is left out where the walk would go back from there: nothing can follow it.
 */
export function movesThrough<State, Action>(
  root: SearchNode<State, Action>,
  nodes: readonly ChildNode<State, Action>[],
): readonly Move<State, Action>[] {
  const moves: Move<State, Action>[] = [];
  let here = root;
  for (const target of nodes) {
    if (target === here) continue;
    const way = pathTo<State, Action>(target);
    if (here.terminal && moves.at(-1)?.to === here) {
      moves.pop();
      here = here.parent ?? root;
    }
    const ancestor = lastCommon(pathTo<State, Action>(here), way);
    if (ancestor !== here) goBack(moves, here, ancestor);
    for (const to of way.slice(ancestor.depth + 1)) {
      if (to.kind !== 'root') moves.push({ kind: 'action', to });
    }
    here = target;
  }
  return moves;
}

/** Two ways back, one behind the other, are one. */
function goBack<State, Action>(
  moves: Move<State, Action>[],
  from: SearchNode<State, Action>,
  to: SearchNode<State, Action>,
): void {
  const last = moves.at(-1);
  if (last?.kind === 'back') moves.pop();
  moves.push({ kind: 'back', from: last?.kind === 'back' ? last.from : from, to });
}

function lastCommon<State, Action>(
  one: readonly SearchNode<State, Action>[],
  other: readonly SearchNode<State, Action>[],
): SearchNode<State, Action> {
  const parting = one.findIndex((node, place) => node !== other[place]);
  const common = one[parting < 0 ? one.length - 1 : parting - 1];
  // Both start at the root.
  return common ?? (one[0] as SearchNode<State, Action>);
}
