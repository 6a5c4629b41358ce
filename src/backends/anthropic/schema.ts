import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';

type Schema = Readonly<Record<string, JsonValue>>;

/** What the Messages API takes in a schema as it is. */
const plain = ['type', 'title', 'default', 'required', 'enum', 'const', '$ref'];
const formats: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
];

/**
 * A JSON schema as the Messages API takes it: objects are closed, `oneOf` becomes `anyOf`, and constraints
 * that it would refuse, such as `minimum`, are told to the model in the description instead.
 */
export function boundSchema(schema: JsonValue): JsonValue {
  if (!isSchema(schema)) return schema;
  const kept: Record<string, JsonValue> = {};
  const told: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const taken = takenOver(keyword, value);
    if (taken === undefined) told[keyword] = value;
    else Object.assign(kept, taken);
  }
  if (schema['type'] === 'object' || isSchema(schema['properties'])) {
    kept['additionalProperties'] = false;
  }
  const description = descriptionOf(schema['description'], told);
  return description === undefined ? kept : { ...kept, description };
}

/** What becomes of one keyword; `undefined` where the API would refuse it. */
function takenOver(keyword: string, value: JsonValue): Schema | undefined {
  if (plain.includes(keyword)) return { [keyword]: value };
  switch (keyword) {
    case '$schema':
    case '$id':
    case 'description':
      return {};
    case 'additionalProperties':
      return typeof value === 'boolean' ? {} : undefined;
    case 'properties':
    case '$defs':
    case 'definitions':
      return isSchema(value) ? { [keyword]: eachBound(value) } : undefined;
    case 'items':
      return { items: boundSchema(value) };
    case 'anyOf':
    case 'oneOf':
      return Array.isArray(value) ? { anyOf: value.map(boundSchema) } : undefined;
    case 'allOf':
      return Array.isArray(value) ? { allOf: value.map(boundSchema) } : undefined;
    case 'format':
      return formats.includes(value) ? { format: value } : undefined;
    case 'minItems':
      return value === 0 || value === 1 ? { minItems: value } : undefined;
    default:
      return undefined;
  }
}

function eachBound(schemas: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, boundSchema(schema)]),
  );
}

function descriptionOf(description: JsonValue | undefined, told: Schema): string | undefined {
  const parts = [
    ...(typeof description === 'string' ? [description] : []),
    ...(Object.keys(told).length > 0 ? [JSON.stringify(told)] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}

function isSchema(value: JsonValue | undefined): value is Schema {
  return isPlainObject(value);
}
