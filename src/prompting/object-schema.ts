import type { JsonValue } from '../contracts/json.ts';

/** The schema of an object with exactly these properties, preceded by a reason if one is wanted. */
export function objectSchema(
  fields: Readonly<Record<string, JsonValue>>,
  { reason = false }: { readonly reason?: boolean } = {},
): JsonValue {
  const properties = { ...(reason && { reason: { type: 'string' } }), ...fields };
  const required = Object.keys(properties);
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The requests for JSON answers, with and without a reason before the fields. */
export function jsonAnswers(fields: string): {
  readonly answer: string;
  readonly reasonedAnswer: string;
} {
  const asked = 'Answer in JSON, and write nothing else:';
  return {
    answer: `${asked} {{${fields}}}`,
    reasonedAnswer: `${asked} {{"reason": "<two sentences at most>", ${fields}}}`,
  };
}
