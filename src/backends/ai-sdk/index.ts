/**
 * Any language model of the Vercel AI SDK.
 *
 * @module
 */

export { type AiSdkModel, type AiSdkOptions, aiSdk } from './ai-sdk.ts';
