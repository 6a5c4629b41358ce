import type { Clock } from './context.ts';
import type { JsonValue } from './json.ts';

/** One turn of a conversation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A model that writes text. Call it through `CallContext.generate`, never directly. */
export interface LanguageModel {
  readonly provider: string;
  readonly modelId: string;
  readonly capabilities: Capabilities;
  /** Answers with `request.samples` completions, or throws. */
  generate(request: GenerateRequest, call: ModelCall): Promise<Generation>;
}

/** What a model honours. A capability that is absent or false is never relied upon. */
export interface Capabilities {
  /** Several completions in one request. */
  readonly n?: boolean;
  readonly logprobs?: boolean;
  readonly seed?: boolean;
  readonly stop?: boolean;
  /** Goes on from a partial assistant message. */
  readonly continuation?: boolean;
  /** Structured output bound to a JSON schema. */
  readonly schema?: boolean;
  readonly tools?: boolean;
  readonly temperature?: boolean;
}

/** What a model is asked for. */
export interface GenerateRequest {
  readonly messages: readonly Message[];
  /** How many completions. One completion is one call in the ledger. @defaultValue 1 */
  readonly samples?: number;
  /** The index of the first sample: equal requests with equal indices are one call. @defaultValue 0 */
  readonly offset?: number;
  /** An upper limit on the tokens of one completion; what a reservation assumes. @defaultValue 1024 */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly logprobs?: boolean;
  /** A JSON schema that the text must satisfy. */
  readonly schema?: JsonValue;
}

/** What surrounds one call of a model. */
export interface ModelCall {
  /** Aborts when the search is abandoned or its deadline passes. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** A model's answer. */
export interface Generation {
  readonly completions: readonly Completion[];
  readonly usage: Usage;
}

/** One sample. */
export interface Completion {
  readonly text: string;
  /** `length`: cut off, and so never a complete answer. */
  readonly finishReason?: 'stop' | 'length' | 'tool' | 'refusal' | 'other';
  readonly logprobs?: readonly TokenLogprob[];
  /** The call in the journal that bought this sample. */
  readonly callId?: string;
}

/** A token and its natural logarithm of probability. */
export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
}

/** Tokens used by one request. What is left out is unknown, and charged as reserved. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}
