/** The shape of a model, as its file declares it. */
export interface LlamaConfig {
  /** The longest sequence that the model was trained on. */
  readonly contextLength: number;
  /** The width of the residual stream. */
  readonly embeddingLength: number;
  /** The number of layers. */
  readonly blockCount: number;
  /** The number of query heads. */
  readonly headCount: number;
  /** The number of key and value heads, a divisor of `headCount`. */
  readonly headCountKv: number;
  /** The width of a head, even. */
  readonly headDimension: number;
  /** The width of the hidden layer of the feed-forward network. */
  readonly feedForwardLength: number;
  /** The number that RMSNorm adds to the mean square. */
  readonly rmsEpsilon: number;
  /** The base of the rotary frequencies. */
  readonly ropeBase: number;
  /** The number of tokens. */
  readonly vocabularySize: number;
}

/** The vocabulary in a file. */
export interface RawVocabulary {
  /** The kind of tokenizer; `llama` is SentencePiece-like. */
  readonly model: string;
  /** The text of each token. */
  readonly tokens: readonly string[];
  /** The score of each token; empty if the file has none. */
  readonly scores: readonly number[];
  /** The type of each token: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte. */
  readonly types: readonly number[];
  /** The token that starts a text. */
  readonly bos?: number;
  /** The token that ends a text. */
  readonly eos?: number;
  /** The token for unknown text. */
  readonly unknown?: number;
  /** Whether a text starts with `bos`. */
  readonly addBos: boolean;
  /** Whether a space is put before a text. */
  readonly addSpacePrefix: boolean;
  /** The Jinja template of a conversation. */
  readonly chatTemplate?: string;
  /** The name of the rule that splits a text before merging. */
  readonly preTokenizer?: string;
}

/** A tensor, dequantised. */
export interface Tensor {
  /** The lengths, fastest first, as in GGUF: a matrix of M rows of K numbers is `[K, M]`. */
  readonly shape: readonly number[];
  /** The numbers, row after row. */
  readonly data: Float32Array<ArrayBuffer>;
}
