/**
 * Reward models: process and outcome reward models behind vLLM, SGLang and any server that completes text, and
 * functions of one's own.
 *
 * @module
 */

export type { EndpointOptions } from '../transport/endpoint.ts';
export { type LogprobRewardOptions, logprobReward } from './logprob-reward.ts';
export type {
  Activation,
  RecipeLabels,
  RewardRecipe,
  TextRecipe,
  TurnsRecipe,
} from './recipe.ts';
export {
  recipes,
  type SequenceClassifierOptions,
  sequenceClassifier,
} from './recipes.ts';
export { type RewardFromOptions, rewardFrom } from './reward-from.ts';
export { type SglangRewardOptions, sglangReward } from './sglang-reward.ts';
export { type VllmRewardOptions, vllmReward } from './vllm-reward.ts';
