/**
 * Models of Anthropic, through `@anthropic-ai/sdk`.
 *
 * @module
 */

export { type AnthropicOptions, anthropic } from './anthropic.ts';
export type { AnthropicClient, AnthropicStream } from './client.ts';
export type {
  AdaptiveThinking,
  BudgetedThinking,
  Effort,
  NoThinking,
  Thinking,
} from './request.ts';
