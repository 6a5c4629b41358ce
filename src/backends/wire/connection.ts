import { expectation, expectFunction, expectNumber } from '../../runtime/expect.ts';

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
  }
}

/** What of a connection no message may show: the key, and headers that hold one. */
export function secretsOf({ apiKey, headers = {} }: Connection): readonly string[] {
  const telling = Object.entries(headers).filter(([name]) =>
    /auth|key|token|secret|cookie/i.test(name),
  );
  const keys = telling.flatMap(([, value]) => [value, value.replace(/^\S+\s+/, '')]);
  return apiKey === undefined ? keys : [apiKey, ...keys];
}
