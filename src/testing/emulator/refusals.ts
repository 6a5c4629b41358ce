import type { Call } from './dialect.ts';
import { openAi } from './dialects/openai.ts';
import { topLevelError } from './dialects/sglang.ts';
import { type JsonObject, numberAt } from './fields.ts';
import { Rejection, type RejectionOptions } from './rejection.ts';
import { hasVice, type RateLimited, viceOf } from './vices.ts';

/**
 * Throws a {@link Rejection} where a vice, or the strictness of a dialect, refuses a request before anything
 * is generated.
 */
export function checkRefusals(call: Call): void {
  const refusal = sweepingRefusal(call) ?? fieldRefusal(call);
  if (refusal !== undefined) throw new Rejection(refusal);
}

/** Refused whatever it says. */
function sweepingRefusal(call: Call): RejectionOptions | undefined {
  const { exchange, service } = call;
  const { vices, path } = exchange;
  const loading = viceOf(vices, 'loading');
  if (loading !== undefined && exchange.index < loading.requests) return loadingModel;
  if (hasVice(vices, 'auth')) return service.dialect.unauthorized('wrong-key');
  if (hasVice(vices, 'overloaded')) return { status: 529, message: 'Overloaded' };
  const limited = viceOf(vices, 'rate-limited');
  if (limited !== undefined) return rateLimited(limited, service.settings.now());
  if (hasVice(vices, 'no-credit')) return noCredit(service.dialect === openAi);
  if (hasVice(vices, 'server-error')) return serverError;
  if (hasVice(vices, 'unknown-model')) {
    return service.dialect.unknownModel(String(call.body['model'] ?? ''));
  }
  if (hasVice(vices, 'top-level-error')) return nonsense;
  if (!hasVice(vices, 'context-overflow')) return undefined;
  const limit = service.settings.contextLength;
  const output = numberAt(call.body, 'max_tokens');
  return service.dialect.overflow({ input: limit + 1, output, limit }, path);
}

/** Refused for a field of its body. */
function fieldRefusal(call: Call): RejectionOptions | undefined {
  const { exchange, service, body } = call;
  const { vices } = exchange;
  const rejected = vices.find(
    (vice) =>
      typeof vice === 'object' &&
      vice.kind === 'rejects-parameter' &&
      body[vice.parameter] !== undefined,
  ) as { readonly parameter: string } | undefined;
  if (rejected !== undefined) return unsupported(rejected.parameter);
  if (hasVice(vices, 'rejects-n') && (choicesOf(body) ?? 1) > 1) return unsupported('n');
  const isStrict = service.dialect.refusesUnknown
    ? !hasVice(vices, 'ignores-unknown-fields')
    : hasVice(vices, 'rejects-unknown-fields');
  const known = isStrict ? service.dialect.knownFields(call) : undefined;
  const unknown = known && Object.keys(body).find((name) => !known.includes(name));
  return unknown === undefined ? undefined : service.dialect.unknownField(unknown, exchange.path);
}

function choicesOf(body: JsonObject): number | undefined {
  return numberAt(body, 'n') ?? numberAt(body, 'n_cmpl');
}

function unsupported(name: string): RejectionOptions {
  return {
    status: 400,
    message: `Unsupported parameter: '${name}' is not supported with this model.`,
    code: 'unsupported_parameter',
    param: name,
  };
}

function rateLimited(vice: RateLimited, now: number): RejectionOptions {
  return {
    status: 429,
    message: 'Rate limit reached. Please try again later.',
    code: 'rate_limit_exceeded',
    headers: retryHeaders(vice, now),
  };
}

function retryHeaders(vice: RateLimited, now: number): Readonly<Record<string, string>> {
  const { shouldRetry } = vice;
  return {
    ...waitHeaders(vice, now),
    ...(shouldRetry !== undefined && { 'x-should-retry': String(shouldRetry) }),
  };
}

function waitHeaders(vice: RateLimited, now: number): Readonly<Record<string, string>> {
  const { retryAfterMs, as = 'seconds' } = vice;
  if (retryAfterMs === undefined) return {};
  switch (as) {
    case 'seconds':
      return { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
    case 'milliseconds':
      return { 'retry-after-ms': String(retryAfterMs) };
    case 'date':
      return { 'retry-after': new Date(now + retryAfterMs).toUTCString() };
  }
}

/** OpenAI says it with the status of too many requests. */
function noCredit(isOpenAi: boolean): RejectionOptions {
  if (!isOpenAi) return { status: 402, message: 'Insufficient Balance', type: 'billing_error' };
  return {
    status: 429,
    message: 'You exceeded your current quota, please check your plan and billing details.',
    type: 'insufficient_quota',
    code: 'insufficient_quota',
  };
}

const loadingModel: RejectionOptions = {
  status: 503,
  message: 'Loading model',
  body: { json: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } } },
};

const serverError: RejectionOptions = {
  status: 500,
  message: 'Internal Server Error',
  body: { html: '<!doctype html><title>500</title><h1>Internal Server Error</h1>' },
};

const topLevel: RejectionOptions = { status: 400, message: 'The request makes no sense.' };

const nonsense: RejectionOptions = { ...topLevel, body: { json: topLevelError(topLevel) } };
