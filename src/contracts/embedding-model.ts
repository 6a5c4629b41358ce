import type { ModelCall, Payee, Usage } from './language-model.ts';

/** A model that turns texts into vectors. Call it through `CallContext.embed`. */
export interface EmbeddingModel extends Payee {
  /** One vector a text, or an error. */
  embed(texts: readonly string[], call: ModelCall): Promise<Embeddings>;
}

/** One vector. */
export type Embedding = readonly number[];

/** One vector a text, in the order of the texts. */
export interface Embeddings {
  /** In the order of the texts. */
  readonly embeddings: readonly Embedding[];
  /** The tokens that were read. */
  readonly usage?: Usage;
}
