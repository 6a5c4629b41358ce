import { withoutCredentials } from '../../base/address.ts';
import { EspalierError, ModelCallError, type ModelCallErrorKind } from '../../base/errors.ts';
import { shortened } from '../../base/failure.ts';
import { headerLookup, retryAfterOf } from './headers.ts';
import { type KnownSecrets, withoutSecrets } from './secrets.ts';
import { causesOf, isUnsent } from './unsent.ts';

/** The model whose call failed, and what the user can configure. */
export interface WireContext {
  /** The provider, as in `provider:modelId`. */
  readonly provider: string;
  /** The model asked for. */
  readonly modelId: string;
  /** The address of the server, if a user can set it. */
  readonly baseUrl?: string | undefined;
  /** The environment variable of the key. */
  readonly keyVariable?: string | undefined;
  /** Keys that no message may contain. */
  readonly secrets?: KnownSecrets;
  /** The caller's own signal: if it has aborted, that is the reason. */
  readonly signal: AbortSignal;
}

/**
 * An exception from our `fetch` within an SDK. SDKs replace errors that look like timeouts by their own, which hides
 * whether a connection had been made; this class prevents that.
 */
export class FetchFailure extends Error {
  /** The original exception. */
  readonly origin: unknown;

  constructor(origin: unknown) {
    super('The request failed.');
    this.origin = origin;
  }
}

/** The known facts about a failed call, whichever library threw it. */
interface Facts {
  readonly status: number | undefined;
  readonly text: string;
  readonly code: string;
  readonly parameter: string | undefined;
  readonly error: unknown;
  /** The error in the body. */
  readonly inner: unknown;
}

/** The {@link ModelCallError} for anything that an SDK, `fetch` or a parser threw. Our own errors pass unchanged. */
export function modelCallErrorFrom(error: unknown, context: WireContext): EspalierError {
  if (EspalierError.isInstance(error)) return error;
  // Thrown by our `fetch`, within an SDK.
  const own = error instanceof FetchFailure ? error : field(error, 'cause');
  if (own instanceof FetchFailure) return modelCallErrorFrom(own.origin, context);
  if (EspalierError.isInstance(own)) return own;
  const facts = factsOf(error);
  const kind = context.signal.aborted ? 'aborted' : kindOf(facts);
  const header = headerLookup(field(error, 'headers'));
  const { status } = facts;
  const isFinal = header('x-should-retry') === 'false' || isUntrusted(facts);
  const charged = mayBeCharged(facts, kind);
  return new ModelCallError({
    kind,
    message: withoutSecrets(sentence(kind, facts, context), context.secrets),
    status,
    retryAfterMs: retryAfterOf(header),
    requestId: requestIdOf(error) ?? header('x-request-id') ?? header('request-id'),
    parameter: kind === 'capability' ? parameterOf(facts) : undefined,
    ...(isFinal && { retryable: false }),
    ...(charged !== undefined && { charged }),
  });
}

/** Whether a server may have charged for a failed call; `undefined` if its kind decides that. */
function mayBeCharged({ status, error }: Facts, kind: ModelCallErrorKind): boolean | undefined {
  // After a gateway timeout the server may continue; any other error status means that nothing was done.
  if (status !== undefined && status >= 400) return [408, 502, 504].includes(status);
  if (isUnsent(error)) return false;
  // Reported in a reply with a success status: the server had begun.
  const isTold = status === undefined && !(error instanceof Error);
  return isTold
    ? kind === 'overloaded' || kind === 'rate-limit' || kind === 'malformed'
    : undefined;
}

/** The error if there is no key to send. No other search can use the model either. */
export function keyMissing({ provider, modelId, keyVariable }: WireContext): EspalierError {
  const message = `${provider}:${modelId} has no key. Set ${keyVariable}, or name another variable for the key.`;
  return new EspalierError('usage', message, { scope: 'run' });
}

/** The error for an unreadable answer. Its cost is unknown. */
export function malformed(context: WireContext, what: string): ModelCallError {
  const { provider, modelId, secrets } = context;
  const message = `${provider}:${modelId} answered with ${what}.`;
  return new ModelCallError({ kind: 'malformed', message: withoutSecrets(message, secrets) });
}

function factsOf(error: unknown): Facts {
  const status = field(error, 'status') ?? field(error, 'statusCode');
  const body = field(error, 'error') ?? field(error, 'body');
  const inner = field(body, 'error') ?? body;
  const message = error instanceof Error ? error.message : String(error);
  const said = field(inner, 'message') ?? field(inner, 'detail');
  const told = typeof inner === 'string' ? inner : typeof said === 'string' ? said : message;
  const codes = [
    field(error, 'code'),
    field(inner, 'code'),
    field(inner, 'type'),
    field(field(inner, 'details'), 'error_code'),
    causeCode(error),
  ];
  const parameter = field(error, 'param') ?? field(inner, 'param');
  return {
    status: typeof status === 'number' ? status : undefined,
    text: told,
    code: codes.filter((code) => typeof code === 'string').join(' '),
    parameter: typeof parameter === 'string' ? parameter : undefined,
    error,
    inner,
  };
}

