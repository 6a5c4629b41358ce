import type { JsonValue } from '../../../contracts/json.ts';
import { type JsonObject, listOf, numberAt, objectOf, words } from '../fields.ts';
import { badRequest } from '../rejection.ts';
import { isRecursive, schemaParts } from '../schema-parts.ts';

/** Keywords that schemas of answers must not have. */
const refusedKeywords = words(`
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems
`);

const mostOptional = 24;
const mostUnions = 16;
const mostStrictTools = 20;

/** Refuses schemas that cannot be enforced: those of answers and of strict tools. */
export function checkSchemas(body: JsonObject): void {
  const format = objectOf(objectOf(body['output_config'])['format']);
  const tools = listOf(body['tools']).map(objectOf);
  const strict = [...tools.entries()].filter(([, tool]) => tool['strict'] === true);
  if (strict.length > mostStrictTools) {
    throw badRequest(
      `tools: at most ${mostStrictTools} tools may be strict. Found ${strict.length}.`,
    );
  }
  const schemas = [
    ...(format['schema'] === undefined
      ? []
      : [['output_config.format', format['schema']] as const]),
    ...strict.map(([place, tool]) => [`tools.${place}`, tool['input_schema'] ?? {}] as const),
  ];
  for (const [where, schema] of schemas) checkSchema(where, schema);
  const parts = schemas.flatMap(([, schema]) => schemaParts(schema).map((part) => part.schema));
  const optional = parts.reduce((sum, part) => sum + optionalIn(part), 0);
  const unions = parts.filter(
    ({ anyOf, type }) => anyOf !== undefined || Array.isArray(type),
  ).length;
  if (optional > mostOptional || unions > mostUnions) {
    throw badRequest('Schema is too complex for compilation.');
  }
}

function checkSchema(where: string, schema: JsonValue): void {
  if (isRecursive(schema)) {
    throw badRequest(`${where}.schema: Recursive schemas are not supported`);
  }
  for (const { schema: part } of schemaParts(schema)) {
    const refused = refusedKeywords.filter((name) => part[name] !== undefined);
    if ((numberAt(part, 'minItems') ?? 0) > 1) refused.push('minItems');
    if (refused.length === 0) continue;
    throw badRequest(
      `${where}.schema: For '${String(part['type'])}' type, properties ${refused.join(', ')} are not supported`,
    );
  }
}

function optionalIn({ properties, required }: Partial<JsonObject>): number {
  const needed = listOf(required);
  return Object.keys(objectOf(properties)).filter((name) => !needed.includes(name)).length;
}
