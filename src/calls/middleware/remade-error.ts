import { ModelCallError } from '../../base/errors.ts';

/**
 * The same error with another message, or with another statement on whether it was charged. The original is its cause.
 */
export function remade(
  error: ModelCallError,
  changes: { readonly message?: string; readonly charged?: boolean },
): ModelCallError {
  return new ModelCallError({ ...error, message: error.message, ...changes, cause: error });
}
