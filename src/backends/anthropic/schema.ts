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

/**
 * Whether answers can be bound to a schema there. Objects have to be closed, so that one whose keys are free would always
 * be empty; and a schema may not lead back to itself.
 */
export function canBind(schema: JsonValue | undefined): boolean {
  if (schema === undefined) return true;
  return !hasFreeKeys(schema) && !leadsBack(schema);
}

function hasFreeKeys(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return (schema as readonly JsonValue[]).some(hasFreeKeys);
  if (!isSchema(schema)) return false;
  const { additionalProperties, patternProperties, properties, type } = schema;
  const isMap = isSchema(additionalProperties) || isSchema(patternProperties);
  const isOpen = type === 'object' && properties === undefined && additionalProperties !== false;
  return isMap || isOpen || partsOf(schema).some(hasFreeKeys);
}

/** The schemas in a schema. What `enum`, `const` and `default` hold is data. */
function partsOf(schema: Schema): readonly JsonValue[] {
  return Object.entries(schema).flatMap(([keyword, value]): readonly JsonValue[] => {
    if (['enum', 'const', 'default', 'required', 'examples'].includes(keyword)) return [];
    const isNamed = ['properties', '$defs', 'definitions'].includes(keyword) && isSchema(value);
    return isNamed ? Object.values(value) : [value];
  });
}

/** Whether a reference in a schema leads to one that holds it. */
function leadsBack(root: JsonValue): boolean {
  const above = new Set<string>();
  const harmless = new Set<string>();
  const leads = (schema: JsonValue): boolean => {
    if (Array.isArray(schema)) return (schema as readonly JsonValue[]).some(leads);
    if (!isSchema(schema)) return false;
    const { $ref: to, $defs: _, definitions: __, ...others } = schema;
    return (typeof to === 'string' && follows(to)) || partsOf(others).some(leads);
  };
  const follows = (to: string): boolean => {
    if (above.has(to)) return true;
    if (harmless.has(to)) return false;
    above.add(to);
    const isBad = leads(schemaAt(to, root) ?? null);
    above.delete(to);
    harmless.add(to);
    return isBad;
  };
  return leads(root);
}

/** What a reference within a schema names, as in `#/$defs/step`. */
function schemaAt(reference: string, root: JsonValue): JsonValue | undefined {
  const [, ...path] = reference.split('/');
  return path.reduce<JsonValue | undefined>(
    (at, name) => (isSchema(at) ? at[name] : undefined),
    root,
  );
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
