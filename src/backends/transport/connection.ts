import { EspalierError } from '../../base/errors.ts';
import {
  expectation,
  expectFunction,
  expectInteger,
  expectNumber,
  expectObject,
} from '../../base/expect.ts';
import type { RetryOptions, withRetry } from '../../calls/middleware/with-retry.ts';

/** Connection options of models over HTTP. */
export interface ConnectionOptions {
  /**
   * The API key. A provider's key is never sent to another provider.
   *
   * @defaultValue for hosted models, as their SDK finds it in the environment; none for your own servers
   */
  readonly apiKey?: string;
  /**
   * The name of the environment variable with the key, if `apiKey` is not given, in capital letters. It is read when a
   * request is sent.
   *
   * @defaultValue the provider's; none for your own servers
   */
  readonly keyVariable?: string;
  /** The address of the server, with or without `/v1`. @defaultValue the default of its kind */
  readonly baseUrl?: string;
  /** Additional headers of every request, taking precedence over the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The timeout of a request, up to the last byte of its reply, in milliseconds, from 1 up; for streamed replies, as
   * long ones are, the maximum time without data. Your own `fetch` or client may give up earlier, as Node's `fetch`
   * does after 300 000 without data.
   *
   * @defaultValue 300 000, for hosted models 600 000
   */
  readonly timeoutMs?: number;
  /** Sends the requests. @defaultValue the platform's */
  readonly fetch?: typeof globalThis.fetch;
  /** The maximum size of a reply, in bytes, from 1 up. @defaultValue 64 MiB */
  readonly maxReplyBytes?: number;
  /** How failed requests are retried; `false` for never. @defaultValue as in {@link withRetry} */
  readonly retry?: RetryOptions | false;
}

/** The names of {@link ConnectionOptions}, separated by spaces. */
export const connectionOptions =
  'apiKey keyVariable baseUrl headers timeoutMs fetch maxReplyBytes retry';

/**
 * Checks connection options. No message shows a value that may contain a key.
 *
 * @throws EspalierError `usage`
 */
export function expectConnection(options: ConnectionOptions): void {
  const { apiKey, keyVariable, baseUrl, headers } = options;
  const { timeoutMs, fetch, maxReplyBytes, retry } = options;
  if (apiKey !== undefined && (typeof apiKey !== 'string' || apiKey.trim() === '')) {
    throw expectation('apiKey', 'a string that is not empty', typeof apiKey);
  }
  if (keyVariable !== undefined) expectKeyVariable('keyVariable', keyVariable);
  if (baseUrl !== undefined) expectBaseUrl(baseUrl);
  if (headers !== undefined) expectHeaders(headers);
  if (timeoutMs !== undefined) expectNumber('timeoutMs', timeoutMs, { min: 1 });
  if (fetch !== undefined) expectFunction('fetch', fetch);
  if (maxReplyBytes !== undefined) expectInteger('maxReplyBytes', maxReplyBytes, { min: 1 });
  if (retry !== undefined && retry !== false && typeof retry !== 'object') {
    throw expectation('retry', 'an object or false', retry);
  }
}

/**
 * Checks the name of an environment variable for a key. It may be the key itself by mistake, so it is not shown.
 *
 * @throws EspalierError `usage`
 */
export function expectKeyVariable(option: string, name: unknown): void {
  const isName = typeof name === 'string' && /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(name);
  // Some keys consist of capital letters and digits, such as those of AWS.
  if (isName && name.length <= 64 && (name.includes('_') || name.length < 16)) return;
  const message = `Expected \`${option}\` to be the name of an environment variable in capital letters, such as MY_API_KEY, got something else, which may be a key and is not shown.`;
  throw new EspalierError('usage', message);
}

/** Checks the name of a model. @throws EspalierError `usage` */
export function expectModelName(model: unknown, example = ''): void {
  if (typeof model === 'string' && model.trim() !== '') return;
  throw expectation('model', `the name of a model${example && `, as in ${example}`}`, model);
}

/**
 * Checks that no options are given that the user's own client already has, since they would have no effect.
 *
 * @throws EspalierError `usage`
 */
