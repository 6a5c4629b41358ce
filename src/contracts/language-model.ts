import type { BatchReply, BatchRequest } from './batch.ts';
import type { Clock } from './clock.ts';
import type { JsonValue, MaybePromise } from './json.ts';

/** One turn of a conversation. A trailing `assistant` turn is the beginning of the requested answer. */
export interface Message {
  /** Who speaks. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text; for `tool`, the tool's result. */
  readonly content: string;
  /**
   * Where later prompts of a search may diverge from this one: ascending offsets in `content`. Text before the last
   * offset recurs in other prompts; text after it does not. Only prefix caches use this: requests that differ in
   * nothing else are equal.
   *
   * @defaultValue the entire text recurs
   */
  readonly prefixEnds?: readonly number[];
  /** The tools that an `assistant` turn calls. */
  readonly toolCalls?: readonly ToolCall[];
  /** The call that a `tool` turn answers. */
  readonly toolCallId?: string;
  /** Images, shown before the text. @defaultValue none */
  readonly images?: readonly Image[];
  /**
   * An `assistant` turn in its provider's own form, to be sent back unchanged. Other providers use the text and tool
   * calls.
   */
  readonly original?: OriginalTurn;
}

/** An image in a message. A model without image support refuses the request before anything is spent. */
export interface Image {
  /** The media type, such as `image/png`. */
  readonly mediaType: string;
  /** Its bytes as Base64. */
  readonly base64: string;
}

/** A turn in a provider's own form, with reasoning, signatures and everything else its API expects back. */
export interface OriginalTurn {
  /** The provider, as {@link Payee.provider}: it is sent to no other. */
  readonly provider: string;
  /** The turn itself. */
  readonly data: JsonValue;
}

/** A tool as described to a model. */
export interface ToolDefinition {
  /** Its name: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description?: string;
  /** The JSON schema of its input, an object. */
  readonly input: JsonValue;
}

/** A tool call requested by a model. Data: nothing has been run. */
export interface ToolCall {
  /** Names the call in the conversation. */
  readonly id: string;
  /** The tool. */
  readonly name: string;
  /** Its input, parsed. The caller must validate it against the schema. */
  readonly input: JsonValue;
}

/** A model of any kind, as the recipient and payee of calls. */
export interface Payee {
  /** The provider that serves it. */
  readonly provider: string;
  /** Its name at the provider, and in price tables. */
  readonly modelId: string;
  /** Its price, if its provider knows it: free on your own machine. A price table overrides it. */
  readonly price?: ModelPrice;
  /** Fixed settings that affect its answers, such as reasoning effort. @defaultValue nothing */
  readonly settings?: Readonly<Record<string, JsonValue>>;
}

/** A model that writes text. Call it through `CallContext.generate`, never directly. */
export interface LanguageModel extends Payee {
  /** What it supports. */
  readonly capabilities: Capabilities;
  /**
   * The maximum reasoning tokens per completion, in addition to `maxTokens`: an integer from 0 up. Servers with a
   * single limit get the sum; reservations cover both.
   *
   * @defaultValue 0
   */
  readonly thoughtTokens?: number;
  /**
   * The shortest prompt that the provider caches, in tokens: from 0 up, `Infinity` if it caches nothing. When several
   * samples are requested separately, the first is sent ahead to fill the cache; for shorter prompts all are sent at
   * once.
   *
   * @defaultValue 0
   */
  readonly leastPrefixTokens?: number;
  /** Answers with `request.samples` completions, or throws. */
  generate(request: GenerateRequest, call: ModelCall): Promise<Generation>;
  /**
   * Counts the tokens of a request's prompt, including tools, schema and chat template. It must be free, and fast
   * compared with a call. If it throws, takes too long or returns an invalid count, the bytes of the prompt count
   * instead. It is used if the budget limits tokens or dollars; a replay of such a search needs a model with `count`,
   * but does not call it.
   *
   * @defaultValue absent: no token is shorter than a byte
   */
  count?(request: GenerateRequest): MaybePromise<number>;
}

