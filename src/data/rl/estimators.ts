import { contentAddress } from '../../base/canonical-json.ts';
import type { ChildNode, SearchNode } from '../../contracts/node.ts';
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

/** The numbers of all estimators. */
export interface CreditOptions {
  /** ε of a z-score. */
  readonly epsilon: number;
  /** γ of GiGPO. */
  readonly discount: number;
  /** ω of GiGPO. */
  readonly omega: number;
  /** What tells states apart. */
  readonly stateKey: ((state: unknown) => string) | undefined;
}

/** All that estimators look at. */
export interface CreditGroup<State, Action> {
  /** The trees of the problem. */
  readonly trees: readonly TreeRecord<State, Action>[];
  /** Their scored ends, by tree. */
  readonly rollouts: readonly Rollout<State, Action>[];
  /** The numbers. */
  readonly options: CreditOptions;
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
    const steps = group.rollouts.map(({ record, tree, nodes }) =>
      nodes.map((node) =>
        JSON.stringify([keyOf(tree, node.parent), record.notation.format(node.action)]),
      ),
    );
    return saltAdvantages(pathEstimators.grpo(group), steps);
  },
  'gigpo-step'(group) {
    const keyOf = keysOf(group);
    const { epsilon, discount } = group.options;
    const anchors = group.rollouts.map(({ tree, nodes }) =>
      nodes.map(({ parent }) => keyOf(tree, parent)),
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
  return trees.map((_, tree) => rollouts.filter((rollout) => rollout.tree === tree));
}

/** r of each step. What the end is worth beyond the rewards before it comes with the last one. */
function rewardsOf<State, Action>({ nodes, reward }: Rollout<State, Action>): readonly number[] {
  const rewards = nodes.slice(0, -1).map((node) => node.reward ?? 0);
  const before = rewards.reduce((sum, own) => sum + own, 0);
  return [...rewards, reward - before];
}

/** V(n) by node id, of each tree. */
function valuesOf<State, Action>(
  group: CreditGroup<State, Action>,
): readonly (readonly (SubtreeReturn | undefined)[])[] {
  const rollouts = byTree(group);
  return group.trees.map(({ tree }, place) => {
    const returns = new Map((rollouts[place] ?? []).map(({ end, reward }) => [end.id, reward]));
    const parents = [...tree.nodes()].map(({ parent }) => parent?.id ?? 0);
    return subtreeReturns(parents, returns);
  });
}

function ofSteps<State, Action>(
  group: CreditGroup<State, Action>,
  advantage: (step: StepValues) => number,
): readonly (readonly number[])[] {
  const values = valuesOf(group);
  return group.rollouts.map(({ tree, nodes }) => {
    const own = values[tree] ?? [];
    const valueAt = (id: number) => own[id]?.value ?? 0;
    return nodes.map(({ id, parent }) =>
      advantage({
        value: valueAt(id),
        parent: valueAt(parent.id),
        root: valueAt(0),
        leaves: own[id]?.leaves ?? 1,
      }),
    );
  });
}

/** The z-score of V(n) among the siblings that have one. */
function siblingScores<State, Action>(
  group: CreditGroup<State, Action>,
): readonly (readonly number[])[] {
  const values = valuesOf(group);
  const { epsilon } = group.options;
  const scoresBelow = values.map((own) => {
    const known = new Map<number, ReadonlyMap<number, number>>();
    return (parent: SearchNode<State, Action>): ReadonlyMap<number, number> => {
      const scores = known.get(parent.id) ?? scoresOf(parent.children, own, epsilon);
      known.set(parent.id, scores);
      return scores;
    };
  });
  return group.rollouts.map(({ tree, nodes }) =>
    nodes.map(({ id, parent }) => scoresBelow[tree]?.(parent).get(id) ?? 0),
  );
}

function scoresOf(
  children: readonly ChildNode[],
  values: readonly (SubtreeReturn | undefined)[],
  epsilon: number,
): ReadonlyMap<number, number> {
  const valued = children.flatMap(({ id }) => {
    const own = values[id];
    return own === undefined ? [] : [{ id, value: own.value }];
  });
  const scores = zScores(
    valued.map(({ value }) => value),
    epsilon,
  );
  return new Map(valued.map(({ id }, place) => [id, scores[place] ?? 0]));
}

function treePo<State, Action>(
  group: CreditGroup<State, Action>,
  weighted: boolean,
): readonly number[] {
  return byTree(group).flatMap((rollouts) => {
    const groups = new Map<number, number[]>();
    const pathOf = ({ nodes }: Rollout<State, Action>) => [0, ...nodes.map(({ id }) => id)];
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
  trees,
  options,
}: CreditGroup<State, Action>): (tree: number, node: SearchNode<State, Action>) => string {
  const known = trees.map(() => new Map<number, string>());
  return (tree, node) => {
    const record = trees[tree];
    const own = known[tree]?.get(node.id);
    if (own !== undefined || record === undefined) return own ?? '';
    const key =
      options.stateKey?.(node.state) ?? contentAddress(JSON.stringify(promptAt(record, node)));
    known[tree]?.set(node.id, key);
    return key;
  };
}
