/**
 * A small in-process language model: Llama-architecture GGUF files of up to about 50 million parameters, without native
 * code.
 *
 * @module espalier/backends/tiny
 */

export { type TinyOptions, tiny } from './tiny.ts';
export type { TinyModel } from './tiny-model.ts';
