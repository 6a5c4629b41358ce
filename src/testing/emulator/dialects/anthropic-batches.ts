import { batchOf, batchPage, dayMs, repeated, submit } from '../batches.ts';
import type { Batch, BatchItem, BatchResult, Call, Reply, Routes } from '../dialect.ts';
import { type JsonObject, listOf, objectOf, textAt } from '../fields.ts';
import { badRequest, Rejection } from '../rejection.ts';
import { jsonReply } from '../reply.ts';

/** The maximum number of items in a batch. */
const mostItems = 100_000;

/** The maximum size of a batch, in bytes. */
const mostBytes = 256 * 1024 * 1024;

const path = '/v1/messages/batches';

/** The endpoints for existing Message Batches. */
export const batchRoutes: Routes = {
  [`GET ${path}`]: (call) => {
    const { page, hasMore } = batchPage(call, {
      after: 'after_id',
      before: 'before_id',
      most: 1000,
    });
    return jsonReply({
      data: page.map((batch) => batchObject(batch, call)),
      has_more: hasMore,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    });
  },
  [`GET ${path}/*`]: (call) => {
    const { batch, rest } = named(call);
    return rest === 'results' ? resultsOf(batch) : jsonReply(batchObject(batch, call));
  },
  [`POST ${path}/*`]: (call) => {
    const { batch } = named(call);
    if (batch.isOver) throw badRequest(`Batch ${batch.id} cannot be canceled: it has ended.`);
    batch.cancelledMs = call.service.settings.now();
    return jsonReply(batchObject(batch, call));
  },
};

/** `POST /v1/messages/batches`. */
export function createBatch(call: Call): Reply {
  const { body, exchange } = call;
  if (exchange.headers['anthropic-version'] === undefined) {
    throw badRequest('anthropic-version: header is required');
  }
  if (Number(exchange.headers['content-length'] ?? 0) > mostBytes) {
    throw new Rejection({ status: 413, message: 'Request exceeds the maximum size' });
  }
  const batch = submit(call, '/v1/messages', { items: itemsOf(body), errors: [] });
  return jsonReply(batchObject(batch, call));
}

function itemsOf(body: JsonObject): readonly BatchItem[] {
  const requests = listOf(body['requests']).map(objectOf);
  if (requests.length === 0) throw badRequest('requests: at least one request is required');
  if (requests.length > mostItems) {
    throw badRequest(`requests: List should have at most ${mostItems} items after validation`);
  }
  const items = requests.map((request, place) => {
    const customId = textAt(request, 'custom_id') ?? '';
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(customId)) {
      throw badRequest(
        `requests.${place}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`,
      );
    }
    const unknown = Object.keys(request).find((name) => !['custom_id', 'params'].includes(name));
    if (unknown !== undefined) {
      throw badRequest(`requests.${place}.${unknown}: Extra inputs are not permitted`);
    }
    return { customId, body: objectOf(request['params']) };
  });
  const twice = repeated(items.map(({ customId }) => customId));
  if (twice !== undefined) throw badRequest(`requests: custom_id must be unique: '${twice}'`);
  return items;
}

/** Refuses fields that are allowed in a live request but not in an item. */
export function checkItem({ body, exchange }: Call): void {
  if (exchange.customId === undefined) return;
  for (const name of ['stream', 'speed']) {
    if (body[name] !== undefined && body[name] !== false) {
      throw badRequest(`${name}: not supported for batch requests`);
    }
  }
  if (body['max_tokens'] === 0) {
    throw badRequest('max_tokens: 0 is not supported for batch requests');
  }
}

function named(call: Call): { readonly batch: Batch; readonly rest: string } {
  const [id = '', rest = ''] = call.exchange.path.slice(path.length + 1).split('/');
  const known = call.exchange.method === 'POST' ? ['cancel'] : ['', 'results'];
  if (!known.includes(rest)) throw new Rejection({ status: 404, message: 'Not Found' });
  return { batch: batchOf(call, id, { status: 404, message: `Batch ${id} not found` }), rest };
}

function resultsOf(batch: Batch): Reply {
  if (!batch.isOver) {
    throw new Rejection({ status: 404, message: `Batch ${batch.id} has no results yet.` });
  }
  const lines = batch.results().map((result) => {
    const line = { custom_id: result.item.customId, result: resultOf(result) };
    return `${JSON.stringify(line)}\n`;
  });
  return { status: 200, body: { text: lines.join(''), type: 'application/x-jsonl' } };
}

function resultOf(result: BatchResult): JsonObject {
  if (result.kind !== 'answered') return { type: result.kind };
  const { status, json } = result;
  return status === 200 ? { type: 'succeeded', message: json } : { type: 'errored', error: json };
}

function batchObject(batch: Batch, call: Call): JsonObject {
  const { id, createdMs, cancelledMs, endedMs } = batch;
  // Replies to submission and cancellation do not say yet that a batch is over.
  const isEnded = batch.isOver && call.exchange.method === 'GET';
  const running = cancelledMs === undefined ? 'in_progress' : 'canceling';
  return {
    id,
    type: 'message_batch',
    processing_status: isEnded ? 'ended' : running,
    request_counts: countsOf(batch, isEnded),
    created_at: dateOf(createdMs),
    expires_at: dateOf(createdMs + dayMs),
    ended_at: isEnded ? dateOf(endedMs) : null,
    cancel_initiated_at: cancelledMs === undefined ? null : dateOf(cancelledMs),
    archived_at: null,
    results_url: isEnded ? `http://${call.exchange.headers.host}${path}/${id}/results` : null,
  };
}

/** Until a batch ends, all of its items count as being processed. */
function countsOf(batch: Batch, isEnded: boolean): JsonObject {
  const types = isEnded ? batch.results().map((result) => resultOf(result)['type']) : [];
  const count = (type: string) => types.filter((other) => other === type).length;
  return {
    processing: isEnded ? 0 : batch.items.length,
    succeeded: count('succeeded'),
    errored: count('errored'),
    canceled: count('canceled'),
    expired: count('expired'),
  };
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString();
}
