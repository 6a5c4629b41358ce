import type { Call } from './dialect.ts';
import { openAi } from './dialects/openai.ts';
import { unsupportedParameter } from './dialects/openai-gates.ts';
import { topLevelError } from './dialects/sglang.ts';
import { type Fault, faultOf, hasFault } from './faults.ts';
import { numberAt } from './fields.ts';
import { Rejection, type RejectionOptions } from './rejection.ts';

type RateLimited = Extract<Fault, { readonly kind: 'rate-limited' }>;

/**
 * Throws a {@link Rejection} if a fault, or the strictness of a dialect, refuses a request before anything is
 * generated.
 */
export function checkRefusals(call: Call): void {
  const refusal = sweepingRefusal(call) ?? fieldRefusal(call);
  if (refusal !== undefined) throw new Rejection(refusal);
}

/** Refusals that do not depend on the body. */
function sweepingRefusal(call: Call): RejectionOptions | undefined {
  const { exchange, service } = call;
  const { faults, path } = exchange;
  const loading = faultOf(faults, 'loading');
  if (loading !== undefined && exchange.index < loading.requests) return loadingModel;
  if (hasFault(faults, 'auth')) return service.dialect.unauthorized('wrong-key');
  if (hasFault(faults, 'overloaded')) return { status: 529, message: 'Overloaded' };
  const limited = faultOf(faults, 'rate-limited');
  if (limited !== undefined) return rateLimited(limited, service.settings.now());
  if (hasFault(faults, 'no-credit')) return noCredit(service.dialect === openAi);
  if (hasFault(faults, 'server-error')) return serverError;
  if (hasFault(faults, 'unknown-model')) {
    return service.dialect.unknownModel(String(call.body['model'] ?? ''));
  }
  if (hasFault(faults, 'top-level-error')) return nonsense;
  if (!hasFault(faults, 'context-overflow')) return undefined;
  const limit = service.settings.contextLength;
  const output = numberAt(call.body, 'max_tokens');
  return service.dialect.overflow({ input: limit + 1, output, limit }, path);
}

/** Refusals because of a field of the body. */
function fieldRefusal(call: Call): RejectionOptions | undefined {
  const { exchange, service, body } = call;
  const { faults } = exchange;
  const rejected = faults.find(
    (fault) =>
      typeof fault === 'object' &&
      fault.kind === 'rejects-parameter' &&
      body[fault.parameter] !== undefined,
  ) as { readonly parameter: string } | undefined;
  if (rejected !== undefined) return unsupportedParameter(rejected.parameter).options;
  if (hasFault(faults, 'rejects-n') && (numberAt(body, 'n') ?? numberAt(body, 'n_cmpl') ?? 1) > 1)
    return unsupportedParameter('n').options;
  const isStrict =
    service.dialect.refusesUnknown === true
      ? !hasFault(faults, 'ignores-unknown-fields')
      : hasFault(faults, 'rejects-unknown-fields');
  const known = isStrict ? service.dialect.knownFields(call) : undefined;
  const unknown = known && Object.keys(body).find((name) => !known.includes(name));
  return unknown === undefined ? undefined : service.dialect.unknownField(unknown, exchange.path);
}

function rateLimited(fault: RateLimited, now: number): RejectionOptions {
  return {
    status: 429,
    message: 'Rate limit reached. Please try again later.',
    code: 'rate_limit_exceeded',
    headers: retryHeaders(fault, now),
  };
}

function retryHeaders(fault: RateLimited, now: number): Readonly<Record<string, string>> {
  const { retryAfterMs: ms, as = 'seconds', shouldRetry } = fault;
  const waits = (wait: number) =>
    ({
      seconds: { 'retry-after': String(Math.ceil(wait / 1000)) },
      milliseconds: { 'retry-after-ms': String(wait) },
      date: { 'retry-after': new Date(now + wait).toUTCString() },
    })[as];
  return {
    ...(ms !== undefined && waits(ms)),
    ...(shouldRetry !== undefined && { 'x-should-retry': String(shouldRetry) }),
  };
}

/** OpenAI reports it with the status for too many requests. */
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
