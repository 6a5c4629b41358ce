import type { Completion, TokenAlternative, TokenLogprob } from '../../contracts/language-model.ts';
import type { InProcessRequest } from './request.ts';
import type { TextWriter, Tokenizer } from './tokenizer.ts';

/** The log-probabilities of the model itself, at one place. */
export interface LogProbabilities {
  /** That of a token; `undefined` if it is not told. */
  of(token: number): TokenAlternative | undefined;
  /** The likeliest tokens, the likeliest first. */
  top(count: number): readonly TokenAlternative[];
}

/** How a token is drawn. */
export interface Drawing {
  /** At 0 the likeliest token is taken. */
  readonly temperature: number;
  /** From how many of the likeliest tokens to draw. @defaultValue all */
  readonly topK?: number | undefined;
  /** The probability mass to draw from, in (0, 1]. @defaultValue 1 */
  readonly topP?: number | undefined;
}

/** What a sample is written with. */
export interface SampleOptions {
  readonly request: InProcessRequest;
  readonly tokenizer: Tokenizer;
  /** The tokens before it. */
  readonly prompt: readonly number[];
  /** The most tokens that it may have: of the request, or of what is left of the context. */
  readonly maxTokens: number;
}

/**
 * One sample as it is written.
 *
 * It ends at a token that ends texts, at a stop text, or at its limit. The token that ends it has no text and no
 * log-probability; of a stop text nothing is left, nor the log-probabilities of tokens that lie in what was
 * cut off as a whole. All tokens count, whatever became of their text.
 */
export class Sample {
  readonly #options: SampleOptions;
  readonly #writer: TextWriter;
  readonly #longestStop: number;
  readonly #logprobs: TokenLogprob[] = [];
  /** Where in the text each token begins. */
  readonly #starts: number[] = [];
  #text = '';
  #length = 0;
  #finishReason: 'stop' | 'length' | undefined;

  constructor(options: SampleOptions) {
    this.#options = options;
    this.#writer = options.tokenizer.writer(options.prompt);
    this.#longestStop = Math.max(0, ...options.request.stop.map(({ length }) => length));
  }

  /** How many tokens were drawn. */
  get length(): number {
    return this.#length;
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

  /** Takes the next token. @param told - What was expected, for where log-probabilities are wanted. */
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
