/** Tokens of one generation. */
export interface TokenCount {
  /** Read. */
  readonly input: number;
  /** The part read from a cache. */
  readonly cached: number;
  /** The part read and written to a cache at a separate price. */
  readonly cacheWrite: number;
  /** Written. */
  readonly output: number;
  /** The part that is reasoning. */
  readonly reasoning: number;
}

/** The statistics of an emulator. */
export class Account {
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

  /** Counts a request. Returns its index. */
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
