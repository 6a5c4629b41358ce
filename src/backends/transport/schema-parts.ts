import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';

/** A JSON schema that is an object, that is, neither `true` nor `false`. */
export type Schema = Readonly<Record<string, JsonValue>>;

/** Whether something is a schema with keywords. */
export function isSchema(value: JsonValue | undefined): value is Schema {
  return isPlainObject(value);
}

/** Keywords whose values are data, whatever they look like. */
const data = ['enum', 'const', 'default', 'required', 'examples'];
/** Keywords whose values are schemas by name. */
const named = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];

/** The schemas directly in a schema, including those in lists. The values of `enum`, `const` and `default` are data. */
export function partsOf(schema: Schema): readonly Schema[] {
  return Object.entries(schema).flatMap(([keyword, value]): readonly Schema[] => {
    if (data.includes(keyword)) return [];
    const isNamed = named.includes(keyword) && isSchema(value);
    const parts = isNamed ? Object.values(value) : Array.isArray(value) ? value : [value];
    return (parts as readonly JsonValue[]).filter(isSchema);
  });
}

/** A schema and all schemas in it. */
export function* schemasIn(schema: Schema): Generator<Schema, void> {
  yield schema;
  for (const part of partsOf(schema)) yield* schemasIn(part);
}

/** Whether a value that satisfies a schema may be an object. */
export function mayBeObject({ type, properties }: Schema): boolean {
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type];
  return types.includes('object') || isSchema(properties);
}

/** Whether a value that satisfies a schema is an object, as strict modes require at the top level. */
export function isOfObjects(schema: JsonValue): boolean {
  if (!isSchema(schema) || schema['type'] !== 'object') return false;
  return ['anyOf', 'oneOf', 'allOf', 'not', 'enum'].every((keyword) => !(keyword in schema));
}
