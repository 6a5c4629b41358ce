/** A reply of a server: its body as JSON, and its headers in the form that the client provides. */
export interface BatchReply {
  /** The body. */
  readonly body: unknown;
  /** The headers; `undefined` if the client does not provide them. */
  readonly headers: unknown;
}

/** A request that can wait, as a provider accepts it in a batch. */
export interface BatchRequest {
  /** The batch service that accepts it. */
  readonly service: BatchService;
  /** The body of the same request sent on its own. JSON. */
  readonly body: object;
  /** The index of the requested sample: equal bodies with different indices are different requests. */
  readonly sample: number;
}

/** Many requests that are submitted at once. */
export interface Batch {
  /** The key that identifies it in the provider's list: at most 40 letters, digits and `-`. */
  readonly key: string;
  /** The planned or actual time of submission, in milliseconds since 1970. */
  readonly at: number;
  /** The names of its requests: at most 64 letters, digits, `_` and `-`, starting with `key`. */
  readonly names: readonly string[];
}

/** The result of one request of a batch; `undefined` if it was never answered, and so not charged. */
export type BatchAnswer =
  | {
      /** The reply, as if it had been sent on its own. */
      readonly reply: BatchReply;
    }
  | {
      /** Why the request itself was refused. */
      readonly failure: Error;
    }
  | undefined;

/**
 * The batch interface of a provider, for one model and one endpoint. Failures reject with a `ModelCallError`, as for
 * requests sent on their own.
 */
export interface BatchService {
  /** Requests to services with the same name share a batch. */
  readonly name: string;
  /** Submits a batch, once, and returns its id. */
  submit(batch: Batch, bodies: readonly object[], signal: AbortSignal): Promise<string>;
  /**
   * Finds the id of a batch whose submission is uncertain; `undefined` if it was not submitted, `'later'` if that
   * cannot be known yet.
   *
   * @throws EspalierError `unavailable` if that cannot be determined.
   */
  find(
    batch: Batch,
    signal: AbortSignal,
  ): Promise<
    | {
        /** Its id at the provider. */
        readonly id: string;
      }
    | 'later'
    | undefined
  >;
  /** The progress of a batch. */
  look(id: string, signal: AbortSignal): Promise<BatchState>;
  /** Cancels a batch; requests answered so far keep their answers. */
  cancel(id: string, signal: AbortSignal): Promise<void>;
  /** The results of a batch that has ended, by request name. */
  results(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, BatchAnswer>>;
}

/** The progress of a batch. */
export type BatchState =
  | 'running'
  | 'ended'
  | {
      /** Why the batch was refused. None of it is charged. */
      readonly refused: string;
    };

/** Collects requests that can wait into batches. */
export interface Batches {
  /**
   * Sends a request in a batch, and waits for its answer.
   *
   * @param call - Names the call among those of its search, in all runs of it.
   * @param live - Sends the request on its own, as a fallback when no batch answers it.
   */
  send(
    request: BatchRequest,
    call: { readonly key: string; readonly signal: AbortSignal },
    live: () => Promise<BatchReply>,
  ): Promise<BatchReply>;
}
