import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import {
  isOfObjects,
  isSchema,
  mayBeObject,
  partsOf,
  type Schema,
  schemasIn,
} from '../transport/schema-parts.ts';

/** The maximum numbers of optional properties and of unions in a schema. */
const most = { optional: 24, unions: 16 };

/** Keywords that the Messages API accepts unchanged. */
const plain = ['type', 'title', 'default', 'required', 'enum', 'const', '$ref'];
const formats: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
];

/**
 * A JSON schema for the Messages API: objects are closed, `oneOf` becomes `anyOf`, and constraints that the API would
 * refuse, such as `minimum`, are put into the description instead.
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
  if (mayBeObject(schema)) {
    kept['additionalProperties'] = false;
  }
  const description = descriptionOf(schema['description'], told);
  return description === undefined ? kept : { ...kept, description };
}

/**
 * Whether the API can constrain answers to a schema. It must be an object with closed objects (one with free keys would
 * always be empty), must not be recursive, and has limits on optional properties and unions.
 */
export function canBind(schema: JsonValue | undefined): boolean {
  if (schema === undefined) return true;
  if (!isSchema(schema) || !isOfObjects(schema)) return false;
  const all = [...schemasIn(schema)];
  const count = (of: (part: Schema) => number) => all.reduce((sum, part) => sum + of(part), 0);
  if (all.some(hasFreeKeys) || leadsBack(schema)) return false;
  return count(optionalIn) <= most.optional && count(unionsIn) <= most.unions;
}

function hasFreeKeys(schema: Schema) {
  const { additionalProperties, patternProperties, properties } = schema;
  const isMap = isSchema(additionalProperties) || isSchema(patternProperties);
  const isFree = properties === undefined && additionalProperties !== false;
  return isMap || (mayBeObject(schema) && isFree);
}

function optionalIn({ properties, required }: Schema): number {
  const needed = Array.isArray(required) ? (required as readonly JsonValue[]) : [];
  const names = isPlainObject(properties) ? Object.keys(properties) : [];
  return names.filter((name) => !needed.includes(name)).length;
}

function unionsIn({ anyOf, oneOf, type }: Schema): number {
  return [anyOf, oneOf, type].filter((ways) => Array.isArray(ways) && ways.length > 1).length;
}

/** Whether a reference in a schema leads to a schema that contains it. */
function leadsBack(root: Schema): boolean {
  const above = new Set<string>();
  const harmless = new Set<string>();
  const leads = (schema: Schema): boolean => {
    const { $ref: to, $defs: _, definitions: __, ...others } = schema;
    return (typeof to === 'string' && follows(to)) || partsOf(others).some(leads);
  };
  const follows = (to: string): boolean => {
    if (above.has(to)) return true;
    if (harmless.has(to)) return false;
    above.add(to);
    const target = schemaAt(to, root);
    const isBad = isSchema(target) && leads(target);
    above.delete(to);
    harmless.add(to);
    return isBad;
  };
  return leads(root);
}

/** The target of a reference within a schema, such as `#/$defs/step`. */
function schemaAt(reference: string, root: JsonValue): JsonValue | undefined {
  const [, ...path] = reference.split('/');
  return path.reduce<JsonValue | undefined>(
    (at, name) => (isSchema(at) ? at[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}

/** The adapted form of one keyword; `undefined` if the API would refuse it. */
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
