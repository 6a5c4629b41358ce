/**
 * Learning from earlier attempts: reflections, where they are kept, how they are found and told.
 *
 * @module
 */

export { type Bm25Options, bm25 } from './bm25.ts';
export { type ByEmbeddingOptions, byEmbedding } from './by-embedding.ts';
export {
  type ContrastiveOptions,
  type ContrastiveReflection,
  contrastive,
  type ReflectionReport,
  type ReflectRequest,
} from './contrastive.ts';
export type { ContrastiveTexts } from './contrastive-prompts.ts';
export { inMemoryStore } from './in-memory-store.ts';
export {
  type JsonLinesStore,
  type JsonLinesStoreOptions,
  jsonLinesStore,
} from './json-lines-store.ts';
export { type LessonsOptions, type LessonTexts, lessons } from './lessons.ts';
export { type MemoryOptions, memory } from './memory.ts';
export type { PreparedRetriever } from './prepared-retriever.ts';
export { makeReflection } from './reflection.ts';
export { type SentenceEmbeddingsOptions, sentenceEmbeddings } from './sentence-embeddings.ts';
