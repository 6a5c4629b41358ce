import type { JsonValue } from '../../../contracts/json.ts';
import { isObject, type JsonObject, listOf, objectOf, textAt, words } from '../fields.ts';
import { Rejection } from '../rejection.ts';
import { type SchemaPart, schemaParts } from '../schema-parts.ts';

/** Keywords that strict schemas must not have. */
const refusedKeywords = words(`
  allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames
`);

/** Refuses strict schemas that cannot be enforced: of answers and of tools, in Chat Completions and in Responses. */
export function checkSchemas(body: JsonObject): void {
  const chat = objectOf(objectOf(body['response_format'])['json_schema']);
  checkStrict(chat, 'schema', { where: 'response_format', param: 'response_format' });
  const format = objectOf(objectOf(body['text'])['format']);
  checkStrict(format, 'schema', { where: 'response_format', param: 'text.format.schema' });
  for (const [place, tool] of listOf(body['tools']).map(objectOf).entries()) {
    const wrapped = isObject(tool['function']);
    const param = `tools[${place}]${wrapped ? '.function' : ''}.parameters`;
    checkStrict(wrapped ? objectOf(tool['function']) : tool, 'parameters', {
      where: 'function',
      param,
    });
  }
}

function checkStrict(
  holder: JsonObject,
  field: string,
  { where, param }: { readonly where: string; readonly param: string },
): void {
  const schema = holder[field];
  if (holder['strict'] !== true || schema === undefined) return;
  const wrong = rootError(schema) ?? sizeError(schema) ?? firstError(schemaParts(schema));
  if (wrong === undefined) return;
  throw new Rejection({
    status: 400,
    message: `Invalid schema for ${where} '${textAt(holder, 'name')}': ${wrong}`,
    code: where === 'function' ? 'invalid_function_parameters' : 'invalid_json_schema',
    param,
  });
}

function rootError(schema: JsonValue): string | undefined {
  const { type, anyOf } = objectOf(schema) as Partial<JsonObject>;
  if (anyOf !== undefined) return "schema must not have 'anyOf' at the top level.";
  if (type === 'object') return undefined;
  return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type ?? 'None'}"'.`;
}

function sizeError(schema: JsonValue): string | undefined {
  const parts = schemaParts(schema);
  const names = parts.flatMap((part) => Object.keys(objectOf(part.schema['properties'])));
  const values = parts.flatMap((part) => listOf(part.schema['enum']));
  const characters = [...names, ...values.map(String)].reduce((sum, text) => sum + text.length, 0);
  const depth = Math.max(...parts.map(({ path }) => path.length));
  if (names.length > 5000) return `${names.length} properties exceed the limit of 5000.`;
  if (values.length > 1000) return `${values.length} enum values exceed the limit of 1000.`;
  if (characters > 120_000) return `${characters} characters of names exceed the limit of 120000.`;
  return depth > 10 ? `${depth} levels of nesting exceed the limit of 10.` : undefined;
}

function firstError(parts: readonly SchemaPart[]): string | undefined {
  for (const { schema, path } of parts) {
    const wrong = objectError(schema) ?? keywordError(schema);
    const context = path.flatMap((name) => ["'properties'", `'${name}'`]).join(', ');
    if (wrong !== undefined) return `In context=(${context}), ${wrong}`;
  }
  return undefined;
}

function objectError({ type, properties, required, additionalProperties }: Partial<JsonObject>) {
  if (type !== 'object' && properties === undefined) return undefined;
  if (additionalProperties !== false) {
    return "'additionalProperties' is required to be supplied and to be false.";
  }
  const missing = Object.keys(objectOf(properties)).find(
    (name) => !listOf(required).includes(name),
  );
  return missing === undefined
    ? undefined
    : `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
}

function keywordError(schema: JsonObject): string | undefined {
  const keyword = refusedKeywords.find((name) => schema[name] !== undefined);
  if (keyword !== undefined) return `'${keyword}' is not permitted.`;
  const looksAround = /\(\?<?[=!]/.test(textAt(schema, 'pattern') ?? '');
  return looksAround ? "'pattern' must not look ahead or behind." : undefined;
}
