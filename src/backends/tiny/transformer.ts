import type { LlamaFile } from './gguf.ts';
import { type Address, Arena } from './kernels/arena.ts';
import { type Kernels, kernelsOn } from './kernels/kernels.ts';
import type { LlamaConfig } from './llama-config.ts';
import { ropeTable } from './rope.ts';
import { type Scratch, scratchFor } from './scratch.ts';
import { type BlockWeights, loadWeights, type Weights } from './weights.ts';

const slotsOfChunk = 32;

/** One token to read. */
export interface Row {
  readonly token: number;
  /** The slots of all tokens up to this one, in order; the last one is its own and will be written. */
  readonly path: Uint32Array;
  /** Whether the logits after it are needed. */
  readonly wantLogits: boolean;
}

/**
 * A Llama: the computation of a batch of rows, and the memory for the keys and values of tokens read.
 *
 * The rows of a batch may continue each other: the keys and values of all rows are written before any row attends. The
 * result of a row has the same bits whatever else is in the batch.
 *
 * @see Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023.
 */
export class Transformer {
  /** The shape of the model. */
  readonly config: LlamaConfig;
  /** The size of one slot. */
  readonly slotBytes: number;
  readonly #arena = new Arena();
  readonly #kernels: Kernels;
  readonly #weights: Weights;
  readonly #rope: Address;
  readonly #scratch: Scratch;
  /** Slots are allocated in chunks, layer by layer, so that neighbours in a prompt are neighbours in memory. */
  readonly #chunks: Address[] = [];
  #slotCount = 0;
  readonly #queryWidth: number;
  readonly #keyWidth: number;
  /** The size of one layer of a slot: a key and a value. */
  readonly #blockBytes: number;

  constructor(file: LlamaFile) {
    const { config } = file;
    this.config = config;
    this.#queryWidth = config.headCount * config.headDimension;
    this.#keyWidth = config.headCountKv * config.headDimension;
    this.#blockBytes = 2 * 4 * this.#keyWidth;
    this.slotBytes = config.blockCount * this.#blockBytes;
    this.#kernels = kernelsOn(this.#arena);
    this.#weights = loadWeights(file, this.#arena);
    this.#rope = this.#arena.store(ropeTable(config));
    this.#scratch = scratchFor(config, this.#arena);
  }

  /** A slot number that was never used. */
  newSlot(): number {
    if (this.#slotCount === this.#chunks.length * slotsOfChunk) {
      this.#chunks.push(this.#arena.allocate((this.slotBytes / 4) * slotsOfChunk));
    }
    return this.#slotCount++;
  }

  /**
   * Reads up to `mostRows` rows in one pass.
   *
   * @returns the logits of each row that needs them.
   */
  run(rows: readonly Row[]): readonly (Float32Array | undefined)[] {
    const { blocks } = this.#weights;
    const paths = this.#writePaths(rows);
    this.#embed(rows);
    for (const [index, block] of blocks.entries()) {
      const offset = index * this.#blockBytes * slotsOfChunk;
      this.#writeKeysAndValues(block, rows, offset);
      this.#attend(block, paths, offset);
      this.#feedForward(block, rows.length);
    }
    return this.#logits(rows);
  }