/** What a model supports. A capability that is absent or false is never relied upon. */
export interface Capabilities {
  /** Several completions in one request. */
  readonly n?: boolean;
  /** Log-probabilities of tokens. */
  readonly logprobs?: boolean;
  /** A seed for sampling. */
  readonly seed?: boolean;
  /** Stop texts. */
  readonly stop?: boolean;
  /** Continues a partial assistant message. */
  readonly continuation?: boolean;
  /** Structured output constrained by a JSON schema. */
  readonly schema?: boolean;
  /** Tool calls. */
  readonly tools?: boolean;
  /** Images in messages. */
  readonly images?: boolean;
  /** A temperature. */
  readonly temperature?: boolean;
  /** Sampling from the likeliest tokens only. */
  readonly topK?: boolean;
  /** Batches: requests that may wait, at a lower price. */
  readonly batch?: boolean;
}

/** US dollars per million tokens. */
export interface ModelPrice {
  /** For tokens read. */
  readonly input: number;
  /** For tokens written, those of hidden reasoning included. */
  readonly output: number;
  /** For tokens read from the provider's cache. @defaultValue the price of `input` */
  readonly cachedInput?: number;
  /** For tokens read and written to the provider's cache. @defaultValue the price of `input` */
  readonly cacheWrite?: number;
  /**
   * Price multipliers by service tier, as named in {@link Usage.serviceTier}; from 0 up. Tiers not listed have the
   * multiplier 1.
   */
  readonly tiers?: Readonly<Record<string, number>>;
  /** The price of long prompts. @defaultValue the same as for short ones */
  readonly longContext?: {
    /** The prompt length, in tokens, above which a request counts as long. */
    readonly above: number;
    /** The multiplier for the prices of all tokens read, cached ones included; from 0 up. */
    readonly input: number;
    /** The multiplier for the price of tokens written; from 0 up. */
    readonly output: number;
  };
}

/** A request to a language model. */
export interface GenerateRequest {
  /** The conversation so far. */
  readonly messages: readonly Message[];
  /** The number of completions. Each counts as one call in the ledger. @defaultValue 1 */
  readonly samples?: number;
  /** The index of the first sample: equal requests with equal indices are made once. @defaultValue 0 */
  readonly offset?: number;
  /**
   * The maximum tokens of one completion, reasoning tokens excluded; reservations assume this many.
   *
   * @defaultValue 1024
   */
  readonly maxTokens?: number;
  /** The sampling temperature, from 0 up. */
  readonly temperature?: number;
  /** The probability mass to sample from, in (0, 1]. */
  readonly topP?: number;
  /** The number of likeliest tokens to sample from: an integer from 1 up. */
  readonly topK?: number;
  /** Texts at which the completion ends. */
  readonly stop?: readonly string[];
  /** The seed of sampling. */
  readonly seed?: number;
  /** Whether to return token log-probabilities. */
  readonly logprobs?: boolean;
  /** The number of likeliest tokens to report at each position, from 0 to 20; above 0 implies `logprobs`. */
  readonly topLogprobs?: number;
  /** A JSON schema that the text must satisfy. */
  readonly schema?: JsonValue;
  /** The tools that may be called. */
  readonly tools?: readonly ToolDefinition[];
  /** Whether to call a tool: as the model chooses, never, always, or this one. @defaultValue `'auto'` */
  readonly toolChoice?:
    | 'auto'
    | 'none'
    | 'required'
    | {
        /** Its name. */
        readonly name: string;
      };
}

/** The context of one model call. */
export interface ModelCall {
  /** Aborts when the search is abandoned or its deadline passes. */
  readonly signal: AbortSignal;
  /** The time of the search. */
  readonly clock: Clock;
  /** A value common to all calls of one search: the cache key for providers that accept one. */
  readonly run?: string;
  /**
   * Reports a failed attempt, and requests permission for another: the budget must cover its worst case. Rejects if it
   * does not. Absent without a budget ledger.
   */
  retry?(attempt: FailedAttempt): Promise<void>;
  /**
   * Requests permission for an additional request, if one turned out not to be enough: the budget must cover the worst
   * case again. Rejects if it does not. Its usage counts as part of the call.
   */
  requestExtraCall?(reason: string, options?: Pick<FailedAttempt, 'waits'>): Promise<void>;
  /** Reports something that was not done as requested. */
  warn?(warning: ModelWarning): void;
  /** Reports the server's remaining rate limits. */
  limits?(limits: RateLimits): void;
  /**
   * Called when the answer starts to arrive: its prompt is now in the server's cache, so calls with the same prefix
   * need not wait for the end. If present, answers are streamed when possible.
   */
  began?(): void;
  /**
   * Sends a request in a batch with those of other searches, and waits for its answer, possibly for hours. Absent if
   * every request is sent on its own.
   *
   * @param live - Sends it on its own, as a fallback when no batch answers it.
   */
  batch?(request: BatchRequest, live: () => Promise<BatchReply>): Promise<BatchReply>;
}

