import { EspalierError, ModelCallError, type ModelCallErrorKind } from '../../spec/errors.ts';
import { headerLookup, retryAfterOf } from './headers.ts';
import { withoutSecrets } from './secrets.ts';

/** Whose call failed, and what a person can do about it. */
export interface WireContext {
  /** The provider, as in `provider:modelId`. */
  readonly provider: string;
  /** The model asked for. */
  readonly modelId: string;
  /** The address of the server, where a user can set it. */
  readonly baseUrl?: string | undefined;
  /** The environment variable of the key. */
  readonly keyVariable?: string | undefined;
  /** Keys that no message may hold. */
  readonly secrets?: readonly (string | undefined)[];
  /** The caller's own signal: when it has aborted, that is the reason. */
  readonly signal: AbortSignal;
}

/** What is known of a call that failed, whichever library threw it. */
interface Facts {
  readonly status: number | undefined;
  readonly text: string;
  readonly code: string;
  readonly parameter: string | undefined;
  readonly error: unknown;
}

/**
 * The {@link ModelCallError} for whatever an SDK, `fetch` or a parser threw. Errors of our own pass through.
 */
export function modelCallErrorFrom(error: unknown, context: WireContext): EspalierError {
  if (EspalierError.isInstance(error)) return error;
  // Thrown by a `fetch` of ours, within an SDK.
  const own = field(error, 'cause');
  if (EspalierError.isInstance(own)) return own;
  const facts = factsOf(error);
  const kind = context.signal.aborted ? 'aborted' : kindOf(facts);
  const header = headerLookup(field(error, 'headers'));
  const { status } = facts;
  return new ModelCallError({
    kind,
    message: withoutSecrets(sentence(kind, facts, context), context.secrets),
    status,
    retryAfterMs: retryAfterOf(header),
    requestId: requestIdOf(error) ?? header('x-request-id') ?? header('request-id'),
    parameter: kind === 'capability' ? parameterOf(facts) : undefined,
    ...(isFinal(facts) && { retryable: false }),
    // A gateway gave up on a server that may go on; any other status says that nothing was done.
    ...(status !== undefined && status >= 400 && { charged: [408, 502, 504].includes(status) }),
  });
}

/** An answer that cannot be read. What it cost is unknown. */
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
    causeCode(error),
  ];
  const parameter = field(error, 'param') ?? field(inner, 'param');
  return {
    status: typeof status === 'number' ? status : undefined,
    text: told,
    code: codes.filter((code) => typeof code === 'string').join(' '),
    parameter: typeof parameter === 'string' ? parameter : undefined,
    error,
  };
}

/** What each status means, where its text does not say more. */
const statuses: Readonly<Record<number, ModelCallErrorKind>> = {
  401: 'auth',
  402: 'rate-limit',
  403: 'auth',
  408: 'timeout',
  409: 'overloaded',
  413: 'context-length',
  424: 'overloaded',
  429: 'rate-limit',
  501: 'capability',
  504: 'timeout',
  529: 'overloaded',
};

const contextOverflow =
  /context[ _-]?(length|size|window|limit)|maximum context|exceeds? the (available )?context|prompt is too long|must be <=/i;
const notHonoured =
  /unsupported[_ ](value|parameter)|not supported|does not support|doesn't support|unrecognized|unknown (field|parameter)|unused fields|unexpected fields|extra inputs|not permitted|must be between|failed to initialize samplers|deprecated for this model|forces tool use/i;

function kindOf(facts: Facts): ModelCallErrorKind {
  const { status, text, code, error } = facts;
  if (status === undefined) return kindOfThrown(error, code);
  const isRefused = status === 400 || status === 413 || status === 422;
  if (isRefused && contextOverflow.test(`${text} ${code}`)) return 'context-length';
  if (isRefused && (notHonoured.test(`${text} ${code}`) || isPrefill(text))) return 'capability';
  return statuses[status] ?? (status >= 500 ? 'overloaded' : 'bad-request');
}

const unreachable =
  /ECONN|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|EPIPE|UND_ERR_(SOCKET|CONNECT)|EPROTO|CERT|SSL|TLS|self.signed/i;

function kindOfThrown(error: unknown, code: string): ModelCallErrorKind {
  const name = error instanceof Error ? `${error.name} ${error.constructor.name}` : '';
  if (/Timeout/i.test(`${name} ${code}`)) return 'timeout';
  if (/Abort/.test(name)) return 'aborted';
  if (error instanceof SyntaxError) return 'malformed';
  if (/Connection|FetchError/.test(name) || unreachable.test(code)) return 'network';
  if (error instanceof TypeError && /fetch|network|terminated/i.test(error.message))
    return 'network';
  return 'malformed';
}

