import type { EspalierError } from '../../base/errors.ts';
import { expectation, expectInteger, expectNumber } from '../../base/expect.ts';
import type { LlamaFile } from './gguf.ts';
import type { LlamaConfig } from './llama-config.ts';
import { PrefixNode, PrefixTree } from './prefix-tree.ts';
import { mostRows } from './scratch.ts';
import { Transformer } from './transformer.ts';

/** A text that the model has read: a node of the prefix tree. Opaque; the root is the empty text. */
export interface Prefix {
  /** The number of tokens. */
  readonly length: number;
  /** The last token; -1 at the root. */
  readonly token: number;
}

/** Tokens to read. */
export interface DecodeItem {
  /** The prefix. If the cache has evicted it, it is read again. */
  readonly prefix: Prefix;
  /** The tokens after it; may be empty. */
  readonly tokens: readonly number[];
  /** Whether the logits after the last token are needed. */
  readonly wantLogits: boolean;
}

/** The result for a `DecodeItem`. */
export interface Decoded {
  /** The prefix after all tokens. */
  readonly prefix: Prefix;
  /** The logits after the last token, one for each token of the vocabulary. Stay valid; do not change them. */
  readonly logits?: Float32Array;
}

/** Token counts since the start, and the current size of the cache. */
export interface DecoderStats {
  /** Rows processed by the model. */
  readonly computed: number;
  /** Tokens that were cached, or shared with another item of the batch. */
  readonly reused: number;
  /** Evicted tokens. */
  readonly evicted: number;
  /** Tokens in the cache. */
  readonly cached: number;
  /** Passes through the model. */
  readonly batches: number;
}

/**
 * Runs a model on many prefixes at once, and caches what it has read.
 *
 * The result for a prefix has the same bits whatever else is in the batch, however the prefix was split into items, and
 * whatever is in the cache.
 */
export class Decoder {
  /** The shape of the model. */
  readonly config: LlamaConfig;
  /** The empty text. */
  readonly root: Prefix;
  readonly #transformer: Transformer;
  readonly #tree: PrefixTree;
  readonly #cacheBytes: number;
  #computed = 0;
  #reused = 0;
  #batches = 0;

