import { sha256 } from '#platform';
import type { JsonValue } from '../contracts/json.ts';
import { type ErrorScope, EspalierError } from './errors.ts';
import { isPlainObject, jsonComplaint } from './json.ts';

/**
 * JSON with sorted keys and without `undefined`: equal values give equal text. Libraries silently drop or rewrite
 * values that JSON cannot hold; this function names them instead.
 *
 * @throws EspalierError `usage`, naming the path, if JSON cannot hold a value.
 */
export function canonicalJson(name: string, value: unknown, scope?: ErrorScope): string {
  expectJson(name, value, scope);
  return JSON.stringify(value, (_key, part: unknown) =>
    isPlainObject(part) ? sorted(part) : part,
  );
}

/** The content address of a text: its SHA-256 in base64url, 43 characters. */
export function contentAddress(text: string): string {
  return sha256(bytesOf(text));
}

/** UTF-8 has no unpaired surrogates: different texts with one would all have the same bytes. */
function bytesOf(text: string): string | Uint8Array {
  if (!/\p{Surrogate}/u.test(text)) return text;
  const units = Array.from({ length: text.length }, (_, place) => text.charCodeAt(place));
  // UTF-16, low byte first, and a byte that never occurs in UTF-8.
  return Uint8Array.from([...units.flatMap((unit) => [unit & 0xff, unit >> 8]), 0xff]);
}

/** `value` as JSON. Throws a usage error that names the path if JSON cannot hold it without loss. */
export function expectJson(name: string, value: unknown, scope?: ErrorScope): JsonValue {
  const complaint = jsonComplaint(name, value);
  if (complaint === undefined) return value as JsonValue;
  throw new EspalierError('usage', complaint, { scope });
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(value);
  // Values that are already canonical are checked many times, so they are not copied.
  if (keys.every((key, place) => place === 0 || (keys[place - 1] ?? '') < key)) return value;
  return Object.fromEntries(keys.sort().map((key) => [key, value[key]]));
}
