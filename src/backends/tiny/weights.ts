import type { LlamaFile } from './gguf.ts';
import type { Address, Arena } from './kernels/arena.ts';

/** The addresses of a model's weights. */
export interface Weights {
  /** A row for each token. */
  readonly embeddings: Address;
  /** The layers, in order. */
  readonly blocks: readonly BlockWeights[];
  /** The norm before the output. */
  readonly outputNorm: Address;
  /** A row for each token; the embeddings if the model ties them. */
  readonly output: Address;
}

/** The addresses of a layer's weights. */
export interface BlockWeights {
  /** The norm before attention. */
  readonly attentionNorm: Address;
  /** Computes the queries. */
  readonly query: Address;
  /** Computes the keys. */
  readonly key: Address;
  /** Computes the values. */
  readonly value: Address;
  /** Projects the heads back to the residual stream. */
  readonly attentionOutput: Address;
  /** The norm before the feed-forward network. */
  readonly feedForwardNorm: Address;
  /** Computes the input of SiLU. */
  readonly gate: Address;
  /** Computes the factor of its output. */
  readonly up: Address;
  /** Projects back to the residual stream. */
  readonly down: Address;
}

/** Copies the weights of a file into the memory of the kernels. */
export function loadWeights({ tensors, config }: LlamaFile, arena: Arena): Weights {
  const load = (name: string): Address => {
    const tensor = tensors.get(`${name}.weight`);
    if (tensor === undefined) throw new Error(`readLlamaFile() let a file pass without ${name}.`);
    return arena.store(tensor.data);
  };
  const embeddings = load('token_embd');
  const blocks = Array.from({ length: config.blockCount }, (_, block): BlockWeights => {
    const prefix = `blk.${block}.`;
    return {
      attentionNorm: load(`${prefix}attn_norm`),
      query: load(`${prefix}attn_q`),
      key: load(`${prefix}attn_k`),
      value: load(`${prefix}attn_v`),
      attentionOutput: load(`${prefix}attn_output`),
      feedForwardNorm: load(`${prefix}ffn_norm`),
      gate: load(`${prefix}ffn_gate`),
      up: load(`${prefix}ffn_up`),
      down: load(`${prefix}ffn_down`),
    };
  });
  const outputNorm = load('output_norm');
  const output = tensors.has('output.weight') ? load('output') : embeddings;
  return { embeddings, blocks, outputNorm, output };
}
