import { repeated } from '../batches.ts';
import type { Batch, BatchItem } from '../dialect.ts';
import { isObject, type JsonObject, objectOf, parsed, textAt } from '../fields.ts';

/** The maximum number of lines in a file. */
const mostItems = 50_000;

/** Reads a file of requests for an endpoint. It yields no items if anything is wrong with it. */
export function readBatchFile(text: string, endpoint: string): Pick<Batch, 'errors' | 'items'> {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => parsed(line) ?? null);
  const items = lines.map(objectOf).map((line) => ({
    customId: textAt(line, 'custom_id') ?? '',
    body: objectOf(line['body']),
  }));
  const model = textAt(items[0]?.body ?? {}, 'model');
  const errors = [...sizeErrors(lines.length), ...duplicates(items)];
  for (const [place, line] of lines.entries()) {
    const error = isObject(line) ? lineError(line, { endpoint, model }) : unreadable;
    if (error !== undefined) errors.push({ ...error, line: place + 1 });
  }
  return { items: errors.length === 0 ? items : [], errors };
}

const unreadable: JsonObject = {
  code: 'invalid_json_line',
  message: 'This line is not parseable as valid JSON.',
  param: null,
};

function lineError(
  line: JsonObject,
  { endpoint, model }: { readonly endpoint: string; readonly model: string | undefined },
): JsonObject | undefined {
  const missing = ['custom_id', 'method', 'url', 'body'].find((name) => line[name] === undefined);
  if (missing !== undefined) {
    return error(
      'missing_required_parameter',
      `Missing required parameter: '${missing}'.`,
      missing,
    );
  }
  if (line['method'] !== 'POST') {
    return error('invalid_method', "The method of a request must be 'POST'.", 'method');
  }
  if (line['url'] !== endpoint) {
    return error(
      'url_mismatch',
      `The URL of a request must be the endpoint, '${endpoint}'.`,
      'url',
    );
  }
  const body = objectOf(line['body']);
  if (body['model'] !== model) {
    return error('model_mismatch', `All requests must be for one model, '${model}'.`, 'body.model');
  }
  const streams = body['stream'] !== undefined && body['stream'] !== false;
  return streams
    ? error('invalid_request', 'Requests of a batch cannot be streamed.', 'body.stream')
    : undefined;
}

function sizeErrors(lines: number): JsonObject[] {
  if (lines === 0) return [error('empty_file', 'The file has no requests.', 'input_file_id')];
  if (lines <= mostItems) return [];
  return [error('too_many_tasks', `The file has more than ${mostItems} requests.`, null)];
}

function duplicates(items: readonly BatchItem[]): JsonObject[] {
  const names = items.map(({ customId }) => customId);
  const twice = repeated(names);
  if (twice === undefined) return [];
  const line = names.lastIndexOf(twice) + 1;
  const message = `The custom_id '${twice}' was used before.`;
  return [{ ...error('duplicate_custom_id', message, 'custom_id'), line }];
}

function error(code: string, message: string, param: string | null): JsonObject {
  return { code, message, param, line: null };
}
