/** The limit of a cache, and the sizes of its parts, in bytes. */
export interface CacheLimits {
  /** The limit of the cache. */
  readonly cacheBytes: number;
  /** The keys and values of one token. */
  readonly slotBytes: number;
  /** The logits after one token. */
  readonly logitsBytes: number;
}

/** A node of the prefix tree: a token after its parent. While it is cached, it owns the slot of that token. */
export class PrefixNode {
  /** The last token; -1 at the root. */
  readonly token: number;
  /** The number of tokens. */
  readonly length: number;
  /** The node before the token. */
  parent: PrefixNode | undefined;
  /** The cached continuations. */
  readonly children: Map<number, PrefixNode> = new Map();
  /** The slot with the keys and values of the token; `undefined` at the root and after eviction. */
  slot: number | undefined;
  /** The logits after the token, if they were requested. */
  logits: Float32Array | undefined;
  /** How often it was retained and not yet released. */
  retained = 0;
  /** The last batch that needed it. */
  used = 0;
  /** The last batch that requested its logits. */
  wanted = 0;

  constructor(parent: PrefixNode | undefined, token: number) {
    this.parent = parent;
    this.token = token;
    this.length = parent === undefined ? 0 : parent.length + 1;
  }

  /** Whether its keys and values are in the cache, or about to be. */
  get cached(): boolean {
    return this.parent === undefined || this.slot !== undefined;
  }
}

/**
 * The cache: a tree of tokens, each with a slot for its keys and values, and some with logits. When it is full, the
 * least recently used part is evicted: a leaf that is not retained, so that a node is never evicted before its
 * children, or logits. Everything that the current batch needs stays.
 */
export class PrefixTree {
  /** The empty text. */
  readonly root: PrefixNode = new PrefixNode(undefined, -1);
  /** The number of evicted tokens. */
  evicted = 0;
  /** Tokens in the cache. */
  cached = 0;
  readonly #limits: CacheLimits;
  readonly #newSlot: () => number;
  readonly #freeSlots: number[] = [];
  readonly #leaves = new Set<PrefixNode>();
  /** The nodes with logits, least recently used first. */
  readonly #withLogits = new Set<PrefixNode>();
  #bytes = 0;
  #batch = 0;

  constructor(limits: CacheLimits, newSlot: () => number) {
    this.#limits = limits;
    this.#newSlot = newSlot;
  }

  /** Starts a batch: everything used so far may be evicted again. */
  startBatch(): void {
    this.#batch++;
  }

  /** Keeps a node, and so all its ancestors, until the end of the batch. */
  use(node: PrefixNode): void {
    node.used = this.#batch;
  }

  /** Gives a node a slot below a cached parent, until the end of the batch; false if the cache is full. */
  attach(parent: PrefixNode, node: PrefixNode): boolean {
    if (!this.#makeRoom(this.#limits.slotBytes)) return false;
    node.parent = parent;
    node.slot = this.#freeSlots.pop() ?? this.#newSlot();
    parent.children.set(node.token, node);
    this.#leaves.delete(parent);
    this.#leaves.add(node);
    this.cached++;
    this.use(node);
    return true;
  }

  /** Reserves room for the logits of a node, until the end of the batch; false if the cache is full. */
  wantLogits(node: PrefixNode): boolean {
    if (!this.#withLogits.delete(node) && !this.#makeRoom(this.#limits.logitsBytes)) return false;
    this.#withLogits.add(node);
    node.wanted = this.#batch;
    return true;
  }

  /** Removes a leaf from the cache. */
  detach(node: PrefixNode): void {
    const { parent, slot } = node;
    if (parent === undefined || slot === undefined) return;
    this.#dropLogits(node);
    this.#freeSlots.push(slot);
    this.#bytes -= this.#limits.slotBytes;
    node.slot = undefined;
    this.cached--;
    parent.children.delete(node.token);
    this.#leaves.delete(node);
    if (parent.children.size === 0 && parent !== this.root) this.#leaves.add(parent);
  }

  #dropLogits(node: PrefixNode): void {
    if (this.#withLogits.delete(node)) this.#bytes -= this.#limits.logitsBytes;
    node.logits = undefined;
  }

  #makeRoom(bytes: number): boolean {
    while (this.#bytes + bytes > this.#limits.cacheBytes) {
      if (!this.#giveUpOldest()) return false;
    }
    this.#bytes += bytes;
    return true;
  }

  #giveUpOldest(): boolean {
    const leaf = this.#oldestLeaf();
    const [node] = this.#withLogits;
    const newest = leaf?.used ?? this.#batch - 1;
    if (node !== undefined && node.wanted <= newest) {
      this.#dropLogits(node);
      return true;
    }
    if (leaf === undefined) return false;
    this.detach(leaf);
    this.evicted++;
    return true;
  }

  #oldestLeaf(): PrefixNode | undefined {
    let oldest: PrefixNode | undefined;
    for (const leaf of this.#leaves) {
      if (leaf.retained > 0 || leaf.used === this.#batch) continue;
      if (oldest === undefined || leaf.used < oldest.used) oldest = leaf;
    }
    return oldest;
  }
}
