import { EspalierError, ModelCallError } from '../base/errors.ts';
import { CallFailure, type FailedOutcome } from '../base/failure.ts';
import type { JsonValue } from '../contracts/json.ts';

/** The outcome of a call. */
export type Outcome =
  | { readonly output: JsonValue }
  | FailedOutcome
  /** The run itself cannot continue: it was aborted, the disk is full, or the model is unavailable. */
  | { readonly fatal: unknown };

/** The error that callers of a failed call get. */
export function errorOf(failed: FailedOutcome): Error {
  if (failed.interrupted === true) return new EspalierError('interrupted', failed.message);
  return new CallFailure(failed);
}

/** How a call failed: for good, temporarily, or with an unknown effect; `undefined` if it was not made. */
export function failingOf(error: unknown): 'final' | 'transient' | 'interrupted' | undefined {
  if (error instanceof CallFailure) return error.transient ? 'transient' : 'final';
  const isInterruption = EspalierError.isInstance(error) && error.code === 'interrupted';
  return isInterruption ? 'interrupted' : undefined;
}

/** Whether no further call of the model can succeed. */
export function isUnavailable(error: unknown): boolean {
  if (ModelCallError.isInstance(error)) return error.kind === 'auth' || error.kind === 'credit';
  return EspalierError.isInstance(error) && error.code === 'unavailable';
}

/** Whether no other search can use the model either: its key or its package is missing. */
export function endsRun(error: unknown): boolean {
  return EspalierError.isInstance(error) && error.scope === 'run';
}

/** The error that ends a search because a model is unavailable. */
export function unavailable(message: string, cause: unknown): EspalierError {
  return new EspalierError('unavailable', message, { cause });
}
