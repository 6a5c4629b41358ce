import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';

/**
 * Whether a schema can be kept strictly: each of its objects is closed, and requires all its properties. Others
 * are sent as they are, and not refused, but an answer may then stray from them.
 */
export function isStrict(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isPlainObject(schema)) return true;
  const { type, properties, required, additionalProperties } = schema;
  if (type === 'object' || properties !== undefined) {
    const names = isPlainObject(properties) ? Object.keys(properties) : [];
    const needed = Array.isArray(required) ? (required as readonly unknown[]) : [];
    if (additionalProperties !== false) return false;
    if (!names.every((name) => needed.includes(name))) return false;
  }
  return Object.values(schema).every((part) => isStrict(part));
}