/** The meaning of each status, unless its text says more. */
const statuses: Readonly<Record<number, ModelCallErrorKind>> = {
  401: 'auth',
  402: 'rate-limit',
  403: 'auth',
  408: 'timeout',
  409: 'overloaded',
  413: 'context-length',
  424: 'overloaded',
  429: 'rate-limit',
  // Groq has no capacity in the tier.
  498: 'overloaded',
  501: 'capability',
  504: 'timeout',
  529: 'overloaded',
};

const contextOverflow =
  /context[ _-]?(length|size|window|limit)|maximum context|exceeds? the (available )?context|prompt is too long|must be <=/i;
const notHonoured =
  /unsupported[_ ](value|parameter)|not supported|does not support|doesn't support|unrecognized|unknown (field|name|parameter)|unused fields|unexpected fields|extra inputs|not permitted|must be between|failed to initialize samplers|deprecated for this model|forces tool use/i;

/** Messages that a schema cannot be enforced: of Anthropic and OpenAI, vLLM, and llama-server. */
const unbindable =
  /schema is too complex|compiled grammar is too large|invalid (json )?schema|json schema contains features not supported|json schema conversion failed|failed to parse grammar/i;
/** Messages that the schema of a tool cannot be enforced. */
const unbindableTool = /invalid schema for function/i;

/** OpenRouter's message if no host supports everything requested. */
const unrouted = /no endpoints found that/i;

/** Codes and messages that an account may not spend any more. */
const spentCodes =
  /insufficient_(quota|balance|credit|fund)|credit_balance|spend(ing)?_limit|usage_limit|billing_(error|hard|not)|organization_on_hold|payment_required|weight_exceeds_budget/i;
const spentWords =
  /credit balance is too low|insufficient (balance|credits|funds)|(specified|reached your).* usage limits?|spend(ing)? limit|key limit exceeded/i;
/** A daily quota, or a quota of zero, in Gemini's terms. */
const spentQuota = /"quotaId":\s*"[^"]*PerDay|\blimit: 0\b/;

function kindOf(facts: Facts): ModelCallErrorKind {
  const { status, text, code, error } = facts;
  if (isSpent(facts)) return 'credit';
  if (isDeclined(facts)) return 'refusal';
  if (status === undefined) {
    return error instanceof Error ? kindOfThrown(error, code) : kindOfTold(code);
  }
  if (status === 404 && unrouted.test(text)) return 'capability';
  const isRefused = status === 400 || status === 413 || status === 422;
  if (isRefused && contextOverflow.test(`${text} ${code}`)) return 'context-length';
  if (isRefused && isNotHonoured(facts)) return 'capability';
  return statuses[status] ?? (status >= 500 ? 'overloaded' : 'bad-request');
}

function isNotHonoured({ text, code }: Facts): boolean {
  return unbindable.test(text) || notHonoured.test(`${text} ${code}`) || isPrefill(text);
}

const unreachable =
  /ECONN|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EPIPE|UND_ERR_(SOCKET|CONNECT)|EPROTO|CERT|SSL|TLS|self.signed/i;

/** Whether the account may not spend any more, which waiting does not change. */
function isSpent({ status, text, code, error, inner }: Facts): boolean {
  if (status !== undefined && ![400, 402, 403, 429].includes(status)) return false;
  if (code.includes('in_flight_budget')) return false;
  if (spentCodes.test(code) || (status !== undefined && spentWords.test(text))) return true;
  if (status === 403) return field(field(inner, 'metadata'), 'resets_at') !== undefined;
  if (status === 429) return spentQuota.test(JSON.stringify(inner ?? text));
  const mayWait = retryAfterOf(headerLookup(field(error, 'headers'))) !== undefined;
  return status === 402 && !mayWait;
}

const declined = /content_filter|policy|moderation/i;

function isDeclined({ status, text, code }: Facts): boolean {
  if (status === 403 && /flagged|moderation/i.test(text)) return true;
  return (status === 400 || status === 403) && declined.test(code);
}

/** The meaning of an error code in a reply with a success status. */
function kindOfTold(code: string): ModelCallErrorKind {
  if (/rate_limit|slow_down|in_flight_budget/i.test(code)) return 'rate-limit';
  if (/server|overload|timeout|unavailable|internal/i.test(code)) return 'overloaded';
  if (declined.test(code)) return 'refusal';
  if (/context_length/i.test(code)) return 'context-length';
  return code === '' ? 'malformed' : 'bad-request';
}

/** Messages of `fetch` about a request that cannot be written. */
const unsendable = /^(Headers|Request|Failed to parse URL|Invalid URL)\b/;

