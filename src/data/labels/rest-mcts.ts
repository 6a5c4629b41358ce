import { expectOptions } from '../../base/expect-options.ts';
import { pathTo } from '../../tree/summary.ts';
import { pathsIn } from '../paths.ts';
import { isEnd, isRight, type TreeRecord } from '../record.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import { type ProblemTrees, type StepLabelOptions, stepwiseRule } from './stepwise-rule.ts';

/**
 * Value targets of ReST-MCTS*: the progress of a step towards a right end.
 *
 * - Soft, from V = 0 at the root on: `V′ = max(0, V + (1 − V) · r / m)`, with r = 1 on the way to a right end and −1 off it, where m is the number of steps from this one to the
 *   nearest right end below it, itself and that end included; of a step off the way, m of the nearest step above
 *   it that is on the way.
 * - Hard, and the rating as 1 or −1: a right end is at the step or below it.
 *
 * A problem without a right end in any of its trees has no m, and gives no rows. Unlike in the reference code, a step without a scored end
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
    labels(problem, record, shareOf) {
      const targets = targetsOf(problem, record);
      const numberOf = problem.numbers(record);
      return (node) => {
        const target = targets[numberOf(node)];
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

/** By step; nothing at all where no end is right. */
function targetsOf<State, Action>(
  problem: ProblemTrees<State, Action>,
  record: TreeRecord<State, Action>,
): readonly (Target | undefined)[] {
  const numberOf = problem.numbers(record);
  const distances = distancesOf(problem);
  const root = numberOf(record.tree.root);
  const ofRoot = distances[root];
  const targets: (Target | undefined)[] = [];
  if (ofRoot === undefined) return targets;
  targets[root] = { value: 0, isOnWay: true, distance: ofRoot };
  // Parents come before their children.
  for (const node of pathsIn(record).nodes) {
    const step = numberOf(node);
    const above = targets[numberOf(node.parent)];
    if (above === undefined || targets[step] !== undefined) continue;
    const own = distances[step];
    const distance = own ?? above.distance;
    const value = nextValue(above.value, distance, own !== undefined);
    targets[step] = { value, isOnWay: own !== undefined, distance };
  }
  return targets;
}

type Distances = readonly (number | undefined)[];

/** Those of a problem are the same for all its trees. */
const known = new WeakMap<object, Distances>();

/** m of each step over all trees; none for what is off the way. */
function distancesOf<State, Action>(problem: ProblemTrees<State, Action>): Distances {
  const distances = known.get(problem) ?? countDistances(problem);
  known.set(problem, distances);
  return distances;
}

function countDistances<State, Action>({ trees, numbers }: ProblemTrees<State, Action>): Distances {
  const distances: (number | undefined)[] = [];
  for (const record of trees) {
    const numberOf = numbers(record);
    for (const end of pathsIn(record).to(isEnd)) {
      if (isRight(record, end) !== true) continue;
      for (const node of pathTo<State, Action>(end)) {
        const step = numberOf(node);
        const distance = end.depth - node.depth + 1;
        distances[step] = Math.min(distances[step] ?? Number.POSITIVE_INFINITY, distance);
      }
    }
  }
  return distances;
}
