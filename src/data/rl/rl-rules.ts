/**
 * The rules that make rows for reinforcement learning.
 *
 * @module
 */

export type { Estimator, PathEstimator, StepEstimator } from './estimators.ts';
export { prompts } from './prompts.ts';
export {
  groups,
  type RolloutOptions,
  type TreeAdvantagesOptions,
  treeAdvantages,
} from './tree-advantages.ts';
