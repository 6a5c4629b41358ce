import type { JsonValue } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/language-model.ts';
import type { Operation, WorstCase } from '../../contracts/operation.ts';
import type { Prompt } from './tokens.ts';

/** Fields common to the answers of all models. */
export interface Answer {
  readonly usage?: Usage;
  readonly fromCache?: boolean;
}

/** The index of the first sample and how many there are. */
export type SampleRange = readonly [first: number, count: number];

/** What spans say, by name. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

/** A kind of call of a model: what middleware and the composing of calls know of it besides. */
export interface ModelOperation<Request, Result> extends Operation<Request, Result> {
  /** Which samples are asked for, where equal addresses have several. */
  samples?(request: Request): SampleRange;
  /** The most that it may use, where it is known how many tokens its prompt is. */
  worstCase?(request: Request, promptTokens?: number): WorstCase;
  /** What of a request the model reads, and tells the tokens of with its answer. */
  prompt?(request: Request): Prompt;
  /** Finds out how many tokens the prompt of a request is, or that nobody can tell. @defaultValue nobody can */
  readonly counting?: ModelOperation<Request, number | null>;
  /** Whether it costs nothing, and so does not wait until the budget has room. @defaultValue false */
  readonly isFree?: boolean;
  /** Whether its model takes it in a batch. @defaultValue false */
  readonly mayWait?: boolean;
  /** What of a result can be used; throws where none of it can. */
  accept?(request: Request, result: Result): Result;
  /** Why the usage that a result tells cannot be, beyond what can be of none. */
  usageFault?(request: Request, result: Result): string | undefined;
  /** Whether a result is an answer, and not why there is none. @defaultValue it is */
  isAnswer?(result: Result): boolean;
  /** A result that names the call which bought it. */
  named?(result: Result, callId: string): Result;
  /** Of what its calls are made up. @defaultValue each is a whole */
  readonly parts?: Parts<Request, Result>;
  /** The fields by which a model of this kind is described, besides those of a payee. */
  readonly describedBy?: readonly string[];
  /** What is asked apart from the state that it acts on: so journals knew it before version 3. */
  stateless?(request: Request): JsonValue;
  /** What its spans say, by OpenTelemetry's conventions for generative AI; texts only where the content is wanted. */
  readonly telemetry?: {
    readonly operation: string;
    request?(request: Request, content: boolean): Attributes;
    answer?(result: Result, content: boolean): Attributes;
  };
  /** What a server may have done for it, at most. */
  extent?(request: Request, result: Result): Extent;
}

/** Calls that are made up of parts: each part is bought once, alone or together with others. */
export interface Parts<Request, Result> {
  /** The parts of a request. */
  of(request: Request): PartsOf<Request>;
  /**
   * Whether the first purchase goes ahead of the others, and warms the server's prefix cache for them. It depends on the
   * request and the model alone, so that a replay asks in the same order.
   */
  inTurn(request: Request): boolean;
  /** The results of the parts, in order, without a usage. */
  split(result: Result): readonly Result[];
  /** The result of all parts together. */
  join(results: readonly Result[], usage: Usage): Result;
  /** The result of a part as a cache keeps it. */
  keep(result: Result): unknown;
  /** The result of a part that a cache kept; throws where it did not. */
  kept(json: JsonValue): Result;
  /** The request that a journal holds. */
  requestOf(address: JsonValue, samples: SampleRange | undefined): Request;
}

/** The parts of one request. */
export interface PartsOf<Request> {
  /** What each part asks: equal keys are equal parts. */
  readonly keys: readonly string[];
  /** How the parts at some places are bought; other parts may come with them. */
  purchases(places: readonly number[], left: LeftOf<Request>): readonly Purchase<Request>[];
}

/** A request that buys parts. */
export interface Purchase<Request> {
  readonly request: Request;
  /** The keys of all its parts, in order. */
  readonly keys: readonly string[];
}

/** What an earlier run has asked for in other company than a request has; nothing where that makes no difference. */
export type LeftOf<Request> = (request: Request) => Left<Request> | undefined;

/** What an earlier run has asked for. */
export interface Left<Request> {
  /** Whether it has asked for just this request. */
  readonly isAsked: boolean;
  /** The request in which it has asked for a part. */
  holding(key: string): Request | undefined;
}

/** What a server may have done for a call. */
export interface Extent {
  /** The most requests that it may have made of it. */
  readonly requests: number;
  /** How many things came that took a token. */
  readonly answers: number;
  /** The bytes that were written; nothing where none are. */
  readonly bytes?: number;
}
