import type { CallContext } from '../contracts/context.ts';
import type { Failed, Failure } from '../contracts/failure.ts';
import { EspalierError, endsSearch, ModelCallError } from './errors.ts';
import { describeValue } from './expect.ts';
import { visible } from './visible.ts';

/** What an error thrown by a plug-in means for the one thing it was working on. */
export function failureFrom(error: unknown, kind: Failure['kind']): Failure {
  const message = messageOf(error);
  const code = EspalierError.isInstance(error) ? error.code : undefined;
  return {
    kind: code === 'interrupted' || code === 'unrecorded' || code === 'stale' ? code : kind,
    message,
    ...(isTransient(error) && { transient: true }),
  };
}

/** What was thrown, in words. A plug-in may throw anything, also what cannot be turned into text. */
export function messageOf(thrown: unknown): string {
  try {
    return visible(shortened(textOf(thrown), 1_000));
  } catch {
    return `It threw ${describeValue(thrown)}.`;
  }
}

/** Words of somebody else as a sentence that others can follow. */
export function sentenceOf(text: string): string {
  const words = text.trim();
  return words === '' || /[.!?…]["'`)\]]*$/.test(words) ? words : `${words}.`;
}

/** `instanceof`, also of a proxy that throws at any look. */
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

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/**
 * Whether what went wrong is a call that may go well later: the server was not to be had, or the budget held no other
 * attempt. Here or in what it caused.
 */
export function isTransient(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let cause = error; isError(cause) && !seen.has(cause); cause = cause.cause) {
    if (ModelCallError.isInstance(cause)) return cause.retryable && cause.kind !== 'malformed';
    if (EspalierError.isInstance(cause) && cause.code === 'budget') return true;
    // What a journal remembers of such an error.
    if ('transient' in cause && cause.transient === true) return true;
    seen.add(cause);
  }
  return false;
}

/**
 * The failure of one item whose evaluation threw. What ends the search is no matter of one item, and is
 * thrown on: an abort, a spent budget, a journal that cannot be written.
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

/** Tells a failure from a result that may be anything. */
export function isFailure(outcome: unknown): outcome is Failure {
  if (typeof outcome !== 'object' || outcome === null) return false;
  const { kind, message } = outcome as Partial<Failure>;
  return typeof kind === 'string' && Object.hasOwn(kinds, kind) && typeof message === 'string';
}

/** A call that was made and failed. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  /** Whether it may go well later, also where the journal and not the model says so. */
  readonly transient: boolean;

  constructor({ message, transient = false, cause }: FailedOutcome) {
    super(message, { cause });
    this.transient = transient;
  }
}

/** The call failed, and the journal says so. */
export interface FailedOutcome {
  readonly message: string;
  readonly interrupted?: boolean | undefined;
  readonly transient?: boolean | undefined;
  readonly cause?: unknown;
}
