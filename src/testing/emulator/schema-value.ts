import type { JsonValue } from '../../contracts/json.ts';
import { isObject, type JsonObject, listOf, numberAt, objectOf, textAt } from './fields.ts';
import { hashed, hashedInteger, hashedName } from './hash.ts';
import { schemaAt } from './schema-parts.ts';

/** The depth beyond which a value has only required parts, because some schemas are infinite. */
const deepest = 6;

interface Place {
  readonly root: JsonObject;
  readonly path: string;
  readonly depth: number;
}

/**
 * A value that satisfies a schema, determined by the schema and `key`. Supports types, `properties`, `items`, `enum`,
 * `const`, `anyOf`, `oneOf`, `$ref`, bounds of numbers, and lengths of texts and arrays.
 */
export function schemaValue(schema: JsonValue, key: string): JsonValue {
  return valueAt(schema, { root: objectOf(schema), path: key, depth: 0 });
}

function valueAt(schema: JsonValue, place: Place): JsonValue {
  if (!isObject(schema)) return {};
  const reference = textAt(schema, '$ref');
  if (reference !== undefined) return valueAt(schemaAt(place.root, reference), place);
  if (schema['const'] !== undefined) return schema['const'];
  for (const name of ['enum', 'anyOf', 'oneOf', 'allOf']) {
    const options = listOf(schema[name]);
    const picked = options[hashedInteger(options.length, place.path)];
    if (picked !== undefined) return name === 'enum' ? picked : valueAt(picked, place);
  }
  return typedValue(schema, place);
}

function typedValue(schema: JsonObject, place: Place): JsonValue {
  switch (typeOf(schema) ?? '') {
    case 'object':
      return objectValue(schema, place);
    case 'array':
      return arrayValue(schema, place);
    case 'number':
      return numberValue(schema, place);
    case 'integer':
      return integerValue(schema, place);
    case 'boolean':
      return hashed(place.path) < 0.5;
    case 'null':
      return null;
    default:
      return stringValue(schema, place);
  }
}

function typeOf(schema: JsonObject): string | undefined {
  const [first] = listOf(schema['type']).filter((type) => type !== 'null');
  const type = textAt(schema, 'type') ?? (typeof first === 'string' ? first : undefined);
  return type ?? (schema['properties'] === undefined ? undefined : 'object');
}

function objectValue(schema: JsonObject, place: Place): JsonValue {
  const required = listOf(schema['required']);
  const properties = Object.entries(objectOf(schema['properties'])).filter(
    ([name]) => place.depth < deepest || required.includes(name),
  );
  return Object.fromEntries(
    properties.map(([name, part]) => [name, valueAt(part, within(place, name))]),
  );
}

function arrayValue(schema: JsonObject, place: Place): JsonValue {
  const least = numberAt(schema, 'minItems') ?? (place.depth < deepest ? 1 : 0);
  const most = Math.max(least, numberAt(schema, 'maxItems') ?? least + 1);
  const length = least + hashedInteger(most - least + 1, place.path, 'length');
  return Array.from({ length: place.depth < deepest ? length : least }, (_, index) =>
    valueAt(schema['items'] ?? { type: 'string' }, within(place, index)),
  );
}

function within({ root, path, depth }: Place, name: string | number): Place {
  return { root, path: `${path}/${name}`, depth: depth + 1 };
}

/** A number between its bounds, with four digits if possible. */
function numberValue(schema: JsonObject, { path }: Place): number {
  const { least, most } = bounds(schema, 1);
  const value = least + hashed(path) * (most - least);
  const rounded = Math.round(value * 1e4) / 1e4;
  return rounded > least && rounded < most ? rounded : value;
}

function integerValue(schema: JsonObject, { path }: Place): number {
  const { least, most } = bounds(schema, 9);
  const isOpen = (name: string, bound: number) => numberAt(schema, name) === bound;
  const first = Math.ceil(least) + (isOpen('exclusiveMinimum', Math.ceil(least)) ? 1 : 0);
  const last = Math.floor(most) - (isOpen('exclusiveMaximum', Math.floor(most)) ? 1 : 0);
  return first + hashedInteger(Math.max(1, last - first + 1), path);
}

/** The bounds of a number; a missing one is `width` away from the other. */
function bounds(schema: JsonObject, width: number): { least: number; most: number } {
  const low = numberAt(schema, 'minimum') ?? numberAt(schema, 'exclusiveMinimum');
  const high = numberAt(schema, 'maximum') ?? numberAt(schema, 'exclusiveMaximum');
  const least = low ?? (high === undefined ? 0 : high - width);
  return { least, most: high ?? least + width };
}

function stringValue(schema: JsonObject, { path }: Place): string {
  const text = `w${hashedName(path)}`;
  const padded = text.padEnd(numberAt(schema, 'minLength') ?? 0, 'x');
  return padded.slice(0, numberAt(schema, 'maxLength') ?? padded.length);
}
