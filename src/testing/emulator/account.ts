/** What an {@link Emulator} has done, by its own count. */
export interface EmulatorAccount {
  /** Requests that arrived, of any kind. */
  readonly requests: number;
  /** Requests that were refused before anything was generated. */
  readonly rejected: number;
  /** Completions that were generated, delivered or not. */
  readonly completionsServed: number;
  /** Tokens that were read for them, those from a cache included; the prompt of several choices counts once. */
  readonly inputTokens: number;
  /** Tokens that were written, those of reasoning included. */
  readonly outputTokens: number;
  /** Of the tokens written, those of reasoning. */
  readonly reasoningTokens: number;
  /** Of the tokens read, those from a cache. */
  readonly cachedTokens: number;
  /** Of the tokens read, those written to a cache at a price (Anthropic). */
  readonly cacheWriteTokens: number;
  /** Requests whose client left before the whole answer was sent. */
  readonly aborted: number;
  /** Requests that are being answered now. */
  readonly inFlight: number;
  /** The most requests that were being answered at one time. */
  readonly maxConcurrent: number;
  /** Connections that are open now. */
  readonly openSockets: number;
  /** How often each sample index was generated. */
  readonly perSample: ReadonlyMap<number, number>;
}

/** Tokens of one generation. */
export interface TokenCount {
  /** Read. */
  readonly input: number;
  /** Of those, from a cache. */
  readonly cached: number;
  /** Of those read, written to a cache at a price. */
  readonly cacheWrite: number;
  /** Written. */
  readonly output: number;
  /** Of those, reasoning. */
  readonly reasoning: number;
}

/** The account while it is kept. */
export class Account implements EmulatorAccount {
  requests = 0;
  rejected = 0;
  completionsServed = 0;
  inputTokens = 0;
  outputTokens = 0;
  reasoningTokens = 0;
  cachedTokens = 0;
  cacheWriteTokens = 0;
  aborted = 0;
  inFlight = 0;
  maxConcurrent = 0;
  openSockets = 0;
  readonly perSample: Map<number, number> = new Map();

  /** A request arrived. Returns its index. */
  arrive(): number {
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.inFlight);
    return this.requests++;
  }

  /** Completions were generated, one for each of these samples. */
  serve(samples: readonly number[], tokens: TokenCount): void {
    this.completionsServed += samples.length;
    for (const sample of samples) {
      this.perSample.set(sample, (this.perSample.get(sample) ?? 0) + 1);
    }
    this.inputTokens += tokens.input;
    this.cachedTokens += tokens.cached;
    this.cacheWriteTokens += tokens.cacheWrite;
    this.outputTokens += tokens.output;
    this.reasoningTokens += tokens.reasoning;
  }
}
