import type { NativeSequence } from './binding.ts';
import { type Distribution, distributionOf, toldTokens } from './distribution.ts';

/** How a text is read. */
export interface Reading {
  /** How many tokens are read in one pass. */
  readonly batchSize: number;
  /** The size of the vocabulary. */
  readonly vocabularySize: number;
}

/**
 * One text in the memory of a model: its keys and values, which other texts that begin alike can take over.
 * One thing is done with it at a time.
 */
export class Slot {
  /** Whether somebody writes in it. */
  busy = false;
  /** When it was given out last. */
  used = 0;
  readonly #sequence: NativeSequence;
  readonly #reading: Reading;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(sequence: NativeSequence, reading: Reading) {
    this.#sequence = sequence;
    this.#reading = reading;
  }

  /** How many tokens it holds. */
  get length(): number {
    return this.#sequence.nextTokenIndex;
  }

  /** How many tokens went through the model in it. */
  get computed(): number {
    const { usedInputTokens, usedOutputTokens } = this.#sequence.tokenMeter;
    return usedInputTokens + usedOutputTokens;
  }

  /** How many tokens of a text it holds from the beginning on. */
  common(tokens: readonly number[]): number {
    return this.#sequence.compareContextTokens(tokens).firstDifferentIndex;
  }

  /** Forgets what does not belong to a text. */
  async keep(tokens: readonly number[]): Promise<void> {
    await this.#exclusively(() => this.#sequence.adaptStateToTokens(tokens, false));
  }

  /** Takes over the first tokens of another one; false where that cannot be done. */
  async copy(other: Slot, length: number): Promise<boolean> {
    return this.#exclusively(() =>
      // While a token is on its way through the model, the other one is not what it says.
      other.#exclusively(async () => {
        if (this.#sequence._copyStateFromOtherSequence === undefined) return false;
        const done = await this.#sequence._copyStateFromOtherSequence(other.#sequence, length);
        if (!done) await this.#sequence.clearHistory();
        return done;
      }),
    );
  }

  /** Reads on, and asks for no distribution. Leaves between two passes where the signal says so. */
  async read(tokens: readonly number[], signal: AbortSignal): Promise<void> {
    const { batchSize } = this.#reading;
    for (let start = 0; start < tokens.length; start += batchSize) {
      signal.throwIfAborted();
      const piece = tokens.slice(start, start + batchSize);
      await this.#exclusively(() => this.#sequence.evaluateWithoutGeneratingNewTokens(piece));
    }
  }

  /** Reads one token, and tells what may come next: the likeliest tokens, or all. */
  async next(token: number, wish: 'likeliest' | 'all'): Promise<Distribution> {
    const logits = wish === 'all' || { filter: { includeTop: toldTokens } };
    const generateNext = { logits, totalLogitWeight: true } as const;
    const [told] = await this.#exclusively(() =>
      this.#sequence.controlledEvaluate([[token, { generateNext }]]),
    );
    if (told === undefined) throw new Error('The model told nothing of the next token.');
    return distributionOf(told.next, this.#reading.vocabularySize);
  }

  /** Goes back before the last token of a text that it holds. */
  async stepBack(tokens: readonly number[], signal: AbortSignal): Promise<void> {
    const before = tokens.slice(0, -1);
    await this.keep(before);
    // Where the memory of a model cannot be cut, more than one token is lost.
    await this.read(before.slice(this.length), signal);
  }

  /** Reads one token, and lets the package draw the next one; `undefined` if it draws none. */
  async draw(
    token: number,
    options: Parameters<NativeSequence['evaluate']>[1],
  ): Promise<number | undefined> {
    return this.#exclusively(async () => {
      const tokens = this.#sequence.evaluate([token], options);
      try {
        const { value, done } = await tokens.next();
        return done === true ? undefined : value;
      } finally {
        await tokens.return();
      }
    });
  }

  #exclusively<Value>(act: () => Promise<Value>): Promise<Value> {
    const done = this.#turn.then(act, act);
    this.#turn = done;
    return done;
  }
}