  /** @param cacheBytes - The memory limit for keys, values and requested logits. */
  constructor(file: LlamaFile, cacheBytes: number = 64 * 2 ** 20) {
    expectNumber('cacheBytes', cacheBytes, { min: 1 });
    const transformer = new Transformer(file);
    this.config = file.config;
    this.#transformer = transformer;
    this.#cacheBytes = cacheBytes;
    this.#tree = new PrefixTree(
      { cacheBytes, slotBytes: transformer.slotBytes, logitsBytes: file.config.vocabularySize * 4 },
      () => transformer.newSlot(),
    );
    this.root = this.#tree.root;
  }

  /** Statistics of computation and cache. */
  get stats(): DecoderStats {
    return {
      computed: this.#computed,
      reused: this.#reused,
      evicted: this.#tree.evicted,
      cached: this.#tree.cached,
      batches: this.#batches,
    };
  }

  /**
   * Reads a batch. Cached tokens are not computed again, and equal continuations only once. Items that do not fit into
   * the cache together are read one after another.
   *
   * @throws EspalierError `usage` if a token or a length is out of range, or a single item does not fit into the cache.
   */
  decode(items: readonly DecodeItem[]): readonly Decoded[] {
    for (const item of items) this.#check(item);
    const decoded: Decoded[] = [];
    let batch = this.#startBatch();
    try {
      for (const item of items) {
        if (this.#add(item, batch)) continue;
        decoded.push(...this.#run(batch));
        batch = this.#startBatch();
        if (!this.#add(item, batch)) throw this.#full(item);
      }
      decoded.push(...this.#run(batch));
    } catch (error) {
      // Tokens that were not computed must not look cached.
      this.#takeBack(batch, 0);
      throw error;
    }
    return decoded;
  }

  /** The number of rows that an item would cost now. */
  pending(item: DecodeItem): number {
    const { anchor, missing } = this.#resolve(item.prefix);
    const tokens = [...missing.map(({ token }) => token), ...item.tokens];
    let node = anchor;
    for (const [index, token] of tokens.entries()) {
      const child = node.children.get(token);
      if (child === undefined) return tokens.length - index;
      node = child;
    }
    return item.wantLogits && node.logits === undefined && node.length > 0 ? 1 : 0;
  }

  /** Keeps a prefix in the cache until it has been released as often as retained. */
  retain(prefix: Prefix): void {
    this.#resolve(prefix).node.retained++;
  }

  /** Undoes one `retain`. */
  release(prefix: Prefix): void {
    const { node } = this.#resolve(prefix);
    if (node.retained === 0) throw expectation('prefix', 'retained', prefix);
    node.retained--;
  }

  #add(item: DecodeItem, batch: Batch): boolean {
    const node = this.#plan(item, batch);
    if (node === undefined) return false;
    batch.results.push({ node, wantLogits: item.wantLogits });
    return true;
  }

  #startBatch(): Batch {
    this.#tree.startBatch();
    return { rows: new Map(), results: [], attached: [] };
  }

  #check({ prefix, tokens, wantLogits }: DecodeItem): void {
    const { contextLength, vocabularySize } = this.config;
    const length = prefix.length + tokens.length;
    if (length > contextLength) {
      throw expectation('tokens', `at most ${contextLength} with their prefix`, length);
    }
    for (const token of tokens) expectInteger('token', token, { min: 0, max: vocabularySize - 1 });
    if (wantLogits && length === 0) {
      throw expectation('tokens', 'at least one where logits are wanted', 0);
    }
  }

  /** Finds the cached part of a prefix: `anchor` is its longest cached part; the nodes below it were evicted. */
  #resolve(prefix: Prefix) {
    const missing: PrefixNode[] = [];
    let at: unknown = prefix;
    while (at instanceof PrefixNode && !at.cached) {
      missing.unshift(at);
      at = at.parent;
    }
    if (at instanceof PrefixNode && prefix instanceof PrefixNode && this.#owns(at)) {
      return { node: prefix, anchor: at, missing };
    }
    throw expectation('prefix', 'one of this decoder', prefix);
  }

  #owns(node: PrefixNode): boolean {
    let at = node;
    while (at.parent !== undefined) at = at.parent;
    return at === this.root;
  }

  /**
   * Puts the tokens of an item into the cache, and those that must be computed into the batch.
   *
   * @returns the node after its last token; `undefined`, with nothing changed, if the cache is full.
   */
  #plan(item: DecodeItem, batch: Batch): PrefixNode | undefined {
    const before = batch.attached.length;
    const { anchor, missing } = this.#resolve(item.prefix);
    for (let at: PrefixNode | undefined = anchor; at !== undefined; at = at.parent) {
      this.#tree.use(at);
    }
    let node: PrefixNode | undefined = anchor;
    for (const former of missing) node = node && this.#step(batch, node, former);
    const known = batch.attached.length;
    for (const token of item.tokens) node = node && this.#step(batch, node, { token });
    if (node === undefined || !(item.wantLogits ? this.#planLogits(batch, node) : true)) {
      this.#takeBack(batch, before);
      return undefined;
    }
    this.#reused += item.tokens.length - (batch.attached.length - known);
    return node;
  }

  /** The node for the next token; `undefined` if the cache is full. */
  #step(
    batch: Batch,
    parent: PrefixNode,
    next: PrefixNode | { readonly token: number },
  ): PrefixNode | undefined {
    const child = parent.children.get(next.token);
    if (child !== undefined) {
      this.#tree.use(child);
      return child;
    }
    const former = next instanceof PrefixNode ? next : new PrefixNode(parent, next.token);
    if (!this.#tree.attach(parent, former)) return undefined;
    batch.attached.push(former);
    batch.rows.set(former, false);
    return former;
  }

  /** Requests the logits of a node if they are unknown; false if the cache is full. */
  #planLogits(batch: Batch, node: PrefixNode): boolean {
    if (!this.#tree.wantLogits(node)) return false;
    if (node.logits === undefined) batch.rows.set(node, true);
    return true;
  }

  /** Removes the nodes that a batch has attached, from an index on, children first. */
  #takeBack(batch: Batch, from: number): void {
    for (const node of batch.attached.splice(from).reverse()) {
      batch.rows.delete(node);
      this.#tree.detach(node);
    }
  }

  /** Computes the rows of a batch, parents before children. */
  #run({ rows, results }: Batch): readonly Decoded[] {
    const nodes = [...rows];
    for (let start = 0; start < nodes.length; start += mostRows) {
      const part = nodes.slice(start, start + mostRows);
      const logits = this.#transformer.run(
        part.map(([node, wantLogits]) => ({ token: node.token, path: pathOf(node), wantLogits })),
      );
      for (const [index, [node]] of part.entries()) node.logits = logits[index] ?? node.logits;
      this.#batches++;
      this.#computed += part.length;
    }
    return results.map(({ node, wantLogits }) =>
      wantLogits && node.logits !== undefined
        ? { prefix: node, logits: node.logits }
        : { prefix: node },
    );
  }

  #full({ prefix, tokens }: DecodeItem): EspalierError {
    const length = prefix.length + tokens.length;
    return expectation(
      'cacheBytes',
      `enough for ${length} tokens beside what is retained`,
      this.#cacheBytes,
    );
  }
}

/** Items that are computed together. */
interface Batch {
  /** The nodes to compute, parents first, and whether their logits are needed. */
  readonly rows: Map<PrefixNode, boolean>;
  /** The requested results. */
  readonly results: { readonly node: PrefixNode; readonly wantLogits: boolean }[];
  /** The new nodes in the cache. */
  readonly attached: PrefixNode[];
}

/** The slots of all tokens up to a node. */
function pathOf(node: PrefixNode): Uint32Array {
  const path = new Uint32Array(node.length);
  let at: PrefixNode | undefined = node;
  while (at?.slot !== undefined) {
    path[at.length - 1] = at.slot;
    at = at.parent;
  }
  return path;
}
