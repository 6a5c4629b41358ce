import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';

/** A JSON schema that is an object, as all but `true` and `false` are. */
export type Schema = Readonly<Record<string, JsonValue>>;

/** Whether something is a schema with keywords. */
export function isSchema(value: JsonValue | undefined): value is Schema {
  return isPlainObject(value);
}

/** Keywords whose values are data, however they look. */
const data = ['enum', 'const', 'default', 'required', 'examples'];
/** Keywords whose values are schemas by name. */
const named = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];

/** The schemas in a schema, lists of schemas taken apart. What `enum`, `const` and `default` hold is data. */
export function partsOf(schema: Schema): readonly Schema[] {
  return Object.entries(schema).flatMap(([keyword, value]): readonly Schema[] => {
    if (data.includes(keyword)) return [];
    const isNamed = named.includes(keyword) && isSchema(value);
    const parts = isNamed ? Object.values(value) : Array.isArray(value) ? value : [value];
    return (parts as readonly JsonValue[]).filter(isSchema);
  });
}

/** A schema and all those in it. */
export function* schemasIn(schema: Schema): Generator<Schema, void> {
  yield schema;
  for (const part of partsOf(schema)) yield* schemasIn(part);
}

/** Whether what satisfies a schema may be an object. */
export function mayBeObject({ type, properties }: Schema): boolean {
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type];
  return types.includes('object') || isSchema(properties);
}

/** Whether what satisfies a schema is an object, as those who bind answers to schemas want it of the outermost one. */
export function isOfObjects(schema: JsonValue): boolean {
  if (!isSchema(schema) || schema['type'] !== 'object') return false;
  return ['anyOf', 'oneOf', 'allOf', 'not', 'enum'].every((keyword) => !(keyword in schema));
}
