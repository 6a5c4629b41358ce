/**
 * Models that turn texts into vectors, behind servers that speak OpenAI's `/v1/embeddings`.
 *
 * @module
 */

export { type EmbeddingsOptions, embeddings } from './embeddings.ts';