function kindOfThrown(error: Error, code: string): ModelCallErrorKind {
  const name = `${error.name} ${error.constructor.name}`;
  if (/Timeout/i.test(`${name} ${code}`)) return 'timeout';
  if (/Abort/.test(name)) return 'aborted';
  if (error instanceof SyntaxError) return 'malformed';
  if (/Connection|FetchError/.test(name) || unreachable.test(code)) return 'network';
  if (error instanceof TypeError && unsendable.test(error.message)) return 'bad-request';
  if (error instanceof TypeError && /fetch|network|terminated/i.test(error.message))
    return 'network';
  return 'malformed';
}

function isPrefill(text: string): boolean {
  return /prefill|must end with a user message|final message does not appear/i.test(text);
}

/** Whether a secure connection could not be made. Waiting does not produce a trusted certificate. */
function isUntrusted({ status, code }: Facts): boolean {
  return status === undefined && /CERT|SSL|TLS|EPROTO|UNABLE_TO_/.test(code);
}

const parameters =
  /\b(temperature|top_p|top_k|top_logprobs|logprobs|stop_sequences|stop|seed|max_tokens|response_format|output_config|stream_options|stream|structured_outputs|tool_choice|tools)\b/;

function parameterOf({ parameter, text, status }: Facts): string | undefined {
  if (isPrefill(text)) return 'continuation';
  if (unbindableTool.test(text)) return 'strict';
  if (unbindable.test(text)) return 'response_format';
  if (parameter !== undefined) return parameter.split('.')[0];
  if (unrouted.test(text) && /parameters/.test(text)) return 'require_parameters';
  if (/["']n["']|\bn\b must/.test(text)) return 'n';
  if (/failed to initialize samplers/i.test(text)) return 'response_format';
  return status === 501 ? undefined : parameters.exec(text)?.[1];
}

function sentence(kind: ModelCallErrorKind, facts: Facts, context: WireContext): string {
  const { provider, modelId, baseUrl, keyVariable } = context;
  const { status, text, code, error } = facts;
  const model = `${provider}:${modelId}`;
  const where = baseUrl === undefined ? '' : ` at ${withoutCredentials(baseUrl)}`;
  const isTold = !(error instanceof Error) && code !== '';
  const told = status ?? (isTold ? brief(code) : undefined);
  const said = `${told === undefined ? '' : `${told}: `}${brief(text)}`;
  switch (kind) {
    case 'auth':
      return `${model} refuses the key (${said}). Check ${keyVariable ?? 'the key'} and what it may use.`;
    case 'credit':
      return `${model} has no credit left (${said}). Check the account's billing and its limits, then run again.`;
    case 'rate-limit':
      return `${model} allows no more requests for now (${said}). Lower the concurrency, or wait.`;
    case 'overloaded':
      return `${model}${where} is busy or not ready (${said}). Try again later.`;
    case 'context-length':
      return `The request does not fit the context of ${model} (${said}). Shorten it, or lower \`maxTokens\`.`;
    case 'capability':
      return `${model} does not support something that was requested (${said}).`;
    case 'bad-request':
      return status === 404
        ? `${model}${where} does not know this model or path (${said}). Check the model's name, and whether the base URL ends as the server expects, usually with /v1.`
        : `${model} does not understand the request (${said}).`;
    case 'network':
      if (isUntrusted(facts)) {
        return `${model}${where} has no certificate that can be trusted (${brief(code)}). Check whether the address begins with https:// or http://, or name the certificate's authority in NODE_EXTRA_CA_CERTS.`;
      }
      return `${model}${where} cannot be reached (${brief(`${code} ${text}`.trim())}). Check the address, and that the server runs.`;
    case 'timeout':
      if (/UND_ERR_(HEADERS|BODY)_TIMEOUT/.test(code)) {
        return `${model}${where} did not answer within the limits of the \`fetch\` in use (${said}). Bring one that waits longer: the option \`timeoutMs\` does not change them.`;
      }
      return `${model}${where} did not answer in time (${said}). Raise the time-out, or lower the load.`;
    case 'malformed':
      return `${model} answered with something that cannot be read (${said}).`;
    case 'refusal':
      return `${model} declined to answer (${said}).`;
    case 'aborted':
      return `The call of ${model} was abandoned.`;
  }
}

/** One line of limited length. */
function brief(text: string): string {
  const line = text
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return shortened(line).replace(/\.$/, '');
}

function requestIdOf(error: unknown): string | undefined {
  const id = field(error, 'requestID') ?? field(error, 'request_id');
  return typeof id === 'string' ? id : undefined;
}

/** `fetch` hides the reason of a failure in the cause of its error. */
function causeCode(error: unknown): unknown {
  const codes = causesOf(error)
    .slice(1)
    .map(({ code }) => code);
  return codes.find((code) => typeof code === 'string');
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Record<string, unknown>)[name] ?? undefined;
}
