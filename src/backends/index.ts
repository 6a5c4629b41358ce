/**
 * Models: hosted ones, servers of one's own, journals, and whatever one string names. Official SDKs are optional
 * peers, and loaded at the first request.
 *
 * @module
 */

export type {
  ChoiceDecision,
  ChoiceQuestion,
  Decision,
  DecisionModel,
  DecisionRequest,
  Decisions,
  Question,
  ScaleDecision,
  ScaleQuestion,
  YesNoDecision,
  YesNoQuestion,
} from '../contracts/decision-model.ts';
export { type AiSdkModel, type AiSdkOptions, aiSdk } from './ai-sdk/ai-sdk.ts';
export { type AnthropicOptions, anthropic } from './anthropic/anthropic.ts';
export type { AnthropicClient } from './anthropic/client.ts';
export type { Thinking } from './anthropic/request.ts';
export { decisions } from './decisions/decisions.ts';
export { type DecisionsFromModelOptions, decisionsFromModel } from './decisions/from-model.ts';
export { type DecisionsFromScoresOptions, decisionsFromScores } from './decisions/from-scores.ts';
export { systemOne } from './decisions/system-one.ts';
export { type EmbeddingsOptions, embeddings } from './embeddings/embeddings.ts';
export { languageModel, type OpenedModel } from './language-model.ts';
export type { OpenAiClient } from './openai/client.ts';
export { type OpenAiOptions, openai } from './openai/openai.ts';
export {
  llamaServer,
  lmStudio,
  type OpenAiCompatibleModel,
  type OpenAiCompatibleOptions,
  ollama,
  openaiCompatible,
  sglang,
  vllm,
} from './openai-compatible/openai-compatible.ts';
export type { ServerPreset } from './openai-compatible/presets.ts';
export type { ServerInfo } from './openai-compatible/server.ts';
export { type ReplayOptions, replay } from './replay/replay.ts';
export { type LogprobRewardOptions, logprobReward } from './rewards/logprob-reward.ts';
export type { TextRecipe, TurnsRecipe } from './rewards/recipe.ts';
export { recipes, type SequenceClassifierOptions } from './rewards/recipes.ts';
export { type RewardFromOptions, rewardFrom } from './rewards/reward-from.ts';
export { type SglangRewardOptions, sglangReward } from './rewards/sglang-reward.ts';
export { type VllmRewardOptions, vllmReward } from './rewards/vllm-reward.ts';
export type { ConnectionOptions } from './transport/connection.ts';
export type { EndpointOptions } from './transport/endpoint.ts';
export type { CompatibleClient } from './transport/exchange.ts';
