import type { Slot } from './slot.ts';

/** A text to be read. */
export interface Text {
  /** Its tokens; asked for when its turn has come. */
  readonly tokens: () => readonly number[];
  /** Done in the same turn, once it has been read. */
  readonly follow: (slot: Slot) => Promise<void>;
  /** Aborts when nobody wants it any more. */
  readonly signal: AbortSignal;
}

/** A text that has been read, and what that took. */
export interface Read {
  /** Where it is. */
  readonly slot: Slot;
  /** How many of its tokens were there before. */
  readonly reused: number;
}

/**
 * The texts in the memory of a model. A new text goes where its beginning is, or takes that over from another
 * one; only the rest is read.
 *
 * One text is read at a time: those that wait find what they have in common with it.
 */
export class Pool {
  readonly #slots: readonly Slot[];
  #turn: Promise<unknown> = Promise.resolve();
  #uses = 0;

  constructor(slots: readonly Slot[]) {
    this.#slots = slots;
  }

  /** How many texts may be worked on at once. */
  get size(): number {
    return this.#slots.length;
  }

  /** How many tokens went through the model. */
  get computed(): number {
    return this.#slots.reduce((sum, { computed }) => sum + computed, 0);
  }

  /** How many tokens are held. */
  get cached(): number {
    return this.#slots.reduce((sum, { length }) => sum + length, 0);
  }

  /** Reads a text. Whoever calls it knows that a slot is free, and releases the slot that it gets. */
  async read(text: Text): Promise<Read> {
    const read = () => this.#read(text);
    const done = this.#turn.then(read, read);
    this.#turn = done;
    return done;
  }

  /** Lets others have a slot. What it holds stays until somebody needs the room. */
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

  /** The slot for a text that has its first tokens in common with `source`. */
  #choose(source: Slot, common: number): Slot {
    // Nothing is lost where all of it goes on.
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

/** Where a copy fails, or what is there already is as good, the text is read from what is there. */
async function takeOver(slot: Slot, source: Slot, tokens: readonly number[]): Promise<void> {
  const common = source.common(tokens);
  if (common > slot.common(tokens)) await slot.copy(source, common);
}
