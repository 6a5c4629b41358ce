import { contentAddress } from '../../base/canonical-json.ts';
import type { SearchNode } from '../../contracts/node.ts';
import { promptAt, type TreeRecord } from '../record.ts';
import {
  anchorAdvantages,
  globalAdvantage,
  localAdvantage,
  type StepValues,
  type SubtreeReturn,
  saltAdvantages,
  stepReturns,
  subtreeReturns,
  treeGrpoAdvantages,
  treePoAdvantage,
  treeRlAdvantage,
  zScores,
} from './advantages.ts';
import type { Rollout } from './rollouts.ts';

/**
 * How credit is given. To whole paths:
 *
 * - `grpo`: the z-score of R among all ends of the problem.
 * - `tree-grpo`: the z-score within the tree plus that among all ends.
 * - `tree-po`, `tree-po-weighted`: the mean of `R − mean R` over the groups on the path, weighted by size or not.
 *
 * To steps, with V(n) the mean of R over the ends at n and below it:
 *
 * - `value`: V(n) itself.
 * - `local`, `global`: `V(n) − V(parent)`, `V(n) − V(root)`.
 * - `tree-rl`: `(local + global) / √|leaves(n)|`.
 * - `sibling`: the z-score of V(n) among siblings.
 * - `salt`: `grpo`, averaged over all paths that take the same action in the same state.
 * - `gigpo-step`: the z-score of G among all steps from the same state; `gigpo`: `grpo + ω · gigpo-step`.
 */
export type Estimator = PathEstimator | StepEstimator;

/** An estimator that gives credit to whole paths. */
export type PathEstimator = 'grpo' | 'tree-grpo' | 'tree-po' | 'tree-po-weighted';

/** An estimator that gives credit to steps. */
export type StepEstimator =
  | 'gigpo'
  | 'gigpo-step'
  | 'global'
  | 'local'
  | 'salt'
  | 'sibling'
  | 'tree-rl'
  | 'value';

/** All that estimators look at: the scored ends of the trees of a problem. */
export interface CreditGroup<State, Action> {
  readonly trees: readonly TreeRecord<State, Action>[];
  readonly rollouts: readonly Rollout<State, Action>[];
  readonly options: {
    /** ε of a z-score. */
    readonly epsilon: number;
    /** γ of GiGPO. */
    readonly discount: number;
    /** ω of GiGPO. */
    readonly omega: number;
    /** The key that distinguishes states. */
    readonly stateKey: ((state: unknown) => string) | undefined;
  };
}

type OfPaths = <State, Action>(group: CreditGroup<State, Action>) => readonly number[];
type OfSteps = <State, Action>(group: CreditGroup<State, Action>) => readonly (readonly number[])[];

/** A of each rollout, by the name of the estimator. */
export const pathEstimators: Readonly<Record<PathEstimator, OfPaths>> = {
  grpo: ({ rollouts, options }) => zScores(rollouts.map(rewardOf), options.epsilon),
  'tree-grpo': (group) =>
    treeGrpoAdvantages(
      byTree(group).map((own) => own.map(rewardOf)),
      group.options.epsilon,
    ).flat(),
  'tree-po': (group) => treePo(group, false),
  'tree-po-weighted': (group) => treePo(group, true),
};

/** A of each step of each rollout, by the name of the estimator. */
export const stepEstimators: Readonly<Record<StepEstimator, OfSteps>> = {
  value: (group) => ofSteps(group, ({ value }) => value),
  local: (group) => ofSteps(group, localAdvantage),
  global: (group) => ofSteps(group, globalAdvantage),
  'tree-rl': (group) => ofSteps(group, treeRlAdvantage),
  sibling: siblingScores,
  salt(group) {
    const keyOf = keysOf(group);
    const steps = group.rollouts.map(({ record, nodes }) =>
      nodes.map((node) =>
        JSON.stringify([keyOf(record, node.parent), record.notation.format(node.action).trim()]),
      ),
    );
    return saltAdvantages(pathEstimators.grpo(group), steps);
  },
  'gigpo-step'(group) {
    const keyOf = keysOf(group);
    const { epsilon, discount } = group.options;
    const anchors = group.rollouts.map(({ record, nodes }) =>
      nodes.map(({ parent }) => keyOf(record, parent)),
    );
    const returns = group.rollouts.map((rollout) => stepReturns(rewardsOf(rollout), discount));
    return anchorAdvantages(anchors, returns, epsilon);
  },
  gigpo(group) {
    const ofPaths = pathEstimators.grpo(group);
    return stepEstimators['gigpo-step'](group).map((steps, place) =>
      steps.map((step) => (ofPaths[place] ?? 0) + group.options.omega * step),
    );
  },
};

function rewardOf({ reward }: { readonly reward: number }): number {
  return reward;
}

