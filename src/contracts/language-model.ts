import type { BatchReply, BatchRequest } from './batch.ts';
import type { Clock } from './clock.ts';
import type { JsonValue, MaybePromise } from './json.ts';

/** One turn of a conversation. A trailing `assistant` turn is the beginning of the answer asked for. */
export interface Message {
  /** Who speaks. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** What is said: for `tool`, what the tool returned. */
  readonly content: string;
  /**
   * Where later prompts of a search may part from this one: ascending offsets in `content`. What stands before the last
   * of them comes back in other prompts, what stands behind it does not. Caches of prefixes want to know; a model does
   * not, and two requests that differ in this alone are one.
   *
   * @defaultValue all of it comes back
   */
  readonly prefixEnds?: readonly number[];
  /** The tools that an `assistant` turn calls. */
  readonly toolCalls?: readonly ToolCall[];
  /** The call that a `tool` turn answers. */
  readonly toolCallId?: string;
  /** Images that it shows, before what is said. @defaultValue none */
  readonly images?: readonly Image[];
  /** An `assistant` turn as its provider told it, who wants it back unchanged. Others read what is said and called. */
  readonly original?: OriginalTurn;
}

/** An image in a message. A model that takes none refuses the request before anything is paid. */
export interface Image {
  /** What it is, such as `image/png`. */
  readonly mediaType: string;
  /** Its bytes as Base64. */
  readonly base64: string;
}

/** A turn in the form of a provider: with thoughts, their signatures, and all else that its API wants handed back. */
export interface OriginalTurn {
  /** Who told it, as {@link Payee.provider}: nobody else is shown it. */
  readonly provider: string;
  /** What it told. */
  readonly data: JsonValue;
}

/** A tool as a model is told of it. */
export interface ToolDefinition {
  /** Its name: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description?: string;
  /** The JSON schema of its input, an object. */
  readonly input: JsonValue;
}

/** A tool call that a model asks for. Data: nothing has been run. */
export interface ToolCall {
  /** Names the call in the conversation. */
  readonly id: string;
  /** The tool. */
  readonly name: string;
  /** Its input, parsed. Whether it satisfies the schema is for the caller to check. */
  readonly input: JsonValue;
}

/** Who answers calls and is paid for them: a model of any kind. */
export interface Payee {
  /** Who serves it. */
  readonly provider: string;
  /** Its name there, and in price tables. */
  readonly modelId: string;
  /** What it costs, where its provider knows: nothing on a machine of one's own. A price table overrides it. */
  readonly price?: ModelPrice;
  /** What it was told beforehand that changes its answers, such as an effort. @defaultValue nothing */
  readonly settings?: Readonly<Record<string, JsonValue>>;
}

/** A model that writes text. Call it through `CallContext.generate`, never directly. */
export interface LanguageModel extends Payee {
  /** What it supports. */
  readonly capabilities: Capabilities;
  /**
   * How many tokens a completion may think in, beside its `maxTokens`: an integer from 0 up. A server that has one limit
   * for both is told the sum, and a reservation holds both.
   *
   * @defaultValue 0
   */
  readonly thoughtTokens?: number;
  /**
   * The shortest prompt that the cache of its provider keeps, in tokens: from 0 up, `Infinity` where it keeps none. Of
   * several samples that are asked for one by one, the first goes ahead to fill the cache; with a shorter prompt all go at
   * once.
   *
   * @defaultValue 0
   */
  readonly leastPrefixTokens?: number;
  /** Answers with `request.samples` completions, or throws. */
  generate(request: GenerateRequest, call: ModelCall): Promise<Generation>;
  /**
   * How many tokens the prompt of a request is, with all that is told with it: tools, a schema, the chat template. It
   * costs nothing, and takes no longer than a call can wait. Where it throws, is late, or tells what cannot be, the
   * bytes of the prompt count instead. A search counts where its budget limits tokens or dollars, and a replay of it
   * has to be given a model that counts, but does not ask it.
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
  /** Texts at which it stops. */
  readonly stop?: boolean;
  /** Goes on from a partial assistant message. */
  readonly continuation?: boolean;
  /** Structured output bound to a JSON schema. */
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
  /** For tokens read from the provider's cache. @defaultValue as `input` */
  readonly cachedInput?: number;
  /** For tokens read and kept in the provider's cache. @defaultValue as `input` */
  readonly cacheWrite?: number;
  /**
   * By what all prices are multiplied in a tier of service, by its name in {@link Usage.serviceTier}; from 0 up. A
   * tier that is not here costs as much as none.
   */
  readonly tiers?: Readonly<Record<string, number>>;
  /** What long prompts cost. @defaultValue as short ones */
  readonly longContext?: {
    /** From how many tokens of the prompt of one request on: where it is longer than this. */
    readonly above: number;
    /** By what the prices of all tokens read are multiplied then, those from and for caches too; from 0 up. */
    readonly input: number;
    /** By what the price of tokens written is multiplied then; from 0 up. */
    readonly output: number;
  };
}

