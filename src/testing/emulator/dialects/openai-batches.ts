import type { JsonValue } from '../../../contracts/json.ts';
import { batchOf, batchPage, dayMs, submit } from '../batches.ts';
import type { Batch, BatchResult, Call, Reply, Routes } from '../dialect.ts';
import { isObject, type JsonObject, numberAt, objectOf, textAt } from '../fields.ts';
import { Rejection } from '../rejection.ts';
import { jsonReply } from '../reply.ts';
import { readBatchFile } from './openai-batch-file.ts';
import { fileOf } from './openai-files.ts';

const path = '/v1/batches';
const endpoints = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings', '/v1/responses'];

/** The endpoints for existing batches. */
export const batchRoutes: Routes = {
  [`GET ${path}`]: (call) => {
    const { page, hasMore } = batchPage(call, { after: 'after', most: 100 });
    return jsonReply({
      object: 'list',
      data: page.map((batch) => batchObject(batch, call)),
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
      has_more: hasMore,
    });
  },
  [`GET ${path}/*`]: (call) => jsonReply(batchObject(named(call, ''), call)),
  [`POST ${path}/*`]: (call) => {
    const batch = named(call, 'cancel');
    if (batch.isOver) {
      throw new Rejection({
        status: 409,
        message: `Cannot cancel a batch with status '${endOf(batch)}'.`,
      });
    }
    batch.cancelledMs = call.service.settings.now();
    return jsonReply(batchObject(batch, call));
  },
};

/** `POST /v1/batches`. If the file is invalid, the batch fails later. */
export function createBatch(call: Call): Reply {
  const { body } = call;
  checkRequest(body);
  const endpoint = textAt(body, 'endpoint') ?? '';
  const { text } = fileOf(call, textAt(body, 'input_file_id') ?? '');
  const batch = submit(call, endpoint, readBatchFile(text, endpoint));
  return jsonReply(batchObject(batch, call));
}

function checkRequest(body: JsonObject): void {
  const { endpoint, completion_window: window, metadata } = body as Partial<JsonObject>;
  if (!endpoints.includes(String(endpoint))) throw invalid('endpoint', endpoint, endpoints);
  if (window !== '24h') throw invalid('completion_window', window, ['24h']);
  const pairs = Object.entries(objectOf(metadata));
  if (pairs.length > 16) {
    throw refused(
      `Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with ${pairs.length} properties instead.`,
      'metadata',
    );
  }
  const wrong = pairs.find(
    ([key, value]) => key.length > 64 || typeof value !== 'string' || value.length > 512,
  );
  if (wrong !== undefined) {
    throw refused(
      `Invalid 'metadata.${wrong[0]}': expected a key of at most 64 characters and a string of at most 512.`,
      'metadata',
    );
  }
}

function invalid(param: string, value: JsonValue | undefined, known: readonly string[]): Rejection {
  const supported = known.map((name) => `'${name}'`).join(', ');
  return refused(`Invalid value: '${value}'. Supported values are: ${supported}.`, param);
}

function refused(message: string, param: string): Rejection {
  return new Rejection({ status: 400, message, code: 'invalid_value', param });
}

function named(call: Call, wanted: string): Batch {
  const [id = '', rest = ''] = call.exchange.path.slice(path.length + 1).split('/');
  if (rest !== wanted) throw new Rejection({ status: 404, message: 'Not Found' });
  return batchOf(call, id, { status: 404, message: `No batch found with id '${id}'.` });
}

function batchObject(batch: Batch, call: Call): JsonObject {
  const { items, errors } = batch;
  const { body } = batch.call;
  // Replies to submission and cancellation do not say yet that a batch is over.
  const isEnded = batch.isOver && call.exchange.method === 'GET';
  const status = isEnded ? endOf(batch) : stageOf(batch);
  const results = isEnded ? batch.results() : [];
  const written = linesOf(results);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: body['endpoint'] ?? '',
    model: items[0]?.body['model'] ?? null,
    errors: isEnded && errors.length > 0 ? { object: 'list', data: errors } : null,
    input_file_id: body['input_file_id'] ?? '',
    completion_window: '24h',
    status,
    output_file_id: store(batch, 'output', written.output),
    error_file_id: store(batch, 'error', written.error),
    ...datesOf(batch, status),
    request_counts: {
      total: items.length,
      completed: written.output.length,
      failed: written.error.length,
    },
    usage: usageOf(results),
    metadata: body['metadata'] ?? null,
  };
}

