/** What one probe of a model came to. */
export interface Finding {
  /** What was probed. */
  readonly about: string;
  /** `ignored`: it was accepted without a complaint, and not done. `unknown`: it cannot be seen from here. */
  readonly outcome: 'yes' | 'no' | 'ignored' | 'unknown';
  /** One short sentence: what was seen. */
  readonly detail: string;
}

/** How quickly a model answers. */
export interface Speed {
  /** Requests under way at once. */
  readonly concurrency: number;
  /** The median time of an answer, in milliseconds. */
  readonly latencyMs: number;
  /** Tokens written a second, all requests together; absent where usage is not told. */
  readonly tokensPerSecond?: number;
}

/** What a server says of itself. */
export interface ServerFacts {
  /** Its kind, as in a model spec. */
  readonly kind: string;
  /** The models that it offers. */
  readonly models: readonly string[];
  /** The longest prompt with its answer, in tokens. */
  readonly contextLength?: number;
  /** The paths at which it scores text: reward models and decisions. */
  readonly scoring: readonly string[];
}

/** What {@link examine} found. */
export interface Examination {
  /** The model, as `provider:modelId`. */
  readonly model: string;
  /** Whether it answered. */
  readonly reachable: boolean;
  /** Why it did not. */
  readonly failure?: string;
  /** What its server says of itself, where it was asked. */
  readonly server?: ServerFacts;
  /** What it supports. */
  readonly findings: readonly Finding[];
  /** How quickly it answers, one at a time and eight at once. */
  readonly speed: readonly Speed[];
  /** What it was asked for and did in another way. */
  readonly warnings: readonly string[];
  /** What espalier will therefore do, a sentence each. */
  readonly advice: readonly string[];
}