export function expectAbsentBesideClient<Options extends { readonly client?: unknown }>(
  options: Options,
  names: readonly (keyof Options & string)[],
): void {
  if (options.client === undefined) return;
  const beside = names.find((name) => options[name] !== undefined);
  if (beside === undefined) return;
  const message = `Expected \`${beside}\` to be absent beside \`client\`, which has its own, got both.`;
  throw new EspalierError('usage', message);
}

function expectBaseUrl(baseUrl: string): void {
  const expected = 'an address that begins with http:// or https://';
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const shown = typeof baseUrl === 'string' ? withoutUser(baseUrl) : baseUrl;
    throw expectation('baseUrl', expected, shown);
  }
  if (url.username !== '' || url.password !== '') {
    const rule = 'an address without a user name; give a key as `apiKey`';
    throw expectation('baseUrl', rule, withoutUser(baseUrl));
  }
}

/** An address without the part before its host, which may be a password. */
function withoutUser(address: string): string {
  return address.replace(/^(\w+:\/\/)?.*@/s, '$1…@');
}

function expectHeaders(headers: Readonly<Record<string, string>>): void {
  expectObject('headers', headers);
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') {
      throw expectation(`headers.${name}`, 'a string', typeof value);
    }
    if (!isSendable(name, value)) {
      throw expectation(`headers.${name}`, 'a header that can be sent, on one line', typeof value);
    }
  }
}

/** Whether `fetch` accepts a header, because its error would show the value. */
function isSendable(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

/** Headers that may be shown. Any other one may contain a credential. */
const plainHeaders =
  /^(accept|accept-.*|content-.*|user-agent|(http-)?referer|origin|x-title|(anthropic|openai)-(beta|version)|x-stainless-.*|x-espalier-.*)$/i;

/** The parts of a connection that may be credentials: the key, its headers, and parts of its address. */
export function secretsOf({
  apiKey,
  baseUrl,
  headers,
}: {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: unknown;
  readonly headers?: unknown;
}): readonly string[] {
  const given: object = headers instanceof Headers ? Object.fromEntries(headers) : Object(headers);
  const telling = Object.entries(given).filter(([name]) => !plainHeaders.test(name));
  return [
    ...(apiKey === undefined ? [] : [apiKey]),
    ...telling.flatMap(([name, value]) => secretsOfHeader(name, value)),
    ...secretsOfAddress(baseUrl),
  ];
}

/** A header, and its parts: after the name of a scheme, as `user:password`, or as a cookie. */
function secretsOfHeader(name: string, value: unknown): readonly string[] {
  if (typeof value !== 'string') return [];
  const bare = value.replace(/^\S+\s+/, '');
  if (/cookie/i.test(name)) {
    return [value, ...value.split(/;\s*/).map((cookie) => cookie.replace(/^[^=]*=/, ''))];
  }
  if (!/^basic\s/i.test(value)) return [value, bare];
  const account = Buffer.from(bare, 'base64').toString();
  return [value, bare, account, account.replace(/^[^:]*:/, '')];
}

function secretsOfAddress(address: unknown): readonly string[] {
  if (typeof address !== 'string' || !URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  const user = [username, password].filter((part) => part !== '');
  return [...user, ...searchParams.values()];
}

/** Possible credentials of a client of the user, or of one that an SDK has configured from the environment. */
export function secretsOfClient(client: object | undefined): readonly string[] {
  if (client === undefined) return [];
  const { baseURL, _options: options } = client as { baseURL?: unknown; _options?: unknown };
  const { defaultHeaders: headers } = Object(options) as { defaultHeaders?: unknown };
  const keys = clientKeys.map((name) => Reflect.get(client, name) as unknown);
  return [
    ...keys.filter((key) => typeof key === 'string'),
    ...secretsOf({ headers, baseUrl: baseURL }),
  ];
}

const clientKeys = [
  ...['apiKey', 'authToken', 'adminAPIKey', 'webhookSecret', 'webhookKey'],
  ...['organization', 'project'],
];
