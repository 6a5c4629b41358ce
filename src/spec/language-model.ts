import type { Clock } from './context.ts';
import type { JsonValue } from './json.ts';

/** One turn of a conversation. */
export interface Message {
  /** Who speaks. */
  readonly role: 'system' | 'user' | 'assistant';
  /** What is said. */
  readonly content: string;
}

/** A model that writes text. Call it through `CallContext.generate`, never directly. */
export interface LanguageModel {
  /** Who serves it. */
  readonly provider: string;
  /** Its name there, and in price tables. */
  readonly modelId: string;
  /** What it honours. */
  readonly capabilities: Capabilities;
  /** Answers with `request.samples` completions, or throws. */
  generate(request: GenerateRequest, call: ModelCall): Promise<Generation>;
}

/** What a model honours. A capability that is absent or false is never relied upon. */
export interface Capabilities {
  /** Several completions in one request. */
  readonly n?: boolean;
  /** Log-probabilities of tokens. */
  readonly logprobs?: boolean;
  /** A seed for sampling. */
  readonly seed?: boolean;
  /** Texts at which it stops. */
  readonly stop?: boolean;
  /** Goes on from a partial assistant message. */
  readonly continuation?: boolean;
  /** Structured output bound to a JSON schema. */
  readonly schema?: boolean;
  /** Tool calls. */
  readonly tools?: boolean;
  /** A temperature. */
  readonly temperature?: boolean;
  /** Sampling from the likeliest tokens only. */
  readonly topK?: boolean;
}

/** What a model is asked for. */
export interface GenerateRequest {
  /** The conversation so far. */
  readonly messages: readonly Message[];
  /** How many completions. One completion is one call in the ledger. @defaultValue 1 */
  readonly samples?: number;
  /** The index of the first sample: equal requests with equal indices are one call. @defaultValue 0 */
  readonly offset?: number;
  /** An upper limit on the tokens of one completion; what a reservation assumes. @defaultValue 1024 */
  readonly maxTokens?: number;
  /** The temperature of sampling, from 0 up. */
  readonly temperature?: number;
  /** The probability mass to sample from, in (0, 1]. */
  readonly topP?: number;
  /** From how many of the likeliest tokens to sample: an integer from 1 up. */
  readonly topK?: number;
  /** Texts at which the completion ends. */
  readonly stop?: readonly string[];
  /** The seed of sampling. */
  readonly seed?: number;
  /** Whether token log-probabilities are wanted. */
  readonly logprobs?: boolean;
  /** How many of the likeliest tokens to tell at each place, from 0 to 20; more than 0 implies `logprobs`. */
  readonly topLogprobs?: number;
  /** A JSON schema that the text must satisfy. */
  readonly schema?: JsonValue;
}

/** What surrounds one call of a model. */
export interface ModelCall {
  /** Aborts when the search is abandoned or its deadline passes. */
  readonly signal: AbortSignal;
  /** The time of the search. */
  readonly clock: Clock;
}

/** A model's answer. */
export interface Generation {
  /** The samples, in order. */
  readonly completions: readonly Completion[];
  /** The tokens that all samples together used. */
  readonly usage: Usage;
}

/** One sample. */
export interface Completion {
  /** What the model wrote. */
  readonly text: string;
  /** `length`: cut off, and so never a complete answer. */
  readonly finishReason?: 'stop' | 'length' | 'tool' | 'refusal' | 'other';
  /** One entry a token. */
  readonly logprobs?: readonly TokenLogprob[];
  /** The call in the journal that bought this sample. */
  readonly callId?: string;
}

/** A token and its natural logarithm of probability. */
export interface TokenAlternative {
  /** The token as text. */
  readonly token: string;
  /** ln p, at most 0. */
  readonly logprob: number;
}

/**
 * A token that was written. Log-probabilities are those of the model itself, before temperature, top-k and
 * top-p, where the model tells those.
 */
export interface TokenLogprob extends TokenAlternative {
  /** What could have been written in its place, likeliest first; only where `topLogprobs` was asked for. */
  readonly top?: readonly TokenAlternative[];
}

/** Tokens used by one request. What is left out is unknown, and charged as reserved. */
export interface Usage {
  /** Tokens read. */
  readonly inputTokens?: number;
  /** Tokens written. */
  readonly outputTokens?: number;
}
