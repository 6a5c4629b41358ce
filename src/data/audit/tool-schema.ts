import { isPlainObject } from '../../base/json.ts';

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  null: (value) => value === null,
  number: (value) => typeof value === 'number',
  object: isPlainObject,
  string: (value) => typeof value === 'string',
};

/** The first fault in the schema of a tool's arguments, as far as it is checked; `undefined` if there is none. */
export function schemaFault(schema: unknown): string | undefined {
  if (schema === undefined || schema === null) return undefined;
  if (!isPlainObject(schema)) return 'parameters: no object';
  const { type, properties = {}, required = [] } = schema;
  if (type !== undefined && type !== 'object') return `parameters.type: ${JSON.stringify(type)}`;
  if (properties !== null && !isPlainObject(properties)) return 'parameters.properties: no object';
  const isList = Array.isArray(required) && required.every((name) => typeof name === 'string');
  if (required !== null && !isList) return 'parameters.required: no list of names';
  const wrong = Object.entries(properties ?? {}).find(([, own]) => !isKnownType(own));
  return wrong === undefined ? undefined : `parameters.properties.${wrong[0]}`;
}

function isKnownType(schema: unknown): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isPlainObject(schema)) return false;
  const { type = [] } = schema;
  return type === null || [type].flat().every((name) => typeof name === 'string' && name in types);
}

/**
 * Why arguments are not what the schema of a tool asks for: a required one is missing, one has another type, or one has
 * a name that the schema rules out. What stands deeper is not looked at.
 */
export function argumentFault(
  schema: unknown,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!isPlainObject(schema) || schemaFault(schema) !== undefined) return undefined;
  const { required, properties, additionalProperties } = schema;
  const known = isPlainObject(properties) ? properties : {};
  const missing = (Array.isArray(required) ? required : []).find((name) => !(String(name) in args));
  if (missing !== undefined) return `\`${missing}\` is missing`;
  for (const [name, value] of Object.entries(args)) {
    const own = Object.hasOwn(known, name) ? known[name] : undefined;
    if (own === undefined && additionalProperties === false) return `\`${name}\` is not known`;
    const expected = typesOf(own);
    const isRight =
      expected.length === 0 || value === null || expected.some((type) => types[type]?.(value));
    if (!isRight) return `\`${name}\` is no ${expected.join(' or ')}`;
  }
  return undefined;
}

/** The types that a value may have; none where any will do. */
function typesOf(schema: unknown): readonly string[] {
  const type = isPlainObject(schema) ? (schema['type'] ?? []) : [];
  return [type].flat().map(String);
}
