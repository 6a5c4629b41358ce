import type { NativeSequence } from './binding.ts';
import { type Distribution, distributionOf, toldTokens } from './distribution.ts';

/** How a text is read. */
export interface Reading {
  /** The number of tokens per pass. */
  readonly batchSize: number;
  /** The size of the vocabulary. */
  readonly vocabularySize: number;
}

/**
 * One sequence in the memory of a model: its keys and values, which other texts with a common prefix can copy. One
 * operation runs at a time.
 */
export class Slot {
  /** Whether it is in use. */
  busy = false;
  /** When it was last assigned. */
  used = 0;
  readonly #sequence: NativeSequence;
  readonly #reading: Reading;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(sequence: NativeSequence, reading: Reading) {
    this.#sequence = sequence;
    this.#reading = reading;
  }

  /** The number of tokens it contains. */
  get length(): number {
    return this.#sequence.nextTokenIndex;
  }

  /** The number of tokens processed in it. */
  get computed(): number {
    const { usedInputTokens, usedOutputTokens } = this.#sequence.tokenMeter;
    return usedInputTokens + usedOutputTokens;
  }

  /** The length of the common prefix with a text. */
  common(tokens: readonly number[]): number {
    return this.#sequence.compareContextTokens(tokens).firstDifferentIndex;
  }

  /** Discards tokens that do not belong to a text. */
  async keep(tokens: readonly number[]): Promise<void> {
    await this.#exclusively(() => this.#sequence.adaptStateToTokens(tokens, false));
  }

  /** Copies the first tokens of another slot; false if that is impossible. */
  async copy(other: Slot, length: number): Promise<boolean> {
    return this.#exclusively(() =>
      // While the model processes a token, the state of the other slot is undefined.
      other.#exclusively(async () => {
        if (this.#sequence._copyStateFromOtherSequence === undefined) return false;
        const done = await this.#sequence._copyStateFromOtherSequence(other.#sequence, length);
        if (!done) await this.#sequence.clearHistory();
        return done;
      }),
    );
  }

  /** Reads further tokens without computing a prediction. Stops between two passes if the signal aborts. */
  async read(tokens: readonly number[], signal: AbortSignal): Promise<void> {
    const { batchSize } = this.#reading;
    for (let start = 0; start < tokens.length; start += batchSize) {
      signal.throwIfAborted();
      const piece = tokens.slice(start, start + batchSize);
      await this.#exclusively(() => this.#sequence.evaluateWithoutGeneratingNewTokens(piece));
    }
  }

  /** Reads one token, and returns the prediction: the likeliest tokens, or all. */
  async next(token: number, wish: 'likeliest' | 'all'): Promise<Distribution> {
    const logits = wish === 'all' || { filter: { includeTop: toldTokens } };
    const generateNext = { logits, totalLogitWeight: true } as const;
    const [told] = await this.#exclusively(() =>
      this.#sequence.controlledEvaluate([[token, { generateNext }]]),
    );
    if (told === undefined) throw new Error('The model returned no prediction of the next token.');
    return distributionOf(told.next, this.#reading.vocabularySize);
  }

  /** Goes back to before the last token of its text. */
  async stepBack(tokens: readonly number[], signal: AbortSignal): Promise<void> {
    const before = tokens.slice(0, -1);
    await this.keep(before);
    // If the memory of a model cannot be truncated, more than one token is lost.
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
