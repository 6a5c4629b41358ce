import { ModelCallError } from '../../base/errors.ts';

/** The same error with another message, or another word on whether it was charged. It is the new one's cause. */
export function remade(
  error: ModelCallError,
  changes: { readonly message?: string; readonly charged?: boolean },
): ModelCallError {
  return new ModelCallError({ ...error, message: error.message, ...changes, cause: error });
}
