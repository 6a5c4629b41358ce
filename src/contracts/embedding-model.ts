import type { JsonValue } from './json.ts';
import type { ModelCall, ModelPrice, Usage } from './language-model.ts';

/** A model that turns texts into vectors. Call it through `CallContext.embed`. */
export interface EmbeddingModel {
  /** Who serves it. */
  readonly provider: string;
  /** Its name there, and in price tables. */
  readonly modelId: string;
  /** What it costs, where its provider knows. A price table overrides it. */
  readonly price?: ModelPrice;
  /** What it was told beforehand that changes its answers, such as an effort. @defaultValue nothing */
  readonly settings?: Readonly<Record<string, JsonValue>>;
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
