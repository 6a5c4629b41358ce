import type { Completion, TokenAlternative, TokenLogprob } from '../../contracts/language-model.ts';
import type { InProcessRequest } from './request.ts';
import type { TextWriter, Tokenizer } from './tokenizer.ts';

/** The log-probabilities of the model itself, at one position. */
export interface LogProbabilities {
  /** That of a token; `undefined` if it is unknown. */
  of(token: number): TokenAlternative | undefined;
  /** The likeliest tokens, in descending order. */
  top(count: number): readonly TokenAlternative[];
}

/** Settings for drawing a token. */
export interface Drawing {
  /** The temperature; at 0 the likeliest token is taken. */
  readonly temperature: number;
  /** The number of likeliest tokens to draw from. @defaultValue all */
  readonly topK?: number | undefined;
  /** The probability mass to draw from, in (0, 1]. @defaultValue 1 */
  readonly topP?: number | undefined;
}

/** Settings of a sample. */
export interface SampleOptions {
  readonly request: InProcessRequest;
  readonly tokenizer: Tokenizer;
  /** The tokens before it. */
  readonly prompt: readonly number[];
  /** The maximum number of tokens: from the request, or the rest of the context. */
  readonly maxTokens: number;
}

/**
 * One sample as it is written.
 *
 * It ends at an end token, at a stop text, or at its limit. The end token has no text and no log-probability; a stop
 * text is cut off, together with the log-probabilities of tokens that lie completely in the cut part. All tokens count
 * for usage.
 */
export class Sample {
  readonly #options: SampleOptions;
  readonly #writer: TextWriter;
  readonly #longestStop: number;
  readonly #logprobs: TokenLogprob[] = [];
  /** The offset of each token in the text. */
  readonly #starts: number[] = [];
  #text = '';
  #length = 0;
  #finishReason: 'stop' | 'length' | undefined;

  constructor(options: SampleOptions) {
    this.#options = options;
    this.#writer = options.tokenizer.writer(options.prompt);
    this.#longestStop = Math.max(0, ...options.request.stop.map(({ length }) => length));
  }

  /** The number of tokens drawn. */
  get length(): number {
    return this.#length;
  }

  /** Whether it has ended. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** The text written so far, as a completion. */
  get completion(): Completion {
    const { topLogprobs } = this.#options.request;
    return {
      text: this.#text,
      finishReason: this.#finishReason ?? 'length',
      ...(topLogprobs !== undefined && { logprobs: this.#logprobs }),
    };
  }

  /** Adds the next token. @param told - The model's expectation, for log-probabilities. */
  extend(token: number, told?: () => LogProbabilities): void {
    const { request, tokenizer, maxTokens } = this.#options;
    this.#length++;
    if (tokenizer.isEnd(token)) {
      this.#finishReason = 'stop';
      return;
    }
    if (request.topLogprobs !== undefined && told !== undefined) {
      this.#note(token, told(), request.topLogprobs);
    }
    this.#write(token);
    if (this.#length >= maxTokens) this.#finishReason ??= 'length';
  }

  #note(token: number, logprobs: LogProbabilities, count: number): void {
    const own = logprobs.of(token);
    if (own === undefined) throw new Error('The distribution does not hold the token drawn.');
    this.#starts.push(this.#text.length);
    this.#logprobs.push({ ...own, ...(count > 0 && { top: logprobs.top(count) }) });
  }

  #write(token: number): void {
    const added = this.#writer.write(token);
    if (added === '') return;
    // The earlier text contains no complete stop text.
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
