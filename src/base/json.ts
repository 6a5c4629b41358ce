/** What keeps a value from being JSON, and where. */
export interface JsonFault {
  /** What was found instead. */
  readonly what: string;
  /** Where it was found. */
  readonly path: readonly (string | number)[];
}

/**
 * How many arrays and objects may lie within each other, in all that comes in and is kept. What is deeper cannot
 * be written: the call stack ends at some thousands.
 */
export const deepestJson = 512;

const tooDeep = `values nested more than ${deepestJson} deep`;

/** What keeps `value` from being a {@link JsonValue} that can be kept; `undefined` where it is one. */
export function jsonFault(value: unknown): JsonFault | undefined {
  try {
    const fault = faultWithin(value, []);
    return fault?.what === tooDeep ? { what: tooDeep, path: [] } : fault;
  } catch {
    // A getter may throw what it likes.
    return { what: 'what cannot be read', path: [] };
  }
}

/** Why `value` cannot be kept as JSON, in a sentence; `undefined` where it can. */
export function jsonComplaint(name: string, value: unknown): string | undefined {
  const fault = jsonFault(value);
  if (fault === undefined) return undefined;
  const path = [name, ...fault.path].join('.');
  return `Expected \`${name}\` to be JSON, got ${fault.what} at \`${path}\`.`;
}

/** `ancestors` is as it was once nothing is wrong. */
function faultWithin(value: unknown, ancestors: unknown[]): JsonFault | undefined {
  if (typeof value !== 'object' || value === null) {
    const what = scalarFault(value);
    return what === undefined ? undefined : { what, path: [] };
  }
  if (ancestors.includes(value)) return { what: 'a cycle', path: [] };
  if (!Array.isArray(value) && !isPlainObject(value)) {
    return { what: `a ${className(value)}`, path: [] };
  }
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === 'function') return { what: 'an object with a `toJSON`', path: [] };
  if (ancestors.length === deepestJson) return { what: tooDeep, path: [] };
  ancestors.push(value);
  // Every evaluation of every search comes by here: by key, and not by entry, which would be another array each.
  for (const key of Object.keys(value)) {
    const part: unknown = value[key as keyof typeof value];
    // JSON drops an absent property, and nothing is lost by it.
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