/** The stage of a batch that is not over, or was not polled yet. */
function stageOf(batch: Batch): string {
  if (batch.cancelledMs !== undefined) return 'cancelling';
  if (batch.isOver || batch.share < 0.1) return 'validating';
  return batch.share < 0.9 ? 'in_progress' : 'finalizing';
}

function endOf(batch: Batch): string {
  if (batch.errors.length > 0) return 'failed';
  if (batch.cancelledMs !== undefined) return 'cancelled';
  return batch.results().some(({ kind }) => kind === 'expired') ? 'expired' : 'completed';
}

function datesOf({ createdMs, cancelledMs, endedMs }: Batch, status: string): JsonObject {
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const created = seconds(createdMs);
  const ended = (name: string) => (status === name ? seconds(endedMs) : null);
  const hasBegun = status !== 'validating' && status !== 'failed';
  const isFinal = status === 'finalizing' || status === 'completed';
  return {
    created_at: created,
    in_progress_at: hasBegun ? created : null,
    expires_at: created + dayMs / 1000,
    finalizing_at: isFinal ? seconds(endedMs) : null,
    completed_at: ended('completed'),
    failed_at: status === 'failed' ? created : null,
    expired_at: ended('expired'),
    cancelling_at: cancelledMs === undefined ? null : seconds(cancelledMs),
    cancelled_at: ended('cancelled'),
  };
}

/** The lines of both files. Cancelled items are in neither. */
function linesOf(results: readonly BatchResult[]) {
  const output: JsonObject[] = [];
  const error: JsonObject[] = [];
  for (const result of results) {
    const { customId } = result.item;
    const id = `batch_req_${customId}`;
    if (result.kind === 'answered') {
      const { status, requestId, json } = result;
      const response = { status_code: status, request_id: requestId, body: json };
      const line = { id, custom_id: customId, response, error: null };
      (status === 200 ? output : error).push(line);
    }
    if (result.kind === 'expired') {
      error.push({ id, custom_id: customId, response: null, error: late });
    }
  }
  return { output, error };
}

const late: JsonObject = {
  code: 'batch_expired',
  message: 'This request could not be executed before the completion window expired.',
};

/** Stores the lines as a file. Returns its id, or `null` if there are none. */
function store(batch: Batch, kind: string, lines: readonly JsonObject[]): string | null {
  if (lines.length === 0) return null;
  const id = `file-${batch.id}-${kind}`;
  batch.call.service.files.set(id, {
    name: `${batch.id}_${kind}.jsonl`,
    purpose: 'batch_output',
    createdMs: batch.endedMs,
    text: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  return id;
}

/** The tokens of all answers, in the terms of Responses; Chat Completions names them differently. */
function usageOf(results: readonly BatchResult[]): JsonObject {
  const usages = results.map((result) =>
    result.kind === 'answered' && isObject(result.json) ? objectOf(result.json['usage']) : {},
  );
  const sum = (count: (usage: JsonObject) => number | undefined) =>
    usages.reduce((total, usage) => total + (count(usage) ?? 0), 0);
  const either = (response: string, chat: string) =>
    sum((usage) => numberAt(usage, response) ?? numberAt(usage, chat));
  const detail = (name: string, response: string, chat: string) =>
    sum((usage) => numberAt({ ...objectOf(usage[chat]), ...objectOf(usage[response]) }, name));
  const read = ['input_tokens', 'prompt_tokens'] as const;
  const written = ['output_tokens', 'completion_tokens'] as const;
  return {
    input_tokens: either(...read),
    input_tokens_details: {
      cached_tokens: detail('cached_tokens', `${read[0]}_details`, `${read[1]}_details`),
    },
    output_tokens: either(...written),
    output_tokens_details: {
      reasoning_tokens: detail(
        'reasoning_tokens',
        `${written[0]}_details`,
        `${written[1]}_details`,
      ),
    },
    total_tokens: sum((usage) => numberAt(usage, 'total_tokens')),
  };
}
