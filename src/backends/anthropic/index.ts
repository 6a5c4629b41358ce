/**
 * Models of Anthropic, through `@anthropic-ai/sdk`.
 *
 * @module
 */

export { type AnthropicOptions, anthropic } from './anthropic.ts';
export type { AnthropicClient } from './client.ts';
export type { Effort, Thinking } from './request.ts';
