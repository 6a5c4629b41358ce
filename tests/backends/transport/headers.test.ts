import { describe, expect, test } from 'vitest';
import {
  headerLookup,
  rateLimitsOf,
  retryAfterOf,
} from '../../../src/backends/transport/headers.ts';

describe('headers', () => {
  test.each([
    ['Headers', new Headers({ 'X-One': '1' })],
    ['an object in any case', { 'X-One': '1' }],
    ['a map of others', new Map([['x-one', '1']])],
  ])('are looked up in %s', (_name, headers) => {
    const header = headerLookup(headers);
    expect(header('x-one')).toBe('1');
    expect(header('x-two')).toBeUndefined();
  });

  test('are absent in what is none', () => {
    for (const none of [undefined, null, 'x-one: 1', 7]) {
      expect(headerLookup(none)('x-one')).toBeUndefined();
    }
  });
});

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

describe('how long to wait', () => {
  test.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '12' }, 12],
    [{ 'retry-after-ms': '12', 'retry-after': '2' }, 12],
    [{ 'retry-after': 'Thu, 01 Jan 2026 12:00:09 GMT' }, 9000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': ' ' }, undefined],
    [{}, undefined],
  ])('is %j: %s', (headers, expected) => {
    expect(retryAfterOf(headerLookup(headers), now)).toBe(expected);
  });
});

describe('rate limits', () => {
  test("are read from OpenAI's headers", () => {
    const header = headerLookup({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1m0.5s',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': '6ms',
    });
    expect(rateLimitsOf(header, now)).toEqual({
      requests: { limit: 60, remaining: 59, resetMs: 60_500 },
      tokens: { remaining: 149_984, resetMs: 6 },
    });
  });

  test("are read from Anthropic's headers", () => {
    const header = headerLookup({
      'anthropic-ratelimit-tokens-limit': '1000',
      'anthropic-ratelimit-tokens-remaining': '10',
      'anthropic-ratelimit-tokens-reset': '2026-01-01T12:00:30Z',
    });
    expect(rateLimitsOf(header, now)).toEqual({
      tokens: { limit: 1000, remaining: 10, resetMs: 30_000 },
    });
  });

  test('are absent where they are not told in full', () => {
    expect(rateLimitsOf(headerLookup({}), now)).toBeUndefined();
    const partial = { 'x-ratelimit-remaining-requests': '5' };
    expect(rateLimitsOf(headerLookup(partial), now)).toBeUndefined();
  });
});
