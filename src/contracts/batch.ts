/** A reply of a server: its body as JSON, and its headers in whatever form a client hands them out. */
export interface BatchReply {
  /** The body. */
  readonly body: unknown;
  /** The headers; `undefined` where nobody tells them. */
  readonly headers: unknown;
}

/** A request that may wait, as a provider takes it in a batch. */
export interface BatchRequest {
  /** Who takes it. */
  readonly service: BatchService;
  /** The body that would be sent if it were sent by itself. JSON. */
  readonly body: object;
  /** The index of the sample that it asks for: equal bodies of other samples are other requests. */
  readonly sample: number;
}

/** Many requests that are submitted at once. */
export interface Batch {
  /** What it is found by in the provider's list: letters, digits and `-`, at most 40. */
  readonly key: string;
  /** When it was submitted, or was to be, in milliseconds since 1970. */
  readonly at: number;
  /** Its requests by their names in it: letters, digits, `_` and `-`, at most 64, which begin with `key`. */
  readonly names: readonly string[];
}

/** What became of one request of a batch; `undefined` where it was never answered, and so is not paid for. */
export type BatchAnswer =
  | {
      /** What would have been answered if it had been sent by itself. */
      readonly reply: BatchReply;
    }
  | {
      /** Why the request itself was refused. */
      readonly failure: Error;
    }
  | undefined;

/**
 * The batch interface of a provider, for one model and one endpoint. What fails rejects with a `ModelCallError`, as
 * requests that are sent by themselves do.
 */
export interface BatchService {
  /** Requests to services of equal names go together. */
  readonly name: string;
  /** Submits a batch, once, and returns its id. */
  submit(batch: Batch, bodies: readonly object[], signal: AbortSignal): Promise<string>;
  /**
   * The id of a batch of which nobody knows whether it was submitted; `undefined` where it was not, `'later'` where
   * that cannot be told yet.
   *
   * @throws EspalierError `unavailable` where it cannot be told at all.
   */
  find(
    batch: Batch,
    signal: AbortSignal,
  ): Promise<
    | {
        /** Its id there. */
        readonly id: string;
      }
    | 'later'
    | undefined
  >;
  /** How far a batch has come. */
  look(id: string, signal: AbortSignal): Promise<BatchState>;
  /** Asks that a batch end with what it has answered. */
  cancel(id: string, signal: AbortSignal): Promise<void>;
  /** What became of the requests of a batch that has ended, by their names. */
  results(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, BatchAnswer>>;
}

/** How far a batch has come. */
export type BatchState =
  | 'running'
  | 'ended'
  | {
      /** Why it was refused as a whole. Nothing of it is paid for. */
      readonly refused: string;
    };

/** Where calls send what may wait. */
export interface Batches {
  /**
   * Sends a request in a batch, and waits for its answer.
   *
   * @param call - Names the call among those of its search, in all runs of it.
   * @param live - Sends the request by itself: for where no batch answers it.
   */
  send(
    request: BatchRequest,
    call: { readonly key: string; readonly signal: AbortSignal },
    live: () => Promise<BatchReply>,
  ): Promise<BatchReply>;
}
