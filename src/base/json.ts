import { ignoreRejection } from './is-thenable.ts';
/** Why a value is not JSON, and where. */
export interface JsonFault {
  /** What was found instead. */
  readonly what: string;
  /** Where it was found. */
  readonly path: readonly (string | number)[];
}

/**
 * The maximum nesting depth of all JSON that is read or stored. Deeper values could not be written, because the call
 * stack is limited to some thousands.
 */
export const deepestJson = 512;

const tooDeep = `values nested more than ${deepestJson} deep`;

/** Why `value` is not a {@link JsonValue} that can be stored; `undefined` if it is one. */
export function jsonFault(value: unknown): JsonFault | undefined {
  try {
    const fault = faultWithin(value, []);
    return fault?.what === tooDeep ? { what: tooDeep, path: [] } : fault;
  } catch {
    // A getter may throw anything.
    return { what: 'what cannot be read', path: [] };
  }
}

/** Why `value` cannot be stored as JSON, as a sentence; `undefined` if it can. */
export function jsonComplaint(name: string, value: unknown): string | undefined {
  const fault = jsonFault(value);
  if (fault === undefined) return undefined;
  const path = [name, ...fault.path].join('.');
  return `Expected \`${name}\` to be JSON, got ${fault.what} at \`${path}\`.`;
}

/** `ancestors` is unchanged on return if there is no fault. */
function faultWithin(value: unknown, ancestors: unknown[]): JsonFault | undefined {
  if (typeof value !== 'object' || value === null) {
    const what = scalarFault(value);
    return what === undefined ? undefined : { what, path: [] };
  }
  if (ancestors.includes(value)) return { what: 'a cycle', path: [] };
  if (!Array.isArray(value) && !isPlainObject(value)) {
    ignoreRejection(value);
    return { what: `a ${className(value)}`, path: [] };
  }
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === 'function') return { what: 'an object with a `toJSON`', path: [] };
  if (ancestors.length === deepestJson) return { what: tooDeep, path: [] };
  ancestors.push(value);
  // This runs for every evaluation of every search, so it iterates over keys: entries would allocate an array each.
  for (const key of Object.keys(value)) {
    const part: unknown = value[key as keyof typeof value];
    // JSON drops a property that is `undefined`, without any loss.
    if (part === undefined && !Array.isArray(value)) continue;
    const fault = faultWithin(part, ancestors);
    if (fault !== undefined) return { what: fault.what, path: [key, ...fault.path] };
  }
  ancestors.pop();
  return undefined;
}

function className(value: { readonly constructor?: unknown }): string {
  const made = value.constructor;
  return typeof made === 'function' ? made.name : 'nameless object';
}

/** Whether a value is an object literal, and not an array, a map or an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function scalarFault(value: unknown): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `\`${value}\``;
  return value === undefined ? '`undefined`' : `a ${typeof value}`;
}
