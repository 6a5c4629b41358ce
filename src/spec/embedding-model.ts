import type { ModelCall, Usage } from './language-model.ts';

/** A model that turns texts into vectors. Call it through `CallContext.embed`. */
export interface EmbeddingModel {
  readonly provider: string;
  readonly modelId: string;
  embed(texts: readonly string[], call: ModelCall): Promise<Embeddings>;
}

/** One vector. */
export type Embedding = readonly number[];

/** One vector a text, in the order of the texts. */
export interface Embeddings {
  readonly embeddings: readonly Embedding[];
  readonly usage?: Usage;
}
