import type { ChildNode, SearchNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import type { Paths } from '../paths.ts';

/** A step of a walk through a tree: an action that is taken, or the way back to a node above. */
export type Move<State, Action> =
  | { readonly kind: 'action'; readonly to: ChildNode<State, Action> }
  | {
      readonly kind: 'back';
      readonly from: SearchNode<State, Action>;
      readonly to: SearchNode<State, Action>;
    };

/**
 * One walk that comes to some nodes in order, starting at the root. A node that follows itself counts once. Where the
 * next node is below neither the last one nor one that shares its place, the walk goes back to what both have in common.
 * An action that led to a terminal state is left out where the walk would go back from there: nothing can follow it.
 */
export function movesThrough<State, Action>(
  root: SearchNode<State, Action>,
  nodes: readonly ChildNode<State, Action>[],
  placeOf: Paths<State, Action>['placeOf'],
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
    const ancestor = lastCommon(way, pathTo<State, Action>(here), placeOf);
    if (placeOf(ancestor) !== placeOf(here)) goBack(moves, here, ancestor);
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

/** The last node of one way of which the place is on the other one too. */
function lastCommon<State, Action>(
  one: readonly SearchNode<State, Action>[],
  other: readonly SearchNode<State, Action>[],
  placeOf: Paths<State, Action>['placeOf'],
): SearchNode<State, Action> {
  const parting = one.findIndex((node, depth) => {
    const beside = other[depth];
    return beside === undefined || placeOf(node) !== placeOf(beside);
  });
  const common = one[parting < 0 ? one.length - 1 : parting - 1];
  // Both start at the root.
  return common ?? (one[0] as SearchNode<State, Action>);
}
