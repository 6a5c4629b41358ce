import type { Spend } from '../contracts/spend.ts';

/**
 * The error codes.
 *
 * - `usage`: an option or a plug-in broke its contract; the message names it and says what was expected.
 * - `invalid-tree`: a saved tree cannot be read; the message names the field.
 * - `invalid-journal`: a journal cannot be read, or belongs to another run.
 * - `locked`: another process writes to the same run folder or journal, or this one has it open twice.
 * - `storage`: a file could not be written (a full disk, missing rights).
 * - `budget`: a reservation was refused and nothing in flight could free it.
 * - `interrupted`: a process died during an effect, which must not be repeated automatically.
 * - `unrecorded`: a replay reached a call that is not in its journal.
 * - `stale`: a live world no longer reproduces the path to a state.
 * - `model-call`: a call of a model failed; the error is a {@link ModelCallError}.
 * - `unavailable`: a model is unreachable, refuses the key, or has no credit left: further calls are pointless for now.
 */
export type EspalierErrorCode =
  | 'usage'
  | 'invalid-tree'
  | 'invalid-journal'
  | 'locked'
  | 'storage'
  | 'budget'
  | 'interrupted'
  | 'unrecorded'
  | 'stale'
  | 'model-call'
  | 'unavailable';

/**
 * The scope that an error ends.
 *
 * - `item`: the current item: a proposal, a step, the evaluation of a node.
 * - `call`: one call, and so the items of everyone who shares it.
 * - `search`: the search.
 * - `run`: the search and everything that uses the same files, which cannot succeed either.
 */
export type ErrorScope = 'item' | 'call' | 'search' | 'run';

const scopes: Readonly<Record<EspalierErrorCode, ErrorScope>> = {
  usage: 'search',
  'invalid-tree': 'search',
  'invalid-journal': 'run',
  locked: 'run',
  storage: 'run',
  budget: 'search',
  interrupted: 'call',
  unrecorded: 'call',
  stale: 'item',
  'model-call': 'call',
  unavailable: 'search',
};

const marker: unique symbol = Symbol.for('espalier.error') as never;

/** The base class of all errors that espalier throws. */
export class EspalierError extends Error {
  // Node shows the name of the class, which a bundler shortens.
  static {
    Object.defineProperty(EspalierError, 'name', { value: 'EspalierError' });
  }

  /** The name of the class. */
  override readonly name: string = 'EspalierError';

  /** The error code. */
  readonly code: EspalierErrorCode;

  /** What it ends. */
  readonly scope: ErrorScope;

  /** For `budget`: the unit that does not suffice. */
  readonly unit: keyof Spend | undefined;

  constructor(
    code: EspalierErrorCode,
    message: string,
    options: ErrorOptions & {
      /** What it ends. @defaultValue by code; an invalid value from a plug-in may end less */
      readonly scope?: ErrorScope | undefined;
      /** For `budget`: the unit that does not suffice. */
      readonly unit?: keyof Spend | undefined;
    } = {},
  ) {
    super(message, options);
    this.code = code;
    this.scope = options.scope ?? scopes[code];
    this.unit = options.unit;
    Object.defineProperty(this, marker, { value: true });
  }

  /** Recognises errors of any installed copy of espalier, unlike `instanceof`. */
  static isInstance(value: unknown): value is EspalierError {
    try {
      return typeof value === 'object' && value !== null && marker in value;
    } catch {
      // A proxy may throw at any access.
      return false;
    }
  }
}

/** Whether an error ends the search, and not only the item that caused it. */
export function endsSearch(error: unknown): error is EspalierError {
  return EspalierError.isInstance(error) && (error.scope === 'search' || error.scope === 'run');
}

/** Whether the search that it ends still returns its result: money, disk and servers are not the fault of its parts. */
export function endsGracefully(error: unknown): error is EspalierError {
  return endsSearch(error) && ['budget', 'storage', 'unavailable'].includes(error.code);
}

/**
 * The kinds of model-call failures.
 *
 * - `auth`: the key is missing, wrong, or lacks permission.
 * - `credit`: the credit, the quota or the spend limit of the account is used up. Waiting does not help.
 * - `rate-limit`: temporarily too many requests or tokens.
 * - `overloaded`: the server is busy, or still loading its model.
 * - `context-length`: the request and its answer do not fit the model's context.
 * - `capability`: the model does not support a parameter of the request.
 * - `refusal`: the provider declined to answer.
 * - `bad-request`: the server does not understand the request: an unknown model, a wrong path.
 * - `network`: no connection, or it broke.
 * - `timeout`: no answer in time.
 * - `malformed`: an answer that cannot be parsed.
 * - `aborted`: the caller gave up.
 */
export type ModelCallErrorKind =
  | 'auth'
  | 'credit'
  | 'rate-limit'
  | 'overloaded'
  | 'context-length'
  | 'capability'
  | 'refusal'
  | 'bad-request'
  | 'network'
  | 'timeout'
  | 'malformed'
  | 'aborted';

/** Details of a failed call. */
export interface ModelCallErrorOptions {
  /** Why it failed. */
  readonly kind: ModelCallErrorKind;
  /** One sentence for a person: what happened, and what to do. Never holds a key. */
  readonly message: string;
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** Whether the same request may succeed later. @defaultValue by kind: rate-limit, overloaded, network, timeout and malformed may */
  readonly retryable?: boolean;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The server's own name for the request. */
  readonly requestId?: string | undefined;
  /**
   * Whether the server may have charged for it; false if the request never reached it.
   *
   * @defaultValue by kind: network, timeout, malformed and aborted may
   */
  readonly charged?: boolean;
  /** For `capability`: the parameter that the model does not support. */
  readonly parameter?: string | undefined;
  /** The error thrown by the library or the runtime. */
  readonly cause?: unknown;
}

const retryable: readonly ModelCallErrorKind[] = [
  'rate-limit',
  'overloaded',
  'network',
  'timeout',
  'malformed',
];
const charged: readonly ModelCallErrorKind[] = ['network', 'timeout', 'malformed', 'aborted'];

/** A failed model call, as data. */
export class ModelCallError extends EspalierError {
  static {
    Object.defineProperty(ModelCallError, 'name', { value: 'ModelCallError' });
  }

  override readonly name = 'ModelCallError';
  /** Why it failed. */
  readonly kind: ModelCallErrorKind;
  /** The HTTP status. */
  readonly status: number | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The server's own name for the request. */
  readonly requestId: string | undefined;
  /** Whether the server may have charged for it; if so, its reservation counts as spent. */
  readonly charged: boolean;
  /** For `capability`: the parameter that the model does not support. */
  readonly parameter: string | undefined;

  constructor(options: ModelCallErrorOptions) {
    const { kind, message, cause } = options;
    super('model-call', message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = options.status;
    this.retryable = options.retryable ?? retryable.includes(kind);
    this.retryAfterMs = options.retryAfterMs;
    this.requestId = options.requestId;
    this.charged = options.charged ?? charged.includes(kind);
    this.parameter = options.parameter;
  }

  /** Recognises errors of any installed copy of espalier. */
  static override isInstance(value: unknown): value is ModelCallError {
    return EspalierError.isInstance(value) && value.code === 'model-call' && 'kind' in value;
  }
}
