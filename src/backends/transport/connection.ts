import { expectation, expectFunction, expectNumber } from '../../base/expect.ts';

/** How a server is reached. */
export interface Connection {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * Checks how a server is to be reached. No message shows a value that may hold a key.
 *
 * @throws EspalierError `usage`
 */
export function expectConnection(connection: Connection): void {
  const { apiKey, baseUrl, headers, timeoutMs, fetch } = connection;
  if (apiKey !== undefined && (typeof apiKey !== 'string' || apiKey.trim() === '')) {
    throw expectation('apiKey', 'a string that is not empty', typeof apiKey);
  }
  if (baseUrl !== undefined) expectBaseUrl(baseUrl);
  if (headers !== undefined) expectHeaders(headers);
  if (timeoutMs !== undefined) expectNumber('timeoutMs', timeoutMs, { min: 1 });
  if (fetch !== undefined) expectFunction('fetch', fetch);
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

/** An address without whatever stands before its host: it may be a password. */
function withoutUser(address: string): string {
  return address.replace(/^(\w+:\/\/)?.*@/s, '$1…@');
}

function expectHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') {
      throw expectation(`headers.${name}`, 'a string', typeof value);
    }
    if (!isSendable(name, value)) {
      throw expectation(`headers.${name}`, 'a header that can be sent, on one line', typeof value);
    }
  }
}

/** What `fetch` refuses, it shows. */
function isSendable(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

/** Headers that anybody may see. Every other one may hold a credential. */
const plainHeaders =
  /^(accept|accept-.*|content-.*|user-agent|(http-)?referer|origin|x-title|(anthropic|openai)-(beta|version)|x-stainless-.*|x-espalier-.*)$/i;

/** What of a connection may be a credential: the key, its headers, and what its address holds. */
export function secretsOf({
  apiKey,
  baseUrl,
  headers = {},
}: Pick<Connection, 'apiKey' | 'baseUrl' | 'headers'>): readonly string[] {
  const telling = Object.entries(headers).filter(([name]) => !plainHeaders.test(name));
  return [
    ...(apiKey === undefined ? [] : [apiKey]),
    ...telling.flatMap(([name, value]) => secretsOfHeader(name, value)),
    ...secretsOfAddress(baseUrl),
  ];
}

/** A header, and what stands in it behind the name of a scheme, as `user:password`, or as a cookie. */
function secretsOfHeader(name: string, value: string): readonly string[] {
  const bare = value.replace(/^\S+\s+/, '');
  if (/cookie/i.test(name)) {
    return [value, ...value.split(/;\s*/).map((cookie) => cookie.replace(/^[^=]*=/, ''))];
  }
  if (!/^basic\s/i.test(value)) return [value, bare];
  const account = Buffer.from(bare, 'base64').toString();
  return [value, bare, account, account.replace(/^[^:]*:/, '')];
}

function secretsOfAddress(address: string | undefined): readonly string[] {
  if (address === undefined || !URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  const user = [username, password].filter((part) => part !== '');
  return [...user, ...searchParams.values()];
}

/** What a client of the user's own, or one that an SDK has made of the environment, may hold of credentials. */
export function secretsOfClient(client: object | undefined): readonly string[] {
  if (client === undefined) return [];
  const { baseURL, _options: options } = client as { baseURL?: unknown; _options?: unknown };
  const { defaultHeaders } = Object(options) as { defaultHeaders?: unknown };
  const given = (
    defaultHeaders instanceof Headers ? Object.fromEntries(defaultHeaders) : Object(defaultHeaders)
  ) as object;
  const headers = Object.fromEntries(
    Object.entries(given).filter(([, value]) => typeof value === 'string'),
  );
  const keys = clientKeys.map((name) => Reflect.get(client, name) as unknown);
  return [
    ...keys.filter((key) => typeof key === 'string'),
    ...secretsOf({ headers, baseUrl: typeof baseURL === 'string' ? baseURL : undefined }),
  ];
}

const clientKeys = [
  'apiKey',
  'authToken',
  'adminAPIKey',
  'webhookSecret',
  'webhookKey',
  'organization',
  'project',
];