/** What a model is asked for. */
export interface GenerateRequest {
  /** The conversation so far. */
  readonly messages: readonly Message[];
  /** How many completions. One completion is one call in the ledger. @defaultValue 1 */
  readonly samples?: number;
  /** The index of the first sample: equal requests with equal indices are one call. @defaultValue 0 */
  readonly offset?: number;
  /**
   * An upper limit on the tokens of one completion, without those that it thinks in; what a reservation assumes.
   *
   * @defaultValue 1024
   */
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
  /** The tools that may be called. */
  readonly tools?: readonly ToolDefinition[];
  /** Whether a tool is called: as the model likes, never, always, or this one. @defaultValue `'auto'` */
  readonly toolChoice?:
    | 'auto'
    | 'none'
    | 'required'
    | {
        /** Its name. */
        readonly name: string;
      };
}

/** What surrounds one call of a model. */
export interface ModelCall {
  /** Aborts when the search is abandoned or its deadline passes. */
  readonly signal: AbortSignal;
  /** The time of the search. */
  readonly clock: Clock;
  /** What all calls of one search have in common: the key of prefix caches that take one. */
  readonly run?: string;
  /**
   * Says that an attempt failed, and asks leave to make another one: the budget must hold its worst case.
   * Rejects where it does not. Absent where nobody keeps an account.
   */
  retry?(attempt: FailedAttempt): Promise<void>;
  /**
   * Asks leave for a further request, where one turned out not to be enough: the budget must hold the worst
   * case once more. Rejects where it does not. What is used counts with the rest of the call.
   */
  requestExtraCall?(reason: string): Promise<void>;
  /** Says that something was not done as asked. */
  warn?(warning: ModelWarning): void;
  /** Says how much the server still allows. */
  limits?(limits: RateLimits): void;
  /**
   * Hears that the answer has begun to come: what was read for it is in the server's cache by now, and others that begin
   * alike need not wait for the end. Where it is given, an answer is streamed if it can be.
   */
  began?(): void;
  /**
   * Sends a request together with those of other searches, and waits for its answer, for hours if need be. Absent where
   * every request is sent by itself.
   *
   * @param live - Sends it by itself: for where no batch answers it.
   */
  batch?(request: BatchRequest, live: () => Promise<BatchReply>): Promise<BatchReply>;
}

/** An attempt at a call that failed and is to be repeated. */
export interface FailedAttempt {
  /** Why, in one sentence. */
  readonly message: string;
  /** Whether the server may have charged for it; then it counts as reserved. */
  readonly charged: boolean;
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

/** How much a server still allows of requests and tokens, as its headers say. */
export type RateLimits = Readonly<
  Partial<
    Record<
      'requests' | 'tokens',
      {
        /** How many in a period, where it is told. */
        readonly limit?: number;
        /** How many are left in this period. */
        readonly remaining: number;
        /** Milliseconds until the period is over. */
        readonly resetMs: number;
      }
    >
  >
>;

/** Puts something around a model: a limit, retries, a cache. */
export type Middleware<Model = LanguageModel> = (next: Model) => Model;

/** A model's answer. */
export interface Generation {
  /** The samples, in order. */
  readonly completions: readonly Completion[];
  /** The tokens that all samples together used. */
  readonly usage: Usage;
  /**
   * Whether the samples were at hand and nobody was asked for them: a usage of 0 is what it says then. Of any other text
   * it cannot be, and counts as unknown.
   *
   * @defaultValue false
   */
  readonly fromCache?: boolean;
  /** The exact model that answered, where the server tells. */
  readonly answeredBy?: string;
  /** The server's own name for the request, for its support. */
  readonly requestId?: string;
}

/** One sample. */
export interface Completion {
  /** What the model wrote. */
  readonly text: string;
  /** `length`: cut off, and so never a complete answer. */
  readonly finishReason?: 'stop' | 'length' | 'tool' | 'refusal' | 'other';
  /** One entry a token. */
  readonly logprobs?: readonly TokenLogprob[];
  /** The tools it asks to be called. */
  readonly toolCalls?: readonly ToolCall[];
  /** What it thought before it wrote, where the server tells. Never part of the answer. */
  readonly reasoning?: string;
  /** The turn as the provider told it, where that has more to hand back than text and calls. */
  readonly original?: OriginalTurn;
  /** Who wrote it, as `provider:modelId`, where a policy has several models. */
  readonly model?: string;
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
  /** Tokens read, those from a cache included. */
  readonly inputTokens?: number;
  /** Tokens written, those of hidden reasoning included. */
  readonly outputTokens?: number;
  /** Of the tokens read, those that came from a cache. */
  readonly cachedTokens?: number;
  /** Of the tokens read, those that were put into a cache at a price of its own. */
  readonly cacheWriteTokens?: number;
  /** Of the tokens written, those of hidden reasoning. */
  readonly reasoningTokens?: number;
  /** How many requests with this prompt it is the sum of. @defaultValue 1 */
  readonly requests?: number;
  /** The tier of service that the provider says it served: what it bills. */
  readonly serviceTier?: string;
  /** US dollars that the provider says it charged, from 0 up: they count in place of its price. */
  readonly usd?: number;
  /** What it is the sum of, where not all of it was served in the same tier. */
  readonly parts?: readonly Usage[];
}
