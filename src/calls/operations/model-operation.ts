import type { JsonValue } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/language-model.ts';
import type { Operation, WorstCase } from '../../contracts/operation.ts';
import type { Prompt } from './tokens.ts';

/** Fields common to the answers of all models. */
export interface Answer {
  readonly usage?: Usage;
  readonly fromCache?: boolean;
}

/** The index of the first sample, and the number of samples. */
export type SampleRange = readonly [first: number, count: number];

/** The attributes of a span, by name. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

/** A kind of model call, with the additional information that middleware and the composition of calls need. */
export interface ModelOperation<Request, Result> extends Operation<Request, Result> {
  /** The requested samples, if equal addresses have several. */
  samples?(request: Request): SampleRange;
  /** The worst case, given the number of tokens of the prompt, if it is known. */
  worstCase?(request: Request, promptTokens?: number): WorstCase;
  /** The part of a request that the model reads, and whose tokens its answer reports. */
  prompt?(request: Request): Prompt;
  /** Counts the tokens of a request's prompt; `null` if the model cannot. @defaultValue the model cannot count */
  readonly counting?: ModelOperation<Request, number | null>;
  /** Whether it is free, and so does not wait for budget. @defaultValue false */
  readonly isFree?: boolean;
  /** Whether its model accepts it in a batch. @defaultValue false */
  readonly mayWait?: boolean;
  /** The usable part of a result; throws if there is none. */
  accept?(request: Request, result: Result): Result;
  /** Why the reported usage of a result is impossible, beyond the general checks. */
  usageFault?(request: Request, result: Result): string | undefined;
  /** Whether a result is an answer rather than a failure. @defaultValue true */
  isAnswer?(result: Result): boolean;
  /** The result with the id of the call that bought it. */
  named?(result: Result, callId: string): Result;
  /** How its calls consist of parts. @defaultValue a call has no parts */
  readonly parts?: Parts<Request, Result>;
  /** The fields by which a model of this kind is described, besides those of a payee. */
  readonly describedBy?: readonly string[];
  /** The request without the state that it acts on, as journals before version 3 address it. */
  stateless?(request: Request): JsonValue;
  /** The attributes of its spans, by OpenTelemetry's conventions for generative AI; texts only if `content` is set. */
  readonly telemetry?: {
    readonly operation: string;
    request?(request: Request, content: boolean): Attributes;
    answer?(result: Result, content: boolean): Attributes;
  };
  /** The maximum of what a server may have done for it. */
  extent?(request: Request, result: Result): Extent;
}

/** Calls that consist of parts: each part is bought once, alone or together with others. */
export interface Parts<Request, Result> {
  /** The parts of a request. */
  of(request: Request): PartsOf<Request>;
  /**
   * Whether the first purchase is sent ahead to fill the server's prefix cache for the others. It depends only on the
   * request and the model, so that a replay makes the requests in the same order.
   */
  inTurn(request: Request): boolean;
  /** The results of the parts, in order, without usage. */
  split(result: Result): readonly Result[];
  /** The result of all parts together. */
  join(results: readonly Result[], usage: Usage): Result;
  /** The result of a part in the form that a cache stores. */
  keep(result: Result): unknown;
  /** Restores the result of a part from a cache; throws if it is invalid. */
  kept(json: JsonValue): Result;
  /** The request recorded in a journal. */
  requestOf(address: JsonValue, samples: SampleRange | undefined): Request;
}

/** The parts of one request. */
export interface PartsOf<Request> {
  /** The content of each part: equal keys are equal parts. */
  readonly keys: readonly string[];
  /** The purchases that buy the parts at these places; other parts may come with them. */
  purchases(places: readonly number[], left: LeftOf<Request>): readonly Purchase<Request>[];
}

/** A request that buys parts. */
export interface Purchase<Request> {
  readonly request: Request;
  /** The keys of all its parts, in order. */
  readonly keys: readonly string[];
}

/** The earlier requests that may contain parts of a request; absent if grouping makes no difference. */
export type LeftOf<Request> = (request: Request) => Left<Request> | undefined;

/** The requests of an earlier run. */
export interface Left<Request> {
  /** Whether it made exactly this request. */
  readonly isAsked: boolean;
  /** The request in which it asked for a part. */
  holding(key: string): Request | undefined;
}

/** The maximum work that a server may have done for a call. */
export interface Extent {
  /** The maximum number of requests sent to the model. */
  readonly requests: number;
  /** The number of answers, each of which takes at least one token. */
  readonly answers: number;
  /** The number of bytes written; absent if nothing is written. */
  readonly bytes?: number;
}
