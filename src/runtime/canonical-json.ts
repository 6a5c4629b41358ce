import { hash } from 'node:crypto';
import { EspalierError } from '../spec/errors.ts';
import type { JsonValue } from '../spec/json.ts';

/**
 * JSON with sorted keys and without `undefined`: equal values give equal text.
 *
 * @throws EspalierError `usage`, naming the path, where a value cannot be held by JSON.
 */
export function canonicalJson(name: string, value: unknown): string {
  expectJson(name, value);
  return JSON.stringify(value, (_key, part: unknown) =>
    isPlainObject(part) ? sorted(part) : part,
  );
}

/** The content address of a text: its SHA-256 in base64url, 43 characters. */
export function contentAddress(text: string): string {
  return hash('sha256', text, 'base64url' as 'hex');
}

/** Throws a usage error that names the path unless JSON can hold `value` without loss. */
export function expectJson(name: string, value: unknown): asserts value is JsonValue {
  const fault = findFault(value, []);
  if (fault !== undefined) {
    throw new EspalierError(
      'usage',
      `Expected \`${name}\` to be JSON, got ${fault.what} at \`${[name, ...fault.path].join('.')}\`.`,
    );
  }
}

interface Fault {
  readonly what: string;
  readonly path: readonly (string | number)[];
}

function findFault(value: unknown, ancestors: readonly unknown[]): Fault | undefined {
  if (typeof value !== 'object' || value === null) {
    const what = scalarFault(value);
    return what === undefined ? undefined : { what, path: [] };
  }
  if (ancestors.includes(value)) return { what: 'a cycle', path: [] };
  if (!Array.isArray(value) && !isPlainObject(value)) {
    return { what: `a ${value.constructor.name}`, path: [] };
  }
  const within = [...ancestors, value];
  for (const [key, part] of Object.entries(value)) {
    // JSON drops an absent property, and nothing is lost by it.
    if (part === undefined && !Array.isArray(value)) continue;
    const fault = findFault(part, within);
    if (fault !== undefined) return { what: fault.what, path: [key, ...fault.path] };
  }
  return undefined;
}

function scalarFault(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `\`${value}\``;
    default:
      return value === null ? undefined : value === undefined ? '`undefined`' : `a ${typeof value}`;
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
