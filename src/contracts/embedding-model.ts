import type { ModelCall, Payee, Usage } from './language-model.ts';

/** A model that turns texts into vectors. Call it through `CallContext.embed`. */
export interface EmbeddingModel extends Payee {
  /** Returns one vector per text, or rejects. */
  embed(texts: readonly string[], call: ModelCall): Promise<Embeddings>;
}

/** One vector per text, in order. */
export interface Embeddings {
  /** In the order of the texts. */
  readonly embeddings: readonly (readonly number[])[];
  /** The tokens that were read. */
  readonly usage?: Usage;
}
