/**
 * Learning from earlier attempts: reflections, their stores, retrieval and prompts.
 *
 * @module espalier/memory
 */

export { bm25 } from './bm25.ts';
export { byEmbedding } from './by-embedding.ts';
export { type ContrastiveOptions, contrastive, type ReflectionReport } from './contrastive.ts';
export { inMemoryStore } from './in-memory-store.ts';
export { type JsonLinesStore, jsonLinesStore } from './json-lines-store.ts';
export { type LessonsOptions, lessons } from './lessons.ts';
export { type MemoryOptions, memory } from './memory.ts';
export type { PreparedRetriever } from './prepared-retriever.ts';
export { sentenceEmbeddings } from './sentence-embeddings.ts';