function byTree<State, Action>({
  trees,
  rollouts,
}: CreditGroup<State, Action>): readonly (readonly Rollout<State, Action>[])[] {
  return trees.map((tree) => rollouts.filter(({ record }) => record === tree));
}

/**
 * The reward r of each step. The last one includes the worth of the end beyond the earlier rewards. The discount of the
 * tree plays no part: returns have their own.
 */
function rewardsOf<State, Action>({
  record,
  end,
  nodes,
}: Rollout<State, Action>): readonly number[] {
  const rewards = nodes.slice(0, -1).map((node) => node.reward ?? 0);
  const before = rewards.reduce((sum, own) => sum + own, 0);
  return [...rewards, (record.tree.score(end, 1) ?? 0) - before];
}

/** V(n) of the step of each node, by tree. */
function valuesOf<State, Action>(
  group: CreditGroup<State, Action>,
): (
  record: TreeRecord<State, Action>,
) => (node: SearchNode<State, Action>) => SubtreeReturn | undefined {
  const values = new Map(
    byTree(group).map((rollouts, place) => {
      const record = group.trees[place];
      const stepOf = rollouts[0]?.paths.stepOf ?? ((node) => node);
      const nodes = [...(record?.tree.nodes() ?? [])];
      const parents = nodes.map(({ parent }) => (parent === undefined ? 0 : stepOf(parent).id));
      const returns = new Map(rollouts.map(({ end, reward }) => [stepOf(end).id, reward]));
      const own = subtreeReturns(parents, returns);
      return [record, (node: SearchNode<State, Action>) => own[stepOf(node).id]] as const;
    }),
  );
  return (record) => values.get(record) ?? (() => undefined);
}

function ofSteps<State, Action>(
  group: CreditGroup<State, Action>,
  advantage: (step: StepValues) => number,
): readonly (readonly number[])[] {
  const valuesIn = valuesOf(group);
  return group.rollouts.map(({ record, nodes }) => {
    const own = valuesIn(record);
    const valueAt = (node: SearchNode<State, Action>) => own(node)?.value ?? 0;
    return nodes.map((node) =>
      advantage({
        value: valueAt(node),
        parent: valueAt(node.parent),
        root: valueAt(record.tree.root),
        leaves: own(node)?.leaves ?? 1,
      }),
    );
  });
}

/** The z-score of V(n) among the siblings that have one. */
function siblingScores<State, Action>(
  group: CreditGroup<State, Action>,
): readonly (readonly number[])[] {
  const valuesIn = valuesOf(group);
  type Scores = ReadonlyMap<SearchNode<State, Action>, number>;
  const known = new Map<SearchNode<State, Action>, Scores>();
  const scoresAt = (
    { record, paths }: Rollout<State, Action>,
    place: SearchNode<State, Action>,
  ): Scores => {
    const returnOf = valuesIn(record);
    const steps = new Set(paths.below(place).map(paths.stepOf));
    const valued = [...steps].filter((step) => returnOf(step) !== undefined);
    const scores = zScores(
      valued.map((step) => returnOf(step)?.value ?? 0),
      group.options.epsilon,
    );
    return new Map(valued.map((step, index) => [step, scores[index] ?? 0]));
  };
  return group.rollouts.map((rollout) =>
    rollout.nodes.map((node) => {
      const place = rollout.paths.placeOf(node.parent);
      const scores = known.get(place) ?? scoresAt(rollout, place);
      known.set(place, scores);
      return scores.get(rollout.paths.stepOf(node)) ?? 0;
    }),
  );
}

function treePo<State, Action>(
  group: CreditGroup<State, Action>,
  weighted: boolean,
): readonly number[] {
  return byTree(group).flatMap((rollouts) => {
    const groups = new Map<number, number[]>();
    const pathOf = ({ nodes, paths }: Rollout<State, Action>) => [
      0,
      ...nodes.map((node) => paths.stepOf(node).id),
    ];
    for (const rollout of rollouts) {
      for (const id of pathOf(rollout)) {
        const members = groups.get(id) ?? [];
        members.push(rollout.reward);
        groups.set(id, members);
      }
    }
    return rollouts.map((rollout) =>
      treePoAdvantage(
        rollout.reward,
        pathOf(rollout).map((id) => groups.get(id) ?? []),
        weighted,
      ),
    );
  });
}

/** The key of the state at a node: found once a node. */
function keysOf<State, Action>({
  options,
}: CreditGroup<State, Action>): (
  record: TreeRecord<State, Action>,
  node: SearchNode<State, Action>,
) => string {
  const known = new Map<SearchNode<State, Action>, string>();
  return (record, node) => {
    const key =
      known.get(node) ??
      options.stateKey?.(node.state) ??
      contentAddress(JSON.stringify(promptAt(record, node)));
    known.set(node, key);
    return key;
  };
}
