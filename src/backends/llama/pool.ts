import type { Slot } from './slot.ts';

/** A text to read. */
export interface Text {
  /** Its tokens, computed when its turn has come. */
  readonly tokens: () => readonly number[];
  /** Called in the same turn, once it has been read. */
  readonly follow: (slot: Slot) => Promise<void>;
  /** Aborts when the text is no longer needed. */
  readonly signal: AbortSignal;
}

/** A text that has been read, with statistics. */
export interface Read {
  /** The slot that contains it. */
  readonly slot: Slot;
  /** The number of its tokens that were in memory already. */
  readonly reused: number;
}

/**
 * The texts in the memory of a model. A new text goes into the slot that has its prefix, or the prefix is copied from
 * another slot; only the rest is read.
 *
 * One text is read at a time, so that waiting texts can reuse their common prefixes with it.
 */
export class Pool {
  readonly #slots: readonly Slot[];
  #turn: Promise<unknown> = Promise.resolve();
  #uses = 0;

  constructor(slots: readonly Slot[]) {
    this.#slots = slots;
  }

  /** The number of texts that can be in use at once. */
  get size(): number {
    return this.#slots.length;
  }

  /** The number of tokens processed by the model. */
  get computed(): number {
    return this.#slots.reduce((sum, { computed }) => sum + computed, 0);
  }

  /** The number of tokens in memory. */
  get cached(): number {
    return this.#slots.reduce((sum, { length }) => sum + length, 0);
  }

  /** Reads a text. The caller knows that a slot is free, and must release the slot it gets. */
  async read(text: Text): Promise<Read> {
    const read = () => this.#read(text);
    const done = this.#turn.then(read, read);
    this.#turn = done;
    return done;
  }

  /** Releases a slot. Its content stays until the room is needed. */
  release(slot: Slot): void {
    slot.busy = false;
  }

  async #read(text: Text): Promise<Read> {
    text.signal.throwIfAborted();
    const tokens = text.tokens();
    const source = mostCommon(this.#slots, tokens);
    const slot = this.#choose(source, source.common(tokens));
    slot.busy = true;
    slot.used = ++this.#uses;
    try {
      if (slot !== source) await takeOver(slot, source, tokens);
      await slot.keep(tokens);
      const reused = slot.length;
      await slot.read(tokens.slice(reused), text.signal);
      await text.follow(slot);
      return { slot, reused };
    } catch (error) {
      slot.busy = false;
      throw error;
    }
  }

  /** The slot for a text that shares its first tokens with `source`. */
  #choose(source: Slot, common: number): Slot {
    // Nothing is lost if the text continues all of it.
    if (!source.busy && common === source.length && common > 0) return source;
    const free = this.#slots.filter(({ busy }) => !busy);
    const oldest = free.toSorted((one, other) => one.used - other.used)[0];
    if (oldest === undefined) throw new Error('Expected a free slot, and there is none.');
    return oldest;
  }
}

function mostCommon(slots: readonly Slot[], tokens: readonly number[]): Slot {
  const [first, ...others] = slots;
  if (first === undefined) throw new Error('Expected a slot, and there is none.');
  let [best, most] = [first, first.common(tokens)];
  for (const slot of others) {
    const common = slot.common(tokens);
    if (common > most) [best, most] = [slot, common];
  }
  return best;
}

/** Copies a prefix into a slot. If the copy fails, or the slot's own prefix is as long, the text is read from that. */
async function takeOver(slot: Slot, source: Slot, tokens: readonly number[]): Promise<void> {
  const common = source.common(tokens);
  if (common > slot.common(tokens)) await slot.copy(source, common);
}
