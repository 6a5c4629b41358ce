import type { Random } from '../../contracts/context.ts';
import type { Completion, TokenLogprob } from '../../contracts/language-model.ts';
import type { TinyRequest } from './request.ts';
import { drawToken, logProbabilities } from './sampler.ts';
import type { TextWriter, Tokenizer } from './tokenizer.ts';

/** What a sequence is written with. */
export interface SequenceOptions {
  /** The settings of sampling. */
  readonly request: TinyRequest;
  /** The vocabulary. */
  readonly tokenizer: Tokenizer;
  /** The tokens before it. */
  readonly prompt: readonly number[];
  /** Its own random numbers. */
  readonly random: Random;
  /** The most tokens that it may have: of the request, or of what is left of the context. */
  readonly maxTokens: number;
}

/**
 * One sample as it is written.
 *
 * It ends at a control token, at a stop text, or at its limit. The control token has no text and no
 * log-probability; of a stop text nothing is left, nor the log-probabilities of tokens that lie in what
 * was cut off as a whole. All tokens count, whatever became of their text.
 */
export class Sequence {
  readonly #options: SequenceOptions;
  readonly #writer: TextWriter;
  readonly #longestStop: number;
  readonly #logprobs: TokenLogprob[] = [];
  /** Where in the text each token begins. */
  readonly #starts: number[] = [];
  #text = '';
  #length = 0;
  #last = -1;
  #finishReason: 'stop' | 'length' | undefined;

  constructor(options: SequenceOptions) {
    this.#options = options;
    this.#writer = options.tokenizer.writer(options.prompt);
    this.#longestStop = Math.max(0, ...options.request.stop.map(({ length }) => length));
  }

  /** How many tokens were drawn. */
  get length(): number {
    return this.#length;
  }

  /** The token that was drawn last, and has not been read yet. */
  get last(): number {
    return this.#last;
  }

  /** Whether it has come to its end. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** What has been written. */
  get completion(): Completion {
    const { topLogprobs } = this.#options.request;
    return {
      text: this.#text,
      finishReason: this.#finishReason ?? 'length',
      ...(topLogprobs !== undefined && { logprobs: this.#logprobs }),
    };
  }

  /** Draws the next token. */
  extend(logits: Float32Array): void {
    const { request, tokenizer, random, maxTokens } = this.#options;
    const token = drawToken(logits, request, random);
    this.#last = token;
    this.#length++;
    if (tokenizer.isEnd(token)) {
      this.#finishReason = 'stop';
      return;
    }
    if (request.topLogprobs !== undefined) this.#note(token, logits, request.topLogprobs);
    this.#write(token);
    if (this.#length >= maxTokens) this.#finishReason ??= 'length';
  }

  #note(token: number, logits: Float32Array, count: number): void {
    const { tokenizer } = this.#options;
    const probabilities = logProbabilities(logits);
    const told = (id: number) => ({ token: tokenizer.nameOf(id), logprob: probabilities.of(id) });
    const top = count > 0 && { top: probabilities.top(count).map(told) };
    this.#starts.push(this.#text.length);
    this.#logprobs.push({ ...told(token), ...top });
  }

  #write(token: number): void {
    const added = this.#writer.write(token);
    if (added === '') return;
    // What came before holds no whole stop text.
    const from = Math.max(0, this.#text.length - this.#longestStop + 1);
    this.#text += added;
    const ends = this.#options.request.stop
      .map((stop) => this.#text.indexOf(stop, from))
      .filter((place) => place >= 0);
    if (ends.length > 0) this.#cut(Math.min(...ends));
  }

  #cut(end: number): void {
    this.#finishReason = 'stop';
    this.#text = this.#text.slice(0, end);
    const kept = this.#starts.filter((start) => start < end).length;
    this.#starts.length = Math.min(this.#starts.length, kept);
    this.#logprobs.length = this.#starts.length;
  }
}
