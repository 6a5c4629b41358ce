import {
  expectArray,
  expectation,
  expectFunction,
  expectNumber,
  expectOneOf,
} from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { rowRule } from '../row-rule.ts';
import type { RolloutRow, RowRule, RuleInfo } from '../rows.ts';
import {
  type Estimator,
  type PathEstimator,
  pathEstimators,
  type StepEstimator,
  stepEstimators,
} from './estimators.ts';
import { rolloutRow, rolloutsOf, samplingOf } from './rollouts.ts';

/** Options common to the rules that make rollouts. */
export interface RolloutOptions {
  /** How the paths were drawn, if known. @defaultValue as the trees show it */
  readonly sampling?: RolloutRow['sampling'];
  /** ε, added to a standard deviation before division: above 0. @defaultValue 1e-6 */
  readonly epsilon?: number;
}

/**
 * All scored ends of the trees of a problem as one group of GRPO: `grpo` is the z-score of R among them.
 *
 * Each end counts once, however often it was visited. Ends drawn by a search are marked `search`: they are not samples
 * of the policy, and the mean of their returns is not its value.
 *
 * @see Shao et al., "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", 2024,
 * section 4.1.2.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function groups(options: RolloutOptions = {}): RowRule<RolloutRow> {
  expectOptions('groups', options, 'sampling epsilon');
  return rolloutRule(
    {
      name: 'groups',
      title: 'all ends of a problem as one group',
      paper: 'Shao et al., 2024, arXiv 2402.03300',
      options,
    },
    { ...options, estimators: ['grpo'] },
  );
}

/** Options of {@link treeAdvantages}. */
export interface TreeAdvantagesOptions extends RolloutOptions {
  /** The estimators. @defaultValue all */
  readonly estimators?: readonly Estimator[];
  /** γ of the returns of `gigpo`: in [0, 1]. @defaultValue 0.95, the paper's */
  readonly discount?: number;
  /** ω, the weight of the step in `gigpo`: from 0 up. @defaultValue 1, the paper's */
  readonly omega?: number;
  /** The key of a state, for `salt` and `gigpo`. @defaultValue the prompt at the state */
  readonly stateKey?: (state: unknown) => string;
}

/**
 * Paths with the credit that the tree assigns to them and to their steps, by named estimators. The ends of all trees of
 * a problem are one group. Each end counts once, however often it was visited.
 *
 * @see Hou et al., "TreeRL", 2025; Li et al., "TreePO", 2025; Ji et al., "Tree Search for LLM Agent Reinforcement
 * Learning", 2025; Feng et al., "Group-in-Group Policy Optimization for LLM Agent Training", 2025; Li et al., "SALT", 2025.
 * Differences from the papers are documented with each estimator.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function treeAdvantages(options: TreeAdvantagesOptions = {}): RowRule<RolloutRow> {
  expectOptions('treeAdvantages', options, 'estimators discount omega stateKey sampling epsilon');
  return rolloutRule(
    {
      name: 'tree-advantages',
      title: 'paths with the advantages that the tree gives them',
      paper: 'Hou et al., 2025, arXiv 2506.11902, and others',
      options,
    },
    options,
  );
}

const pathNames = Object.keys(pathEstimators) as readonly PathEstimator[];
const stepNames = Object.keys(stepEstimators) as readonly StepEstimator[];

function rolloutRule(info: RuleInfo, options: TreeAdvantagesOptions): RowRule<RolloutRow> {
  const { estimators = [...pathNames, ...stepNames], sampling } = options;
  const { epsilon = 1e-6, discount = 0.95, omega = 1, stateKey } = options;
  if (!(Number.isFinite(epsilon) && epsilon > 0)) {
    throw expectation('epsilon', 'a finite number above 0', epsilon);
  }
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectNumber('omega', omega, { min: 0 });
  if (stateKey !== undefined) expectFunction('stateKey', stateKey);
  expectArray('estimators', estimators);
  for (const name of estimators) expectOneOf('estimators', name, [...pathNames, ...stepNames]);
  if (sampling !== undefined) expectOneOf('sampling', sampling, ['iid', 'search']);
  const ofPaths = pathNames.filter((name) => estimators.includes(name));
  const ofSteps = stepNames.filter((name) => estimators.includes(name));
  return rowRule({
    ...info,
    kind: 'rollout',
    *rows(trees) {
      const rollouts = rolloutsOf(trees);
      const group = { rollouts, trees, options: { epsilon, discount, omega, stateKey } };
      const paths = ofPaths.map((name) => [name, pathEstimators[name](group)] as const);
      const steps = ofSteps.map((name) => [name, stepEstimators[name](group)] as const);
      const drawn = sampling ?? samplingOf(trees);
      for (const [place, rollout] of rollouts.entries()) {
        yield rolloutRow(rollout, info.name, {
          sampling: drawn,
          advantages: Object.fromEntries(paths.map(([name, all]) => [name, all[place] ?? 0])),
          stepAdvantages: Object.fromEntries(steps.map(([name, all]) => [name, all[place] ?? []])),
        });
      }
    },
  });
}
