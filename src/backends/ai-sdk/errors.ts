import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { modelCallErrorFrom, type WireContext } from '../transport/errors.ts';
import { parsedJson } from '../transport/json.ts';
import { withoutSecrets } from '../transport/secrets.ts';

/** What errors of the AI SDK tell. */
interface AiSdkError extends Error {
  readonly statusCode?: number;
  readonly responseHeaders?: unknown;
  readonly responseBody?: unknown;
  readonly data?: unknown;
}

/** The error for what a model of the AI SDK threw. */
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
    // No other search can ask it either.
    return new EspalierError('usage', unsent('auth', message, context).message, { scope: 'run' });
  }
  if (name === 'AI_NoSuchModelError') return unsent('bad-request', message, context);
  if (name === 'AI_UnsupportedFunctionalityError') return unsent('capability', message, context);
  // An error of a reply that came with 200 is about what it says.
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

/** An error that the SDK raised before it sent anything. */
function unsent(
  kind: 'auth' | 'bad-request' | 'capability',
  said: string,
  { provider, modelId }: WireContext,
): ModelCallError {
  const message = `${provider}:${modelId} cannot be asked: ${withoutSecrets(said)}`;
  return new ModelCallError({ kind, message, charged: false });
}
