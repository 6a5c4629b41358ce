import { failureFrom } from '../runtime/failure.ts';
import type { CallContext } from '../spec/context.ts';
import { EspalierError, type EspalierErrorCode } from '../spec/errors.ts';
import type { Failure } from '../spec/failure.ts';

/** Errors that are about one call; all others of our own are about the search as a whole. */
const local: readonly EspalierErrorCode[] = ['usage', 'interrupted', 'unrecorded'];

/**
 * The failure of one item whose evaluation threw. What ends the search is no matter of one item, and is
 * thrown on: an abort, a spent budget, a journal that cannot be written.
 */
export function failureOf(error: unknown, kind: Failure['kind'], { signal }: CallContext): Failure {
  const code = EspalierError.isInstance(error) ? error.code : undefined;
  if (signal.aborted || (code !== undefined && !local.includes(code))) throw error;
  return failureFrom(error, kind);
}
