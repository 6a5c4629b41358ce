import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import {
  isSchema,
  mayBeObject,
  partsOf,
  type Schema,
  schemasIn,
} from '../transport/schema-parts.ts';

/** Keywords that strict schemas must not have. */
const refused = [
  ...['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'patternProperties', 'propertyNames'],
  ...['dependencies', 'dependentRequired', 'dependentSchemas'],
];

/** Size limits of a strict schema; the last one counts the characters of names and `enum` values. */
const most = { levels: 10, properties: 5000, values: 1000, characters: 120_000 };

/**
 * Whether a schema can be enforced strictly: it is an object, all its objects are closed and require all their
 * properties; it has no refused keywords, such as `oneOf`, and no pattern with lookaround; and it is not too large.
 * Other schemas are sent and accepted, but answers may deviate from them.
 */
export function isStrict(schema: JsonValue): boolean {
  if (!isSchema(schema) || schema['type'] !== 'object' || 'anyOf' in schema) return false;
  if (levelsOf(schema) > most.levels) return false;
  const all = [...schemasIn(schema)];
  const names = all.flatMap((part) => namesIn(part));
  const values = all.flatMap((part) => listIn(part, 'enum'));
  const written = [...names, ...values.filter((value) => typeof value === 'string')];
  return (
    names.length <= most.properties &&
    values.length <= most.values &&
    written.reduce((sum, text) => sum + text.length, 0) <= most.characters &&
    all.every((part) => isClosed(part) && isTaken(part))
  );
}

function isClosed(schema: Schema): boolean {
  if (!mayBeObject(schema)) return true;
  const needed = listIn(schema, 'required');
  if (schema['additionalProperties'] !== false) return false;
  return namesIn(schema).every((name) => needed.includes(name));
}

function isTaken(schema: Schema): boolean {
  const { pattern } = schema;
  const looksAround = typeof pattern === 'string' && /\(\?<?[=!]/.test(pattern);
  return !looksAround && refused.every((keyword) => !(keyword in schema));
}

/** The nesting depth of objects and lists. */
function levelsOf(schema: Schema): number {
  const isLevel = schema['properties'] !== undefined || schema['items'] !== undefined;
  const below = partsOf(schema).reduce((deepest, part) => Math.max(deepest, levelsOf(part)), 0);
  return below + (isLevel ? 1 : 0);
}

function namesIn({ properties }: Schema): readonly string[] {
  return isPlainObject(properties) ? Object.keys(properties) : [];
}

function listIn(schema: Schema, keyword: 'enum' | 'required'): readonly JsonValue[] {
  const list = schema[keyword];
  return Array.isArray(list) ? (list as readonly JsonValue[]) : [];
}
