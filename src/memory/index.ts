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
  type SkippedLine,
} from './json-lines-store.ts';
export { type LessonsOptions, type LessonTexts, lessons } from './lessons.ts';
export { type MemoryOptions, memory, type RecallCounts } from './memory.ts';
export type { PreparedRetriever } from './prepared-retriever.ts';
export { type Experience, makeReflection, reflectionId } from './reflection.ts';
export {
  type SentenceEmbedder,
  type SentenceEmbeddingsOptions,
  sentenceEmbeddings,
} from './sentence-embeddings.ts';
export type { SituationOptions } from './situation.ts';
export type { ReflectionRule } from './surprise.ts';
