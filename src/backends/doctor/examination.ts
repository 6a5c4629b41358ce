/** The result of one probe of a model. */
export interface Finding {
  /** What was probed. */
  readonly about: string;
  /** `ignored`: accepted silently, but not done. `unknown`: it cannot be determined. */
  readonly outcome: 'yes' | 'no' | 'ignored' | 'unknown';
  /** The observation, in one short sentence. */
  readonly detail: string;
}

/** How quickly a model answers. */
export interface Speed {
  /** Concurrent requests. */
  readonly concurrency: number;
  /** The median time of an answer, in milliseconds. */
  readonly latencyMs: number;
  /** Tokens written per second, over all requests; absent if usage is not reported. */
  readonly tokensPerSecond?: number;
}

/** A server's information about itself. */
export interface ServerFacts {
  /** Its kind, as in a model spec. */
  readonly kind: string;
  /** The models it serves. */
  readonly models: readonly string[];
  /** The context length, in tokens. */
  readonly contextLength?: number;
  /** The paths of its scoring endpoints: reward models and decisions. */
  readonly scoring: readonly string[];
}

/** The result of {@link examine}. */
export interface Examination {
  /** The model, as `provider:modelId`; only its provider if neither the user nor its server named it. */
  readonly model: string;
  /** Whether it answered. */
  readonly reachable: boolean;
  /** Why it did not. */
  readonly failure?: string;
  /** Its server's information, if it was asked. */
  readonly server?: ServerFacts;
  /** What it supports. */
  readonly findings: readonly Finding[];
  /** How quickly it answers, one at a time and eight at once. */
  readonly speed: readonly Speed[];
  /** Requests that it did not do as asked. */
  readonly warnings: readonly string[];
  /** How espalier will use it, one sentence each. */
  readonly advice: readonly string[];
}
