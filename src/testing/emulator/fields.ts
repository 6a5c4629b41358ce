import { parsedJson } from '../../backends/transport/json.ts';
import type { JsonValue } from '../../contracts/json.ts';

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Whether a value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The words of a text. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** A JSON object; empty for other values. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** A JSON array; empty for other values. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

/** A field that is a text. */
export function textAt(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

/** A field that is a number. */
export function numberAt(fields: JsonObject, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' ? value : undefined;
}

/** A field that is a text or a list of texts. */
export function textsAt(fields: JsonObject, name: string): readonly string[] {
  const value = fields[name];
  if (typeof value === 'string') return [value];
  return listOf(value).filter((item) => typeof item === 'string');
}

/** A text parsed as JSON; `undefined` if it is invalid. */
export const parsed = parsedJson as (text: string) => JsonValue | undefined;
