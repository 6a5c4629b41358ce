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

/** The options of an emulator, checked and complete. */
export interface CheckedOptions {
  readonly dialect: Dialect;
  readonly settings: Required<
    Omit<EmulatorOptions, 'apiKey' | 'dialect' | 'faults' | 'latencyMs' | 'provider'>
  > & { readonly apiKey: string | undefined };
  readonly faultsOf: (request: FaultRequest) => readonly Fault[];
  readonly latencyOf: (index: number) => number;
}

/** The state shared by the requests of one emulator. */
export interface Service extends CheckedOptions {
  readonly account: Account;
  readonly vocabulary: Vocabulary;
  /** Earlier prompts, if the dialect reuses prefixes automatically. */
  readonly prefixes: PrefixCache | undefined;
  /** The prefixes that clients asked to cache (Anthropic). */
  readonly kept: Set<string>;
  /** The ids of tool calls with thoughts, which must be sent back with them. */
  readonly thoughtful: Set<string>;
  /** The batches that were submitted, oldest first. */
  readonly batches: Batch[];
  /** The files by their ids (OpenAI). */
  readonly files: Map<string, StoredFile>;
  /** Answers an item of a batch at once, as the equivalent live request. */
  readonly answerItem: (exchange: Exchange) => Reply;
}

/** Requests that were submitted together. They are answered when the batch is over and is polled. */
export interface Batch {
  readonly id: string;
  /** When it was submitted, in milliseconds since 1970. */
  readonly createdMs: number;
  readonly items: readonly BatchItem[];
  /** Problems of the whole batch, for which it fails (OpenAI). */
  readonly errors: readonly JsonObject[];
  /** The request that submitted it. */
  readonly call: Call;
  /** When it was cancelled, in milliseconds since 1970. */
  cancelledMs: number | undefined;
  /** The fraction of its work that is done, from 0 to 1. It stops at cancellation or after a day. */
  readonly share: number;
  /** Whether it has ended: it is complete, was cancelled, failed, or a day is over. */
  readonly isOver: boolean;
  /** When it ended or will, in milliseconds since 1970. */
  readonly endedMs: number;
  /** The results of its items, never in their original order if there are several. Each call returns the same. */
  results(): readonly BatchResult[];
}

/** A request within a batch. */
export interface BatchItem {
  /** The client's name for it. */
  readonly customId: string;
  /** The body of the request. */
  readonly body: JsonObject;
}

/** The result of an item. */
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

/** A file that was uploaded, or that contains the results of a batch. */
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
  /** Its name within a batch; absent for a live request. */
  readonly customId?: string;
  /** The questions to the model, one per choice. */
  readonly questions: EmulatedQuestion[];
  /** Functions to call once the reply has been sent. */
  readonly afterwards: (() => void)[];
}

/** A request and its service. */
export interface Call {
  readonly exchange: Exchange;
  readonly service: Service;
  /** The body; empty if it is not an object. */
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

/** The behaviour of a kind of server. */
export interface Dialect {
  /** The endpoints that call the model. */
  readonly calls: Routes;
  /** All other endpoints. */
  readonly information: Routes;
  /** The body of an error. */
  readonly errorBody: (rejection: RejectionOptions, exchange: Exchange) => JsonValue;
  /** The prefix of batch ids. @defaultValue `'batch'` */
  readonly batchPrefix?: string;
  /** The error for a key; `undefined` if none was sent. */
  readonly unauthorized: (key: string | undefined) => RejectionOptions;
  /** Whether a path needs no key. @defaultValue none is open */
  readonly isOpen?: (path: string) => boolean;
  /** The reply for an unknown path. */
  readonly notFound: (exchange: Exchange) => Reply | RejectionOptions;
  /** The error for an unknown model; absent if any name is accepted. */
  readonly unknownModel: (model: string) => RejectionOptions;
  /** Whether it serves a model under any name. */
  readonly servesAnyModel?: boolean;
  /** Why a request does not fit the `limit` of its context, in tokens; `undefined` if it fits. */
  readonly overflow: (
    size: {
      readonly input: number;
      /** The limit of the answer, if the request has one. */
      readonly output: number | undefined;
      readonly limit: number;
    },
    path: string,
  ) => RejectionOptions | undefined;
  /** Headers of every reply. @defaultValue none */
  readonly headers?: (call: Call) => Readonly<Record<string, string>>;
  /** How it reuses prefixes automatically. */
  readonly prefixes?: PrefixCacheOptions;
  /** The allowed fields of a body; `undefined` if all are. */
  readonly knownFields: (call: Call) => readonly string[] | undefined;
  /** Whether it refuses other fields by default. */
  readonly refusesUnknown?: boolean;
  /** The error for an unknown field. */
  readonly unknownField: (name: string, path: string) => RejectionOptions;
}
