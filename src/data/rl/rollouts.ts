import type { ChildNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import { pathCompletion, stepsOf } from '../path-completion.ts';
import { type Paths, pathsIn } from '../paths.ts';
import { rowBase } from '../provenance.ts';
import { isEnd, stepsTo, type TreeRecord } from '../record.ts';
import type { RolloutRow } from '../rows.ts';

/** A scored path. */
export interface Rollout<State, Action> {
  readonly record: TreeRecord<State, Action>;
  readonly end: ChildNode<State, Action>;
  /** The nodes below the root, down to the end. */
  readonly nodes: readonly ChildNode<State, Action>[];
  /** R, the score of the end. */
  readonly reward: number;
  /** The paths of its tree. */
  readonly paths: Paths<State, Action>;
}

/** All scored ends of the trees of a problem: its group. By tree, and then in the order of their ids. */
export function rolloutsOf<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
): readonly Rollout<State, Action>[] {
  return trees.flatMap((record) => {
    const paths = pathsIn(record);
    return paths.to(isEnd).flatMap((end): readonly Rollout<State, Action>[] => {
      const reward = record.tree.score(end);
      return reward === undefined ? [] : [{ record, end, nodes: stepsTo(end), reward, paths }];
    });
  });
}

/** The row of a rollout. */
export function rolloutRow<State, Action>(
  { record, end, reward }: Rollout<State, Action>,
  rule: string,
  credit: Pick<RolloutRow, 'advantages' | 'sampling' | 'stepAdvantages'>,
): RolloutRow {
  const { root } = record.tree;
  return {
    kind: 'rollout',
    ...rowBase(record, { rule, nodes: pathTo(end), from: root }),
    completion: pathCompletion(record, root, end),
    reward,
    group: record.problem,
    steps: stepsOf(record, end),
    ...credit,
  };
}

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
