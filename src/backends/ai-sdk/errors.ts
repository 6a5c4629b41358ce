import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { shortened } from '../../base/failure.ts';
import { modelCallErrorFrom, type WireContext } from '../transport/errors.ts';
import { parsedJson } from '../transport/json.ts';
import { withoutSecrets } from '../transport/secrets.ts';

/** The fields of the AI SDK's errors. */
interface AiSdkError extends Error {
  readonly statusCode?: number;
  readonly responseHeaders?: unknown;
  readonly responseBody?: unknown;
  readonly data?: unknown;
}

/** The error for an exception from a model of the AI SDK. */
export function aiSdkError(error: unknown, context: WireContext): EspalierError {
  if (EspalierError.isInstance(error) || !(error instanceof Error)) {
    return modelCallErrorFrom(error, context);
  }
  const {
    name,
    message,
    statusCode,
    responseHeaders,
    responseBody: body,
    data,
  } = error as AiSdkError;
  if (name === 'AI_LoadAPIKeyError') {
    // No other search can use the model either.
    return new EspalierError('usage', unsent('auth', message, context).message, { scope: 'run' });
  }
  if (name === 'AI_NoSuchModelError') return unsent('bad-request', message, context);
  if (name === 'AI_UnsupportedFunctionalityError') return unsent('capability', message, context);
  // An error in a reply with status 200 is about its content.
  if (statusCode === undefined || statusCode < 400) {
    return modelCallErrorFrom(statusCode === undefined ? error : new Error(message), context);
  }
  const told = Object.assign(new Error(message), {
    status: statusCode,
    headers: responseHeaders,
    error: data ?? (typeof body === 'string' ? (parsedJson(body) ?? body) : undefined),
  });
  return modelCallErrorFrom(told, context);
}

/** An error raised by the SDK before it sent anything. */
function unsent(
  kind: 'auth' | 'bad-request' | 'capability',
  said: string,
  { provider, modelId }: WireContext,
): ModelCallError {
  const message = `${provider}:${modelId} cannot be called: ${shortened(withoutSecrets(said))}`;
  return new ModelCallError({ kind, message, charged: false });
}
