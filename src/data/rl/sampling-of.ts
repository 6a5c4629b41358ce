import { isEnd, type TreeRecord } from '../record.ts';
import type { RolloutRow } from '../rows.ts';

/**
 * How the ends of some trees were drawn, as far as the trees themselves show it.
 *
 * `iid`, where each of them is a bundle of whole samples: it branches at the root alone, every branch was walked
 * once, and to a scored end or a failure; nothing was put aside, and no two samples were merged. Then no rule can
 * have chosen where to go on. Anything else is `search`: also the best of N, once two of its samples begin with
 * the same step, since equal ends then count once. Who knows better, says so.
 */
export function samplingOf<State, Action>(
  trees: readonly Pick<TreeRecord<State, Action>, 'tree'>[],
): RolloutRow['sampling'] {
  return trees.every(isBundle) ? 'iid' : 'search';
}

function isBundle<State, Action>({ tree }: Pick<TreeRecord<State, Action>, 'tree'>): boolean {
  return [...tree.nodes()].every((node) => {
    const { kind, status, visits, children, duplicateOf } = node;
    if (kind === 'root') return children.length > 0;
    if (duplicateOf !== undefined || status === 'pruned') return false;
    if (visits > 1 || children.length > 1) return false;
    if (children.length === 1) return !isEnd(node);
    return status === 'failed' || (isEnd(node) && tree.score(node) !== undefined);
  });
}
