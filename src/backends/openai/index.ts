/**
 * Models of OpenAI, through its SDK.
 *
 * @module
 */

export type { OpenAiClient } from './client.ts';
export type { ReasoningEffort } from './models.ts';
export { type OpenAiOptions, openai } from './openai.ts';
export type { OpenAiApi } from './request.ts';
