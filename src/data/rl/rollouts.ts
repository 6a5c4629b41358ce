import { expectOneOf } from '../../base/expect.ts';
import type { ChildNode } from '../../contracts/node.ts';
import { pathTo } from '../../tree/summary.ts';
import { partsOf } from '../path-choice.ts';
import { pathCompletion, stepsOf } from '../path-completion.ts';
import { provenanceOf } from '../provenance.ts';
import { isEnd, promptAt, type TreeRecord } from '../record.ts';
import type { RolloutRow } from '../rows.ts';
import { pathLogprob } from './path-logprob.ts';

/** A scored path. */
export interface Rollout<State, Action> {
  /** The tree. */
  readonly record: TreeRecord<State, Action>;
  /** The place of the tree among those of the problem. */
  readonly tree: number;
  /** Its last node. */
  readonly end: ChildNode<State, Action>;
  /** The nodes below the root, down to the end. */
  readonly nodes: readonly ChildNode<State, Action>[];
  /** R, the score of the end. */
  readonly reward: number;
}

/** All scored ends of the trees of a problem: its group. By tree, and then in the order of their ids. */
export function rolloutsOf<State, Action>(
  trees: readonly TreeRecord<State, Action>[],
): readonly Rollout<State, Action>[] {
  return trees.flatMap((record, tree) =>
    partsOf(record).flatMap((end): readonly Rollout<State, Action>[] => {
      const reward = isEnd(end) ? record.tree.score(end) : undefined;
      if (reward === undefined) return [];
      const nodes = pathTo(end).flatMap((node) => (node.kind === 'root' ? [] : [node]));
      return [{ record, tree, end, nodes, reward }];
    }),
  );
}

/** What rules that make rollouts take. */
export interface RolloutOptions {
  /** How the paths were drawn, where the caller knows. @defaultValue as the trees show it: `samplingOf` */
  readonly sampling?: RolloutRow['sampling'];
  /** ε, what is added to a standard deviation before it divides: above 0. @defaultValue 1e-6 */
  readonly epsilon?: number;
}

/** Throws a usage error where `value` is given and no way of drawing. */
export function expectSampling(value: unknown): void {
  if (value !== undefined) expectOneOf('sampling', value, ['iid', 'search']);
}

/** What a row has besides its rollout. */
export type RolloutCredit = Pick<RolloutRow, 'advantages' | 'sampling' | 'stepAdvantages'> & {
  /** The name of the rule. */
  readonly rule: string;
};

/** The row of a rollout. */
export function rolloutRow<State, Action>(
  { record, end, reward }: Rollout<State, Action>,
  { rule, sampling, advantages, stepAdvantages }: RolloutCredit,
): RolloutRow {
  const { tree, tools, problem } = record;
  return {
    kind: 'rollout',
    prompt: promptAt(record, tree.root),
    ...(tools !== undefined && { tools }),
    completion: pathCompletion(record, tree.root, end),
    reward,
    group: problem,
    sampling,
    advantages,
    steps: stepsOf(record, end),
    stepAdvantages,
    logprob: pathLogprob(end),
    provenance: provenanceOf(record, { rule, nodes: pathTo(end), from: tree.root }),
  };
}
