import { expectFunction, expectNumber, expectOneOf } from '../../base/expect.ts';
import type { RolloutRow, RowRule } from '../rows.ts';
import {
  type CreditOptions,
  type PathEstimator,
  pathEstimators,
  type StepEstimator,
  stepEstimators,
} from './estimators.ts';
import { expectSampling, type RolloutOptions, rolloutRow, rolloutsOf } from './rollouts.ts';
import { samplingOf } from './sampling-of.ts';

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

/** Options of `rlRules.treeAdvantages`. */
export interface TreeAdvantagesOptions extends RolloutOptions {
  /** Which estimators. @defaultValue all */
  readonly estimators?: readonly Estimator[];
  /** γ of the returns of `gigpo`: in [0, 1]. @defaultValue 0.95, the paper's */
  readonly discount?: number;
  /** ω, the weight of the step in `gigpo`: from 0 up. @defaultValue 1, the paper's */
  readonly omega?: number;
  /** What tells states apart for `salt` and `gigpo`. @defaultValue the prompt at the state */
  readonly stateKey?: (state: unknown) => string;
}

/**
 * Paths with the credit that the tree gives them and their steps, under named estimators. The ends of all trees of
 * a problem are one group. Each end counts once, however often it was visited.
 *
 * @see Hou et al., "TreeRL", 2025; Li et al., "TreePO", 2025; Ji et al., "Tree Search for LLM Agent Reinforcement
 * Learning", 2025; Feng et al., "Group-in-Group Policy Optimization for LLM Agent Training", 2025; Li et al., "SALT", 2025.
 * Where each estimator departs from its paper stands with it.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function treeAdvantages(options: TreeAdvantagesOptions = {}): RowRule<RolloutRow> {
  const { estimators = [...pathNames, ...stepNames], sampling } = options;
  const credit = creditOptions(options);
  for (const name of estimators) expectOneOf('estimators', name, [...pathNames, ...stepNames]);
  expectSampling(sampling);
  const ofPaths = pathNames.filter((name) => estimators.includes(name));
  const ofSteps = stepNames.filter((name) => estimators.includes(name));
  return {
    name: 'tree-advantages',
    kind: 'rollout',
    *rows(trees) {
      const rollouts = rolloutsOf(trees);
      const drawn = sampling ?? samplingOf(trees);
      const group = { rollouts, trees, options: credit };
      const paths = ofPaths.map((name) => [name, pathEstimators[name](group)] as const);
      const steps = ofSteps.map((name) => [name, stepEstimators[name](group)] as const);
      for (const [place, rollout] of rollouts.entries()) {
        yield rolloutRow(rollout, {
          rule: 'tree-advantages',
          sampling: drawn,
          advantages: Object.fromEntries(paths.map(([name, all]) => [name, all[place] ?? 0])),
          stepAdvantages: Object.fromEntries(steps.map(([name, all]) => [name, all[place] ?? []])),
        });
      }
    },
  };
}

const pathNames = Object.keys(pathEstimators) as readonly PathEstimator[];
const stepNames = Object.keys(stepEstimators) as readonly StepEstimator[];

function creditOptions(options: TreeAdvantagesOptions): CreditOptions {
  const { epsilon = 1e-6, discount = 0.95, omega = 1, stateKey } = options;
  expectNumber('epsilon', epsilon, { min: Number.MIN_VALUE });
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectNumber('omega', omega, { min: 0 });
  if (stateKey !== undefined) expectFunction('stateKey', stateKey);
  return { epsilon, discount, omega, stateKey };
}