/** An attempt at a call that failed and is to be repeated. */
export interface FailedAttempt {
  /** Why, in one sentence. */
  readonly message: string;
  /** Whether the server may have charged for it; if so, its reservation counts as spent. */
  readonly charged: boolean;
  /**
   * Whether the request for another may wait until other calls give back what they have reserved. `false` where those
   * may wait for this call, as behind a limit on concurrent calls: they would wait for each other.
   *
   * @defaultValue true
   */
  readonly waits?: boolean;
}

/** Something that a model does not support, and what is done instead. */
export interface ModelWarning {
  /** The model, as `provider:modelId`. */
  readonly model: string;
  /** The capability or parameter in question. */
  readonly about: string;
  /** One sentence for a person. */
  readonly message: string;
}

/** The remaining requests and tokens that a server allows, from its headers. */
export type RateLimits = Readonly<
  Partial<
    Record<
      'requests' | 'tokens',
      {
        /** The limit per period, if reported. */
        readonly limit?: number;
        /** What is left in this period. */
        readonly remaining: number;
        /** Milliseconds until the period ends. */
        readonly resetMs: number;
      }
    >
  >
>;

/** Wraps a model: with a limit, retries, a cache. */
export type Middleware<Model = LanguageModel> = (next: Model) => Model;

/** A model's answer. */
export interface Generation {
  /** The samples, in order. */
  readonly completions: readonly Completion[];
  /** The tokens that all samples together used. */
  readonly usage: Usage;
  /**
   * Whether the samples came from a local cache. Only then is a usage of 0 taken literally; otherwise it counts as
   * unknown.
   *
   * @defaultValue false
   */
  readonly fromCache?: boolean;
  /** The exact model that answered, if the server reports it. */
  readonly answeredBy?: string;
  /** The server's request id, for its support. */
  readonly requestId?: string;
}

/** One sample. */
export interface Completion {
  /** What the model wrote. */
  readonly text: string;
  /** `length` means cut off, and so never a complete answer. */
  readonly finishReason?: 'stop' | 'length' | 'tool' | 'refusal' | 'other';
  /** One entry per token. */
  readonly logprobs?: readonly TokenLogprob[];
  /** The tool calls that it requests. */
  readonly toolCalls?: readonly ToolCall[];
  /** The reasoning before the answer, if the server reports it. Never part of the answer. */
  readonly reasoning?: string;
  /** The turn in the provider's own form, if more than text and calls must be sent back. */
  readonly original?: OriginalTurn;
  /** The model that wrote it, as `provider:modelId`, if a policy has several. */
  readonly model?: string;
  /** The journaled call that produced this sample. */
  readonly callId?: string;
}

/** A token and its log-probability. */
export interface TokenAlternative {
  /** The token as text. */
  readonly token: string;
  /** ln p, at most 0. */
  readonly logprob: number;
}

/**
 * A token that was written. Log-probabilities are those of the model itself, before temperature, top-k and top-p, if
 * the model reports those.
 */
export interface TokenLogprob extends TokenAlternative {
  /** The alternatives at its position, likeliest first; only with `topLogprobs`. */
  readonly top?: readonly TokenAlternative[];
}

/** Tokens used by one request. Missing fields are unknown, and charged as reserved. */
export interface Usage {
  /** Tokens read, those from a cache included. */
  readonly inputTokens?: number;
  /** Tokens written, those of hidden reasoning included. */
  readonly outputTokens?: number;
  /** The tokens read that came from a cache. */
  readonly cachedTokens?: number;
  /** The tokens read that were written to a cache at a separate price. */
  readonly cacheWriteTokens?: number;
  /** The tokens written that are hidden reasoning. */
  readonly reasoningTokens?: number;
  /** The number of requests with this prompt that it sums. @defaultValue 1 */
  readonly requests?: number;
  /** The service tier that the provider reports and bills. */
  readonly serviceTier?: string;
  /** US dollars that the provider reports as charged, from 0 up; used instead of the price table. */
  readonly usd?: number;
  /** The parts of the sum, if they were served in different tiers. */
  readonly parts?: readonly Usage[];
}
