import { EspalierError } from '../spec/errors.ts';
import type { Failure } from '../spec/failure.ts';

/** What an error thrown by a plug-in means for the one thing it was working on. */
export function failureFrom(error: unknown, kind: Failure['kind']): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const code = EspalierError.isInstance(error) ? error.code : undefined;
  return { kind: code === 'interrupted' || code === 'unrecorded' ? code : kind, message };
}
