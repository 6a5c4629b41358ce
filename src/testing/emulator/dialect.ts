import type { IncomingHttpHeaders } from 'node:http';
import type { JsonValue } from '../../contracts/json.ts';
import type { Account } from './account.ts';
import type { Fault } from './faults.ts';
import type { JsonObject } from './fields.ts';
import type { EmulatorOptions, FaultRequest } from './options.ts';
import type { PrefixCache, PrefixCacheOptions } from './prefix-cache.ts';
import type { EmulatedQuestion } from './question.ts';
import type { RejectionOptions } from './rejection.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What an emulator was told, checked and complete. */
export interface CheckedOptions {
  readonly dialect: Dialect;
  readonly settings: Required<
    Omit<EmulatorOptions, 'apiKey' | 'dialect' | 'faults' | 'latencyMs' | 'provider'>
  > & { readonly apiKey: string | undefined };
  readonly faultsOf: (request: FaultRequest) => readonly Fault[];
  readonly latencyOf: (index: number) => number;
}

/** What the requests of one emulator share. */
export interface Service extends CheckedOptions {
  readonly account: Account;
  readonly vocabulary: Vocabulary;
  /** What was read before, where the dialect reuses prefixes by itself. */
  readonly prefixes: PrefixCache | undefined;
  /** The prefixes that clients asked to keep (Anthropic). */
  readonly kept: Set<string>;
  /** The ids of calls of tools that came with thoughts, which have to come back with them. */
  readonly thoughtful: Set<string>;
  /** The batches that were submitted, oldest first. */
  readonly batches: Batch[];
  /** The files by their ids (OpenAI). */
  readonly files: Map<string, StoredFile>;
  /** Answers an item of a batch as the live request that it stands for, at once. */
  readonly answerItem: (exchange: Exchange) => Reply;
}

/** Requests that were submitted together, and are answered when the batch is over and somebody looks. */
export interface Batch {
  readonly id: string;
  /** When it was submitted, in milliseconds since 1970. */
  readonly createdMs: number;
  readonly items: readonly BatchItem[];
  /** What is wrong with all of it, for which it fails (OpenAI). */
  readonly errors: readonly JsonObject[];
  /** The request that submitted it. */
  readonly call: Call;
  /** When it was cancelled, in milliseconds since 1970. */
  cancelledMs: number | undefined;
  /** How much of its work is done, from 0 to 1. It stands still once the batch was cancelled or a day is over. */
  readonly share: number;
  /** Whether it ended: all is answered, it was cancelled, it failed, or a day is over. */
  readonly isOver: boolean;
  /** When it ended or will, in milliseconds since 1970. */
  readonly endedMs: number;
  /** What became of its items, never in their own order where there are several. The same at each look. */
  results(): readonly BatchResult[];
}

/** A request within a batch. */
export interface BatchItem {
  /** The client's name for it. */
  readonly customId: string;
  /** The body of the request. */
  readonly body: JsonObject;
}

/** What became of an item. */
export type BatchResult =
  | {
      readonly kind: 'answered';
      readonly item: BatchItem;
      /** The status of the reply. */
      readonly status: number;
      /** Its body. */
      readonly json: JsonValue;
      /** The name of the request. */
      readonly requestId: string;
    }
  | { readonly kind: 'canceled' | 'expired'; readonly item: BatchItem };

/** A file that was uploaded, or that holds the results of a batch. */
export interface StoredFile {
  readonly name: string;
  readonly purpose: string;
  /** When it was made, in milliseconds since 1970. */
  readonly createdMs: number;
  readonly text: string;
}

/** A request that arrived. */
export interface Exchange {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonValue | undefined;
  /** The index of the first sample. */
  readonly sample: number;
  readonly faults: readonly Fault[];
  /** Its name within a batch; absent if it is a request of its own. */
  readonly customId?: string;
  /** What the model was asked for it, one entry a choice. */
  readonly questions: EmulatedQuestion[];
  /** What is to be done once the reply was sent. */
  readonly afterwards: (() => void)[];
}

/** A request and who answers it. */
export interface Call {
  readonly exchange: Exchange;
  readonly service: Service;
  /** The body, empty if it is no object. */
  readonly body: JsonObject;
}

/** An answer to a request. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

/** JSON, another text, or a stream of events. */
export type ReplyBody =
  | { readonly json: JsonValue }
  | { readonly text: string; readonly type: string }
  | { readonly events: readonly StreamEvent[]; readonly format: 'sse' | 'ndjson' };

/** One event of a stream: JSON, or a word such as `[DONE]`. */
export interface StreamEvent {
  readonly event?: string;
  readonly data: JsonValue | { readonly word: string };
}

/** Routes by method and path, `POST /v1/chat/completions`; a path may end with `/*`. */
export type Routes = Readonly<Record<string, (call: Call) => Reply>>;

/** How a kind of server speaks. */
export interface Dialect {
  /** The endpoints that ask the model. */
  readonly calls: Routes;
  /** The others. */
  readonly information: Routes;
  /** The body of an error. */
  readonly errorBody: (rejection: RejectionOptions, exchange: Exchange) => JsonValue;
  /** What the ids of batches begin with. @defaultValue `'batch'` */
  readonly batchPrefix?: string;
  /** How a key is refused; `undefined` if none was sent. */
  readonly unauthorized: (key: string | undefined) => RejectionOptions;
  /** Whether a path needs no key. @defaultValue none does */
  readonly isOpen?: (path: string) => boolean;
  /** How it says that there is no such path. */
  readonly notFound: (exchange: Exchange) => Reply | RejectionOptions;
  /** How it says that there is no such model; absent if any name will do. */
  readonly unknownModel: (model: string) => RejectionOptions;
  /** Whether it serves whatever model is named. */
  readonly servesAnyModel?: boolean;
  /** Why a request does not fit the `limit` of its context, in tokens; `undefined` if it does. */
  readonly overflow: (
    size: {
      readonly input: number;
      /** The limit of the answer, where the request has one. */
      readonly output: number | undefined;
      readonly limit: number;
    },
    path: string,
  ) => RejectionOptions | undefined;
  /** Headers of every reply. @defaultValue none */
  readonly headers?: (call: Call) => Readonly<Record<string, string>>;
  /** How it reuses prefixes by itself. */
  readonly prefixes?: PrefixCacheOptions;
  /** The fields that a body may have; `undefined` if anything goes. */
  readonly knownFields: (call: Call) => readonly string[] | undefined;
  /** Whether it refuses other fields unless it is told not to. */
  readonly refusesUnknown?: boolean;
  /** How it refuses a field that it does not know. */
  readonly unknownField: (name: string, path: string) => RejectionOptions;
}
