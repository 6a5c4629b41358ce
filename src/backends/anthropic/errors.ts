import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { keyMissing, modelCallErrorFrom, type WireContext } from '../transport/errors.ts';

/** The status for each type of error, for errors in the middle of a stream. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The status for a type of error. */
export function statusOf(type = ''): number | undefined {
  return statuses[type];
}

/** The error for an exception from the SDK. */
export function anthropicError(error: unknown, context: WireContext): EspalierError {
  if (EspalierError.isInstance(error) || !(error instanceof Error)) {
    return modelCallErrorFrom(error, context);
  }
  if (/could not resolve authentication/i.test(error.message)) return keyMissing(context);
  const {
    status,
    error: body,
    headers,
  } = error as Error & {
    readonly status?: number;
    readonly headers?: unknown;
    readonly error?: { readonly error?: { readonly type?: string } };
  };
  if (status === 400 && unfit.test(error.message)) return unfitThoughts(error, context);
  const type = body?.error?.type;
  const meant = status === undefined ? statusOf(type) : undefined;
  if (meant === undefined) return modelCallErrorFrom(error, context);
  const told = modelCallErrorFrom({ status: meant, error: body, headers }, context);
  // The answer had begun, and is charged for the part that arrived.
  return ModelCallError.isInstance(told)
    ? new ModelCallError({ ...told, message: told.message, charged: true })
    : told;
}

/** New models bind their thoughts to everything before them, but a policy may have sent additional text there. */
const unfit = /invalid `signature` in `thinking` block/i;

function unfitThoughts(error: Error, context: WireContext): ModelCallError {
  const { message } = modelCallErrorFrom(error, context);
  const parameter = 'thinking.signature';
  return new ModelCallError({ kind: 'capability', message, parameter, charged: false });
}