  /** Writes the addresses of the slots that each row attends to. */
  #writePaths(rows: readonly Row[]) {
    const { words } = this.#arena;
    return rows.map(({ path }, index) => {
      const address = this.#scratch.paths + index * this.config.contextLength * 4;
      let at = address / 4;
      for (const slot of path) words[at++] = this.#address(slot);
      return { address, length: path.length };
    });
  }

  #embed(rows: readonly Row[]): void {
    const { embeddingLength } = this.config;
    for (const [index, { token }] of rows.entries()) {
      const target = this.#scratch.stream + index * embeddingLength * 4;
      const source = this.#weights.embeddings + token * embeddingLength * 4;
      this.#copy(target, source, embeddingLength);
    }
  }

  /** Computes the queries, and puts the keys and values of each row into its slot. */
  #writeKeysAndValues(block: BlockWeights, rows: readonly Row[], offset: number): void {
    const { headCount, headCountKv, headDimension, embeddingLength } = this.config;
    const { stream, normed, queries, keys, values } = this.#scratch;
    const multiply = (out: Address, w: Address, width: number): void =>
      this.#kernels.matmul(out, normed, w, rows.length, width, embeddingLength);
    this.#norm(stream, block.attentionNorm, rows.length);
    multiply(queries, block.query, this.#queryWidth);
    multiply(keys, block.key, this.#keyWidth);
    multiply(values, block.value, this.#keyWidth);

    for (const [index, { path }] of rows.entries()) {
      const angles = this.#rope + (path.length - 1) * headDimension * 2 * 4;
      const key = keys + index * this.#keyWidth * 4;
      this.#kernels.rotate(
        queries + index * this.#queryWidth * 4,
        headCount,
        headDimension,
        angles,
      );
      this.#kernels.rotate(key, headCountKv, headDimension, angles);
      const slot = this.#address(path[path.length - 1] ?? 0) + offset;
      this.#copy(slot, key, this.#keyWidth);
      this.#copy(slot + this.#blockBytes / 2, values + index * this.#keyWidth * 4, this.#keyWidth);
    }
  }

  /** Adds the result of attention to each row. */
  #attend(
    block: BlockWeights,
    paths: readonly { readonly address: Address; readonly length: number }[],
    offset: number,
  ): void {
    const { headCount, headCountKv, headDimension, embeddingLength } = this.config;
    const { stream, queries, attended, scores, projected } = this.#scratch;
    for (const [index, { address, length }] of paths.entries()) {
      const shift = index * this.#queryWidth * 4;
      this.#kernels.attend(
        attended + shift,
        queries + shift,
        headCount,
        headCountKv,
        headDimension,
        address,
        length,
        offset,
        scores,
      );
    }
    const output = block.attentionOutput;
    const rows = paths.length;
    this.#kernels.matmul(projected, attended, output, rows, embeddingLength, this.#queryWidth);
    this.#kernels.add(stream, projected, rows * embeddingLength);
  }

  #feedForward(block: BlockWeights, rows: number): void {
    const { embeddingLength, feedForwardLength } = this.config;
    const { stream, normed, gate, up, projected } = this.#scratch;
    this.#norm(stream, block.feedForwardNorm, rows);
    this.#kernels.matmul(gate, normed, block.gate, rows, feedForwardLength, embeddingLength);
    this.#kernels.matmul(up, normed, block.up, rows, feedForwardLength, embeddingLength);
    this.#kernels.swiglu(gate, up, rows * feedForwardLength);
    this.#kernels.matmul(projected, gate, block.down, rows, embeddingLength, feedForwardLength);
    this.#kernels.add(stream, projected, rows * embeddingLength);
  }

  #logits(rows: readonly Row[]): readonly (Float32Array | undefined)[] {
    const { embeddingLength, vocabularySize } = this.config;
    const { stream, normed, logits } = this.#scratch;
    let count = 0;
    for (const [index, { wantLogits }] of rows.entries()) {
      if (!wantLogits) continue;
      const row = stream + index * embeddingLength * 4;
      this.#copy(stream + count * embeddingLength * 4, row, embeddingLength);
      count++;
    }
    this.#norm(stream, this.#weights.outputNorm, count);
    const { output } = this.#weights;
    this.#kernels.matmul(logits, normed, output, count, vocabularySize, embeddingLength);

    let next = logits / 4;
    return rows.map(({ wantLogits }) => {
      if (!wantLogits) return undefined;
      next += vocabularySize;
      return this.#arena.floats.slice(next - vocabularySize, next);
    });
  }

  #norm(x: Address, weight: Address, rows: number): void {
    const { embeddingLength, rmsEpsilon } = this.config;
    this.#kernels.rmsNorm(this.#scratch.normed, x, weight, rows, embeddingLength, rmsEpsilon);
  }

  #copy(target: Address, source: Address, count: number): void {
    this.#arena.floats.copyWithin(target / 4, source / 4, source / 4 + count);
  }

  /** The address of the first layer of a slot. */
  #address(slot: number): Address {
    const chunk = this.#chunks[Math.floor(slot / slotsOfChunk)];
    if (chunk === undefined) throw new Error(`There is no slot ${slot}.`);
    return chunk + (slot % slotsOfChunk) * this.#blockBytes;
  }
}
