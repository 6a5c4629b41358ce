import { EspalierError, ModelCallError } from '../base/errors.ts';
import { CallFailure, type FailedOutcome } from '../base/failure.ts';
import type { JsonValue } from '../contracts/json.ts';

/** What a call came to. */
export type Outcome =
  | { readonly output: JsonValue }
  | FailedOutcome
  /** The run itself cannot go on: aborted, the disk is full, or the model cannot be reached. */
  | { readonly fatal: unknown };

/** The error that a failed call is to those who asked for it. */
export function errorOf(failed: FailedOutcome): Error {
  if (failed.interrupted === true) return new EspalierError('interrupted', failed.message);
  return new CallFailure(failed);
}

/** How a failed call failed: for good, for now, or so that nobody knows what it has done; `undefined` where it was not made. */
export function failingOf(error: unknown): 'final' | 'transient' | 'interrupted' | undefined {
  if (error instanceof CallFailure) return error.transient ? 'transient' : 'final';
  const isInterruption = EspalierError.isInstance(error) && error.code === 'interrupted';
  return isInterruption ? 'interrupted' : undefined;
}

/** Whether no other call of the model can succeed either. */
export function isUnavailable(error: unknown): boolean {
  if (ModelCallError.isInstance(error)) return error.kind === 'auth' || error.kind === 'credit';
  return EspalierError.isInstance(error) && error.code === 'unavailable';
}

/** Whether no other search can ask the model either: it has no key, or its package is missing. */
export function endsRun(error: unknown): boolean {
  return EspalierError.isInstance(error) && error.scope === 'run';
}

/** Ends a search, because no call of a model can succeed now. */
export function unavailable(message: string, cause: unknown): EspalierError {
  return new EspalierError('unavailable', message, { cause });
}