function isPrefill(text: string): boolean {
  return /prefill|must end with a user message|final message does not appear/i.test(text);
}

/** Waiting does not bring credit, nor a certificate that is trusted. */
function isFinal(facts: Facts): boolean {
  const { status, code, text } = facts;
  return (
    status === 402 || /insufficient_quota|billing/.test(`${code} ${text}`) || isUntrusted(facts)
  );
}

/** Whether a secure connection could not be made. */
function isUntrusted({ status, code }: Facts): boolean {
  return status === undefined && /CERT|SSL|TLS|EPROTO/.test(code);
}

const parameters =
  /\b(temperature|top_p|top_k|top_logprobs|logprobs|stop_sequences|stop|seed|max_tokens|response_format|output_config|structured_outputs|tool_choice|tools)\b/;

function parameterOf({ parameter, text, status }: Facts): string | undefined {
  if (isPrefill(text)) return 'continuation';
  if (parameter !== undefined) return parameter.split('.')[0];
  if (/'n'|\bn\b must/.test(text)) return 'n';
  if (/failed to initialize samplers/i.test(text)) return 'response_format';
  return status === 501 ? undefined : parameters.exec(text)?.[1];
}

function sentence(kind: ModelCallErrorKind, facts: Facts, context: WireContext): string {
  const { provider, modelId, baseUrl, keyVariable } = context;
  const { status, text, code } = facts;
  const model = `${provider}:${modelId}`;
  const where = baseUrl === undefined ? '' : ` at ${withoutCredentials(baseUrl)}`;
  const said = `${status === undefined ? '' : `${status}: `}${brief(text)}`;
  const key = keyVariable === undefined ? 'the key' : `${keyVariable}, or the option \`apiKey\`,`;
  switch (kind) {
    case 'auth':
      return `${model} refuses the key (${said}). Check ${key} and what it may use.`;
    case 'rate-limit':
      return isFinal(facts)
        ? `${model} has no credit left (${said}). Check the account's billing.`
        : `${model} allows no more requests for now (${said}). Lower the concurrency, or wait.`;
    case 'overloaded':
      return `${model}${where} is busy or not ready (${said}). Try again later.`;
    case 'context-length':
      return `The request does not fit the context of ${model} (${said}). Shorten it, or lower \`maxTokens\`.`;
    case 'capability':
      return `${model} does not honour what was asked for (${said}).`;
    case 'bad-request':
      return status === 404
        ? `${model}${where} knows no such model or path (${said}). Check the model's name, and whether the base URL ends as the server wants it, as a rule with /v1.`
        : `${model} cannot make sense of the request (${said}).`;
    case 'network':
      if (isUntrusted(facts)) {
        return `${model}${where} has no certificate that can be trusted (${brief(code)}). Check whether the address begins with https:// or http://, or name the certificate's authority in NODE_EXTRA_CA_CERTS.`;
      }
      return `${model}${where} cannot be reached (${brief(`${code} ${text}`.trim())}). Check the address, and that the server runs.`;
    case 'timeout':
      return `${model}${where} did not answer in time (${said}). Raise the time-out, or lower the load.`;
    case 'malformed':
      return `${model} answered with something that cannot be read (${said}).`;
    case 'refusal':
      return `${model} declined to answer (${said}).`;
    case 'aborted':
      return `The call of ${model} was abandoned.`;
  }
}

/** One line, not too long. */
function brief(text: string): string {
  const line = text
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const short = line.length > 200 ? `${line.slice(0, 200)}…` : line;
  return short.replace(/\.$/, '');
}

function withoutCredentials(address: string): string {
  try {
    const { origin, pathname } = new URL(address);
    return `${origin}${pathname.replace(/\/$/, '')}`;
  } catch {
    return address;
  }
}

function requestIdOf(error: unknown): string | undefined {
  const id = field(error, 'requestID') ?? field(error, 'request_id');
  return typeof id === 'string' ? id : undefined;
}

/** `fetch` hides why it failed behind its own error. */
function causeCode(error: unknown): unknown {
  let cause = field(error, 'cause');
  for (let depth = 0; depth < 4 && cause !== undefined; depth++) {
    const code = field(cause, 'code');
    if (typeof code === 'string') return code;
    cause = field(cause, 'cause');
  }
  return undefined;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Record<string, unknown>)[name] ?? undefined;
}
