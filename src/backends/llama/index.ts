/**
 * Runs any GGUF file in this process, with llama.cpp through the optional peer `node-llama-cpp`.
 *
 * @module espalier/backends/llama
 */

export type { LlamaStats } from './engine.ts';
export { type LlamaLanguageModel, type LlamaOptions, llama } from './llama.ts';
