import type { JsonValue } from '../../contracts/json.ts';
import { isObject, type JsonObject, listOf, objectOf, textAt } from './fields.ts';

/** A schema within a schema. */
export interface SchemaPart {
  readonly schema: JsonObject;
  /** The names of the properties that lead to it. */
  readonly path: readonly string[];
}

const named = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
const listed = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const single = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'propertyNames'];

/** A schema and all schemas in it, including definitions. The values of `enum`, `const` and `default` are data. */
export function schemaParts(
  schema: JsonValue | undefined,
  path: readonly string[] = [],
): SchemaPart[] {
  if (!isObject(schema)) return [];
  const inNamed = named.flatMap((keyword) =>
    Object.entries(objectOf(schema[keyword])).flatMap(([name, part]) =>
      schemaParts(part, keyword === 'properties' ? [...path, name] : path),
    ),
  );
  const others = [
    ...listed.flatMap((keyword) => listOf(schema[keyword])),
    ...single.map((keyword) => schema[keyword]),
  ];
  return [{ schema, path }, ...inNamed, ...others.flatMap((part) => schemaParts(part, path))];
}

/** Whether a reference in a schema leads to a schema that contains it. */
export function isRecursive(root: JsonValue): boolean {
  const leadsBack = (schema: JsonValue | undefined, above: readonly string[]): boolean => {
    const { $defs: _, definitions: __, ...own } = objectOf(schema);
    return schemaParts(own).some(({ schema: part }) => {
      const reference = textAt(part, '$ref');
      if (reference === undefined) return false;
      return (
        above.includes(reference) || leadsBack(schemaAt(root, reference), [...above, reference])
      );
    });
  };
  return leadsBack(root, ['#']);
}

/** The target of a reference within a schema, such as `#/$defs/step`. */
export function schemaAt(root: JsonValue, reference: string): JsonValue {
  return reference
    .split('/')
    .slice(1)
    .reduce<JsonValue>((part, name) => objectOf(part)[name] ?? {}, root);
}
