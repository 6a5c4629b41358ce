import type { CallContext } from '../contracts/context.ts';
import type { Failed, Failure } from '../contracts/failure.ts';
import type { Spend } from '../contracts/spend.ts';
import { EspalierError, endsSearch, ModelCallError } from './errors.ts';
import { describeValue } from './expect.ts';
import { visible } from './visible.ts';

/** The failure of one item for which a plug-in threw an error. */
export function failureFrom(error: unknown, kind: Failure['kind']): Failure {
  const message = messageOf(error);
  const code = EspalierError.isInstance(error) ? error.code : undefined;
  const failure: Failure = {
    kind: code === 'interrupted' || code === 'unrecorded' || code === 'stale' ? code : kind,
    message,
    ...(isTransient(error) && { transient: true }),
  };
  return withCause(failure, error);
}

/** Adds what was thrown to a copy of a failure. It is not enumerable, so JSON does not have it. */
export function withCause<F extends Failure>(failure: F, cause: unknown): F {
  return cause === undefined ? failure : Object.defineProperty(failure, 'cause', { value: cause });
}

/** The message of whatever was thrown. A plug-in may throw anything, even values that cannot be converted to text. */
export function messageOf(thrown: unknown): string {
  try {
    return visible(shortened(textOf(thrown), 1_000));
  } catch {
    return `It threw ${describeValue(thrown)}.`;
  }
}

/** Foreign text as a sentence that others can follow. */
export function sentenceOf(text: string): string {
  const words = text.trim();
  return words === '' || /[.!?…]["'`)\]]*$/.test(words) ? words : `${words}.`;
}

/** `instanceof`, even for a proxy that throws at any access. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}

function textOf(thrown: unknown): string {
  if (isError(thrown)) return String(thrown.message);
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  return shortened(JSON.stringify(thrown), 200);
}

/** A beginning of foreign text: a message that quotes a server must not be as long as its reply. */
export function shortened(text: string, length = 200): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/**
 * Whether an error, or a cause of it, is a call that may succeed later: the server was unavailable, or the budget
 * allowed no other attempt.
 */
export function isTransient(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let cause = error; isError(cause) && !seen.has(cause); cause = cause.cause) {
    if (ModelCallError.isInstance(cause)) return cause.retryable && cause.kind !== 'malformed';
    if (EspalierError.isInstance(cause) && cause.code === 'budget') return true;
    // Such an error as recorded in a journal.
    if ('transient' in cause && cause.transient === true) return true;
    seen.add(cause);
  }
  return false;
}

/**
 * The failure of one item whose evaluation threw. Errors that end the search are rethrown: an abort, a spent budget, a
 * journal that cannot be written.
 */
export function failedBy(error: unknown, kind: Failure['kind'], { signal }: CallContext): Failed {
  if (signal.aborted || endsSearch(error)) throw error;
  return { failure: failureFrom(error, kind) };
}

const kinds: Readonly<Record<Failure['kind'], true>> = {
  call: true,
  parse: true,
  empty: true,
  invalid: true,
  environment: true,
  interrupted: true,
  unrecorded: true,
  stale: true,
};

/** Whether a result of any type is a failure. */
export function isFailure(outcome: unknown): outcome is Failure {
  if (typeof outcome !== 'object' || outcome === null) return false;
  const { kind, message } = outcome as Partial<Failure>;
  return typeof kind === 'string' && Object.hasOwn(kinds, kind) && typeof message === 'string';
}

/** A call that was made and failed. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  /** Whether it may succeed later, according to the model or the journal. */
  readonly transient: boolean;

  constructor({ message, transient = false, cause }: FailedOutcome) {
    super(message, { cause });
    this.transient = transient;
  }
}

/** A failed call, as recorded in the journal. */
export interface FailedOutcome {
  readonly message: string;
  readonly interrupted?: boolean | undefined;
  readonly transient?: boolean | undefined;
  /** What the budget needed to hold for a call that the failed effect requested and that was refused. */
  readonly refused?: Pick<Spend, 'calls' | 'tokens' | 'usd'> | undefined;
  readonly cause?: unknown;
}
