import { EspalierError } from '../../base/errors.ts';
import { isPlainObject, jsonFault } from '../../base/json.ts';
import type { JsonBody } from '../transport/chat-request.ts';

/** Fields that each request sets itself, on which reservations, seeds and answers depend. */
const own: readonly string[] = [
  ...['model', 'messages', 'prompt', 'n', 'stream', 'stop', 'seed', 'random_seed'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k'],
  ...['logprobs', 'top_logprobs', 'response_format', 'json_schema', 'tools', 'tool_choice'],
];

/** Checks additional fields. @throws EspalierError `usage` */
export function expectExtraBody(extra: unknown): void {
  if (!isPlainObject(extra) || jsonFault(extra) !== undefined) {
    throw new EspalierError('usage', 'Expected `extraBody` to be an object of JSON.');
  }
  const taken = own.find((name) => Object.hasOwn(extra, name));
  if (taken === undefined) return;
  const message = `Expected \`extraBody\` to be without \`${taken}\`, which each request sets: ask for it there.`;
  throw new EspalierError('usage', message);
}

/** A body with additional fields. The body's own fields take precedence; objects are merged field by field. */
export function withExtra(body: JsonBody, extra: JsonBody): JsonBody {
  const both = Object.entries(extra).map(([name, value]) => {
    const { [name]: set = value } = body;
    const isDeep = isPlainObject(set) && isPlainObject(value);
    return [name, isDeep ? withExtra(set, value) : set] as const;
  });
  return { ...body, ...Object.fromEntries(both) };
}
