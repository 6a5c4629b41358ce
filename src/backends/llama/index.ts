/**
 * Any GGUF file in this process, by llama.cpp: through the package `node-llama-cpp`, an optional peer.
 *
 * @module espalier/backends/llama
 */

export type { LlamaStats } from './engine.ts';
export { type LlamaLanguageModel, type LlamaOptions, llama } from './llama.ts';
