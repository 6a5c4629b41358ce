import { ModelCallError } from '../../base/errors.ts';
import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';

type Schema = Readonly<Record<string, JsonValue>>;

/** Keywords that say nothing about the value. */
const annotations = new Set([
  ...['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', 'title', 'description'],
  ...['default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'contentMediaType', 'id'],
]);

/** Keywords that only narrow a value. A text that violates them is still JSON with the right structure. */
const narrowing = new Set([
  ...['pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['uniqueItems', 'contains', 'minContains', 'maxContains', 'propertyNames'],
  ...['patternProperties', 'dependentRequired', 'not', 'minProperties', 'maxProperties', 'format'],
  'contentEncoding',
]);

/** Formats that the generator knows. */
const formats: readonly unknown[] = ['date', 'time', 'date-time'];

/** Any JSON. */
const anything: JsonValue = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'object', additionalProperties: true },
    { type: 'array' },
  ],
};

/**
 * Converts a JSON schema to the dialect of node-llama-cpp, whose generator treats unknown schemas as `null`.
 *
 * Every property is written, including optional ones, in the order of the schema.
 *
 * @returns only what the generator understands, and the keywords that the grammar does not enforce.
 * @throws ModelCallError `capability` where no grammar can be made from it.
 */
export function grammarSchema(schema: JsonValue): {
  readonly schema: JsonValue;
  readonly unbound: readonly string[];
} {
  const unbound = new Set<string>();
  const root = translated(schema, unbound);
  const definitions = isSchema(schema) ? (schema['$defs'] ?? schema['definitions']) : undefined;
  if (!isSchema(definitions)) return { schema: root, unbound: [...unbound] };
  const $defs = mapped(definitions, (part) => translated(part, unbound));
  // The generator accepts definitions only beside few keywords; this is one of them.
  return { schema: { oneOf: [root], $defs }, unbound: [...unbound] };
}

function translated(schema: JsonValue, unbound: Set<string>): JsonValue {
  if (schema === true) return anything;
  if (!isSchema(schema)) throw refused(`\`${JSON.stringify(schema)}\` as a part`);
  const words = Object.keys(schema).filter((word) => !annotations.has(word));
  if (words.length === 0) return anything;
  if ('$ref' in schema) return reference(schema);
  if ('const' in schema) return { const: scalar(schema['const'], 'const') };
  const { enum: values, anyOf, oneOf, allOf } = schema;
  if (Array.isArray(values)) return { enum: values.map((value) => scalar(value, 'enum')) };
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) {
    expectOnly(words, ['anyOf', 'oneOf', 'type'], unbound);
    return { oneOf: either.map((part) => translated(part, unbound)) };
  }
  if (Array.isArray(allOf) && allOf.length === 1 && words.length === 1) {
    return translated(allOf[0] ?? true, unbound);
  }
  return typed(schema, words, unbound);
}

/** A schema with a type. */
function typed(schema: Schema, words: readonly string[], unbound: Set<string>): JsonValue {
  const type = schema['type'] ?? impliedType(schema);
  const types = Array.isArray(type) ? type : [type];
  const made = types.map((one) => ofType(String(one), schema, { words, unbound }));
  const [only] = made;
  return only !== undefined && made.length === 1 ? only : { oneOf: made };
}

function impliedType(schema: Schema): JsonValue {
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  throw refused(`no \`type\` (${Object.keys(schema).join(', ')})`);
}

interface Words {
  readonly words: readonly string[];
  readonly unbound: Set<string>;
}

