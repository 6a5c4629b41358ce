import type { JsonValue } from '../contracts/json.ts';

/** The schema of an object with just these properties. */
export function objectSchema(properties: Readonly<Record<string, JsonValue>>): JsonValue {
  const required = Object.keys(properties);
  return { type: 'object', properties, required, additionalProperties: false };
}
