import type { RateLimits } from '../../contracts/language-model.ts';

/** Looks up a header by its lower-case name. */
export type HeaderLookup = (name: string) => string | undefined;

/** Returns a lookup for headers in any form that SDKs and `fetch` use. */
export function headerLookup(headers: unknown): HeaderLookup {
  if (typeof headers !== 'object' || headers === null) return () => undefined;
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const { get } = headers as { get?: unknown };
  if (typeof get === 'function') {
    return (name) => (get.call(headers, name) as string | null | undefined) ?? undefined;
  }
  const entries = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  return (name) => entries.get(name);
}

/**
 * The time that a server asks to wait, in milliseconds: from `retry-after-ms`, or from `retry-after` in seconds or as a
 * date.
 */
export function retryAfterOf(header: HeaderLookup, now: number = Date.now()): number | undefined {
  const milliseconds = Number(header('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = header('retry-after');
  if (after === undefined || after.trim() === '') return undefined;
  const seconds = Number(after);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The rate limits in headers in the style of OpenAI and Anthropic; `undefined` if there are none. */
export function rateLimitsOf(
  header: HeaderLookup,
  now: number = Date.now(),
): RateLimits | undefined {
  const requests = limitOf(header, 'requests', now);
  const tokens = limitOf(header, 'tokens', now);
  if (requests === undefined && tokens === undefined) return undefined;
  return { ...(requests && { requests }), ...(tokens && { tokens }) };
}

function limitOf(header: HeaderLookup, unit: string, now: number): RateLimits['tokens'] {
  const openai = (field: string) => header(`x-ratelimit-${field}-${unit}`);
  const anthropic = (field: string) => header(`anthropic-ratelimit-${unit}-${field}`);
  for (const read of [openai, anthropic]) {
    const remaining = Number(read('remaining') ?? Number.NaN);
    const resetMs = durationOf(read('reset') ?? '', now);
    if (!Number.isFinite(remaining) || resetMs === undefined) continue;
    const limit = Number(read('limit') ?? Number.NaN);
    return { remaining, resetMs, ...(Number.isFinite(limit) && { limit }) };
  }
  return undefined;
}

const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A time from now: `6m0s`, `12ms`, seconds, or a date. */
function durationOf(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) {
    return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)].reduce(
      (sum, [, amount, unit = '']) => sum + Number(amount) * (milliseconds[unit] ?? 0),
      0,
    );
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
