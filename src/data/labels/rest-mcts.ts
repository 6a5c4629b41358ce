import { expectOptions } from '../../base/expect-options.ts';
import type { ChildNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import { type Paths, pathsIn } from '../paths.ts';
import { isEnd, isRight, type TreeRecord } from '../record.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import { type StepLabelOptions, stepwiseRule } from './stepwise-rule.ts';

/**
 * Value targets of ReST-MCTS*: the progress of a step towards a right end.
 *
 * - Soft, from V = 0 at the root on: `V′ = max(0, V + (1 − V) · r / m)`, with r = 1 on the way to a right end and −1 off it, where m is the number of steps from this one to the
 *   nearest right end below it, itself and that end included; of a step off the way, m of the nearest step above
 *   it that is on the way.
 * - Hard, and the rating as 1 or −1: a right end is at the step or below it.
 *
 * A tree without a right end has no m, and gives no rows. Unlike in the reference code, a step without a scored end
 * below is not treated as wrong: it ends the row.
 *
 * @see Zhang et al., "ReST-MCTS*: LLM Self-Training via Process Reward Guided Tree Search", 2024
 * (arXiv 2406.03816), section 3.1, equations 1 and 2, with m as in the reference code.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function restMcts(
  options: Pick<StepLabelOptions, 'delimiter' | 'paths'> = {},
): RowRule<StepwiseRow> {
  expectOptions('restMcts', options, 'paths delimiter');
  return stepwiseRule({
    name: 'rest-mcts',
    title: 'how far each step has come to a right end',
    paper: 'Zhang et al., 2024, arXiv 2406.03816',
    options,
    labels(record, shareOf) {
      const paths = pathsIn(record);
      const targets = targetsOf(record, paths);
      return (node) => {
        const target = targets[paths.stepOf(node).id];
        if (target === undefined || shareOf(node) === undefined) return undefined;
        const { value, isOnWay } = target;
        return { value, label: isOnWay, rating: isOnWay ? 1 : -1 };
      };
    },
  });
}

/**
 * `V′ = max(0, V + (1 − V) · r / m)`, with r = 1 for a step on the way to a right end and −1 for another.
 *
 * @param before - V before the step, in [0, 1].
 * @param distance - m, from 1 up.
 */
export function nextValue(before: number, distance: number, isOnWay: boolean): number {
  return Math.max(0, before + ((1 - before) * (isOnWay ? 1 : -1)) / distance);
}

interface Target {
  readonly value: number;
  readonly isOnWay: boolean;
  /** m of this node, or of the nearest one above that is on the way. */
  readonly distance: number;
}

/** By the id of the first node of each step; nothing at all where no end is right. */
function targetsOf<State, Action>(
  record: TreeRecord<State, Action>,
  { nodes, stepOf, to }: Paths<State, Action>,
): readonly (Target | undefined)[] {
  const distances = distancesOf(
    to(isEnd).filter((end) => isRight(record, end)),
    stepOf,
  );
  const ofRoot = distances[record.tree.root.id];
  const targets: (Target | undefined)[] = [];
  if (ofRoot === undefined) return targets;
  targets[record.tree.root.id] = { value: 0, isOnWay: true, distance: ofRoot };
  // Parents come before their children.
  for (const node of nodes) {
    const { id } = stepOf(node);
    const above = targets[stepOf(node.parent).id];
    if (above === undefined || targets[id] !== undefined) continue;
    const own = distances[id];
    const distance = own ?? above.distance;
    const value = nextValue(above.value, distance, own !== undefined);
    targets[id] = { value, isOnWay: own !== undefined, distance };
  }
  return targets;
}

/** m by the id of the first node of each step; none for what is off the way. */
function distancesOf<State, Action>(
  right: readonly ChildNode<State, Action>[],
  stepOf: Paths<State, Action>['stepOf'],
): readonly (number | undefined)[] {
  const distances: (number | undefined)[] = [];
  for (const end of right) {
    for (const node of pathTo<State, Action>(end)) {
      const { id } = stepOf(node);
      const distance = end.depth - node.depth + 1;
      distances[id] = Math.min(distances[id] ?? Number.POSITIVE_INFINITY, distance);
    }
  }
  return distances;
}
