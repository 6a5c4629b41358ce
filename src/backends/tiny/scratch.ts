import type { Address, Arena } from './kernels/arena.ts';
import type { LlamaConfig } from './llama-config.ts';

/** The maximum number of rows per pass. */
export const mostRows = 64;

/** The working memory of a pass: `mostRows` rows each, unless stated otherwise. */
export interface Scratch {
  /** The residual stream. */
  readonly stream: Address;
  /** The stream after a norm. */
  readonly normed: Address;
  /** The queries of all heads. */
  readonly queries: Address;
  readonly keys: Address;
  readonly values: Address;
  /** The result of attention. */
  readonly attended: Address;
  /** The update added to the stream. */
  readonly projected: Address;
  /** The hidden layer before and after SiLU. */
  readonly gate: Address;
  /** The factor of the hidden layer. */
  readonly up: Address;
  /** The logits of the rows that need them. */
  readonly logits: Address;
  /** The addresses of the slots that a row attends to: `contextLength` words per row. */
  readonly paths: Address;
  /** The scores of the heads of one row. */
  readonly scores: Address;
}

/** Allocates the memory for a pass. */
export function scratchFor(config: LlamaConfig, arena: Arena): Scratch {
  const rowsOf = (width: number): Address => arena.allocate(mostRows * width);
  const queryWidth = config.headCount * config.headDimension;
  const keyWidth = config.headCountKv * config.headDimension;
  return {
    stream: rowsOf(config.embeddingLength),
    normed: rowsOf(config.embeddingLength),
    queries: rowsOf(queryWidth),
    keys: rowsOf(keyWidth),
    values: rowsOf(keyWidth),
    attended: rowsOf(queryWidth),
    projected: rowsOf(config.embeddingLength),
    gate: rowsOf(config.feedForwardLength),
    up: rowsOf(config.feedForwardLength),
    logits: rowsOf(config.vocabularySize),
    paths: rowsOf(config.contextLength),
    // The kernel fills the last vector completely.
    scores: arena.allocate(config.headCount * (config.contextLength + 3)),
  };
}
