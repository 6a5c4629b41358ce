/**
 * Models behind servers that speak OpenAI's Chat Completions: vLLM, SGLang, llama-server, Ollama, LM Studio,
 * `transformers serve`, and others.
 *
 * @module
 */

export type { CompatibleClient } from '../transport/exchange.ts';
export {
  type KnownServerOptions,
  llamaServer,
  lmStudio,
  type OpenAiCompatibleModel,
  type OpenAiCompatibleOptions,
  ollama,
  openaiCompatible,
  type ProbeOptions,
  probeServer,
  sglang,
  vllm,
} from './openai-compatible.ts';
export type { ServerPreset } from './presets.ts';
export type { ServedModel, ServerInfo } from './server.ts';