function ofType(type: string, schema: Schema, { words, unbound }: Words): JsonValue {
  switch (type) {
    case 'null':
    case 'boolean':
      expectOnly(words, [...ofAnyType], unbound);
      return { type };
    case 'number':
    case 'integer':
      expectOnly(words, [...ofAnyType, ...safeBounds(schema)], unbound);
      return { type };
    case 'string': {
      const format = formats.includes(schema['format']) ? ['format'] : [];
      expectOnly(words, [...ofAnyType, 'minLength', 'maxLength', ...format], unbound);
      return { type, ...picked(schema, format.length > 0 ? format : ['minLength', 'maxLength']) };
    }
    case 'array':
      expectOnly(words, [...ofAnyType, 'minItems', 'maxItems'], unbound);
      return { type, ...picked(schema, ['minItems', 'maxItems']), ...itemsOf(schema, unbound) };
    case 'object':
      expectOnly(words, ofAnyType, unbound);
      return { type, ...propertiesOf(schema, unbound) };
    default:
      throw refused(`the type \`${type}\``);
  }
}

/** A keyword of one type does not affect others: with a list of types, the keywords of all apply. */
const ofAnyType: readonly string[] = [
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'prefixItems'],
];

/** The bounds that zod writes for an integer: a model does not come near them. */
function safeBounds({ minimum, maximum }: Schema): readonly string[] {
  return [
    ...(minimum === Number.MIN_SAFE_INTEGER ? ['minimum'] : []),
    ...(maximum === Number.MAX_SAFE_INTEGER ? ['maximum'] : []),
  ];
}

function propertiesOf(schema: Schema, unbound: Set<string>): Schema {
  const { properties, additionalProperties, required } = schema;
  const named = isSchema(properties) ? properties : {};
  const missing = (Array.isArray(required) ? required : []).filter(
    (name) => !(String(name) in named),
  );
  if (missing.length > 0) unbound.add('required');
  if (Object.keys(named).length === 0) {
    const others = isSchema(additionalProperties) ? additionalProperties : true;
    return {
      additionalProperties:
        others === true ? additionalProperties !== false : translated(others, unbound),
    };
  }
  return { properties: mapped(named, (part) => translated(part, unbound)) };
}

function itemsOf(schema: Schema, unbound: Set<string>): Schema {
  const { items, prefixItems } = schema;
  const first = Array.isArray(prefixItems)
    ? { prefixItems: prefixItems.map((part) => translated(part, unbound)) }
    : {};
  if (items === undefined || items === true) return first;
  if (items === false) return { ...first, maxItems: first.prefixItems?.length ?? 0 };
  return { ...first, items: translated(items, unbound) };
}

function reference(schema: Schema): JsonValue {
  const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(schema['$ref']))?.[1];
  if (name === undefined) throw refused(`a \`$ref\` to \`${String(schema['$ref'])}\``);
  return { $ref: `#/$defs/${name}` };
}

function scalar(value: JsonValue | undefined, word: string): JsonValue {
  if (value !== undefined && (value === null || typeof value !== 'object')) return value;
  throw refused(`a \`${word}\` that is not a single value`);
}

/** Notes the keywords that are not enforced, and refuses those that would change the structure. */
function expectOnly(
  words: readonly string[],
  known: readonly string[],
  unbound: Set<string>,
): void {
  for (const word of words) {
    if (known.includes(word)) continue;
    if (narrowing.has(word) || sized.has(word)) unbound.add(word);
    else throw refused(`\`${word}\``);
  }
}

/** Keywords of one type beside another. */
const sized = new Set(['minLength', 'maxLength', 'minItems', 'maxItems']);

function picked(schema: Schema, words: readonly string[]): Schema {
  return Object.fromEntries(
    words.flatMap((word) => {
      const value = schema[word];
      return value === undefined ? [] : [[word, value]];
    }),
  );
}

function mapped(parts: Schema, change: (part: JsonValue) => JsonValue): Schema {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part)]));
}

function isSchema(value: JsonValue | undefined): value is Schema {
  return isPlainObject(value);
}

function refused(what: string): ModelCallError {
  return new ModelCallError({
    kind: 'capability',
    parameter: 'schema',
    message: `No grammar can be made from a schema with ${what}: write it with \`type\`, \`properties\`, \`items\`, \`enum\` and \`anyOf\`.`,
  });
}
