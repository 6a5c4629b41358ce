/**
 * Models: hosted ones, your own servers, journals, and any model named by a string. Official SDKs are optional peers,
 * loaded at the first request.
 *
 * @module espalier/backends
 */

export type {
  Decision,
  DecisionModel,
  DecisionRequest,
  Decisions,
  Question,
} from '../contracts/decision-model.ts';
export { type AiSdkModel, type AiSdkOptions, aiSdk } from './ai-sdk/ai-sdk.ts';
export { type AnthropicOptions, anthropic } from './anthropic/anthropic.ts';
export type { AnthropicClient } from './anthropic/client.ts';
export { decisions } from './decisions/decisions.ts';
export { decisionsFromModel } from './decisions/from-model.ts';
export { decisionsFromScores } from './decisions/from-scores.ts';
export { systemOne } from './decisions/system-one.ts';
export { embeddings } from './embeddings/embeddings.ts';
export { type LanguageModelOptions, languageModel } from './language-model.ts';
export type { OpenAiClient } from './openai/client.ts';
export { type OpenAiOptions, openai } from './openai/openai.ts';
export {
  type OpenAiCompatibleOptions,
  openaiCompatible,
} from './openai-compatible/openai-compatible.ts';
export type { ServerPreset } from './openai-compatible/presets.ts';
export type { Provider } from './openai-compatible/providers.ts';
export type { OpenAiCompatibleModel } from './openai-compatible/server.ts';
export { replay } from './replay/replay.ts';
export { logprobReward } from './rewards/logprob-reward.ts';
export type { TextRecipe, TurnsRecipe } from './rewards/recipe.ts';
export { recipes } from './rewards/recipes.ts';
export { rewardFrom } from './rewards/reward-from.ts';
export { type SglangRewardOptions, sglangReward } from './rewards/sglang-reward.ts';
export { type VllmRewardOptions, vllmReward } from './rewards/vllm-reward.ts';
export type { ConnectionOptions } from './transport/connection.ts';
export type { EndpointOptions } from './transport/endpoint.ts';
export type { CompatibleClient } from './transport/exchange.ts';
