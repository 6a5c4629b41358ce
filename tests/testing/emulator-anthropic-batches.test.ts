import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/testing/index.ts';
import { hour, start, timed } from './emulator-batches-support.ts';
import { get, post } from './emulator-support.ts';

// What batches look like: @anthropic-ai/sdk resources/messages/batches.d.ts, MessageBatch and
// MessageBatchIndividualResponse.

function anthropicAt({ url }: Emulator) {
  return new Anthropic({ apiKey: 'key', baseURL: url, maxRetries: 0 });
}

/** Items for Anthropic: `{ a_s0: {} }` asks `a_s0`. */
function requestsOf(items: Readonly<Record<string, object>>) {
  return Object.entries(items).map(([customId, rest]) => ({
    custom_id: customId,
    params: {
      ...{ model: 'emulated', max_tokens: 50 },
      messages: [{ role: 'user' as const, content: customId }],
      ...rest,
    },
  }));
}

async function resultsOf(client: Anthropic, id: string) {
  const results: Anthropic.Messages.MessageBatchIndividualResponse[] = [];
  for await (const result of await client.messages.batches.results(id)) results.push(result);
  return results;
}

test('items are answered as live requests are, and come back in another order', async () => {
  const { server } = await timed({ dialect: 'anthropic' });
  const client = anthropicAt(server);
  const created = await client.messages.batches.create({
    requests: requestsOf({ a_s0: {}, a_s3: {}, b: {} }),
  });
  expect(created).toEqual({
    id: created.id,
    type: 'message_batch',
    processing_status: 'in_progress',
    request_counts: { processing: 3, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    created_at: '2026-11-22T12:00:00.000Z',
    expires_at: '2026-11-23T12:00:00.000Z',
    ended_at: null,
    cancel_initiated_at: null,
    archived_at: null,
    results_url: null,
  });
  expect(server.account.completionsServed).toBe(0);
  expect(await client.messages.batches.retrieve(created.id)).toMatchObject({
    processing_status: 'ended',
    request_counts: { processing: 0, succeeded: 3 },
    ended_at: '2026-11-22T12:00:00.000Z',
    results_url: `${server.url}/v1/messages/batches/${created.id}/results`,
  });
  const results = await resultsOf(client, created.id);
  expect(results.map(({ custom_id: id, result }) => [id, textIn(result)])).toEqual([
    ['a_s3', 'a_s3 3'],
    ['a_s0', 'a_s0 0'],
    ['b', 'b 0'],
  ]);
  const [first] = results;
  expect(first?.result).toMatchObject({ message: { usage: { service_tier: 'batch' } } });
  const live = await client.messages.create(requestsOf({ a_s0: {} })[0]?.params as never);
  expect(live).toMatchObject({
    content: [{ text: 'a_s0 0' }],
    usage: { service_tier: 'standard' },
  });
});

function textIn(result: Anthropic.Messages.MessageBatchResult): string | undefined {
  const [block] = result.type === 'succeeded' ? result.message.content : [];
  return block?.type === 'text' ? block.text : undefined;
}

test('tokens are counted once, and results are the same at each download', async () => {
  const { server } = await timed({ dialect: 'anthropic' });
  const client = anthropicAt(server);
  const { id } = await client.messages.batches.create({
    requests: requestsOf({ one: {}, two: {} }),
  });
  await client.messages.batches.retrieve(id);
  const first = await resultsOf(client, id);
  expect(await resultsOf(client, id)).toEqual(first);
  // A turn is its text (one token) and two marks, and one mark begins the answer, which is `one 0`.
  expect(server.account).toMatchObject({ completionsServed: 2, inputTokens: 8, outputTokens: 4 });
  expect(server.account.perSample).toEqual(new Map([[0, 2]]));
});

test('an item that is refused ends as errored, and costs nothing', async () => {
  const { server } = await timed({ dialect: 'anthropic' });
  const client = anthropicAt(server);
  const { id } = await client.messages.batches.create({
    requests: requestsOf({
      good: {},
      model: { model: 'unheard-of' },
      prefill: { messages: [{ role: 'assistant', content: 'Hm' }] },
      field: { temperature: 1 },
      stream: { stream: true },
      speed: { speed: 'fast' },
      none: { max_tokens: 0 },
    }),
  });
  expect((await client.messages.batches.retrieve(id)).request_counts).toEqual({
    ...{ processing: 0, succeeded: 1, errored: 6, canceled: 0, expired: 0 },
  });
  const results = new Map(
    (await resultsOf(client, id)).map(({ custom_id: name, result }) => [name, result]),
  );
  expect(results.get('model')).toMatchObject({
    type: 'errored',
    error: { type: 'error', error: { type: 'not_found_error', message: 'model: unheard-of' } },
  });
  for (const name of ['prefill', 'field', 'stream', 'speed', 'none']) {
    expect(results.get(name)).toMatchObject({
      type: 'errored',
      error: { error: { type: 'invalid_request_error' } },
    });
  }
  expect(server.account.completionsServed).toBe(1);
});

test('a batch that takes time, and one that is cancelled halfway', async () => {
  const { server, clock } = await timed({ dialect: 'anthropic', batchMs: 4 * hour });
  const { batches } = anthropicAt(server).messages;
  const slow = await batches.create({ requests: requestsOf({ a: {}, b: {}, c: {}, d: {} }) });
  clock.ms += 2 * hour;
  expect(await batches.retrieve(slow.id)).toMatchObject({
    processing_status: 'in_progress',
    request_counts: { processing: 4 },
    results_url: null,
  });
  expect((await get(server, `/v1/messages/batches/${slow.id}/results`)).status).toBe(404);
  expect(await batches.cancel(slow.id)).toMatchObject({
    processing_status: 'canceling',
    cancel_initiated_at: '2026-11-22T14:00:00.000Z',
  });
  expect(await batches.retrieve(slow.id)).toMatchObject({
    processing_status: 'ended',
    request_counts: { succeeded: 2, canceled: 2 },
  });
  const results = await resultsOf(anthropicAt(server), slow.id);
  expect(results.map(({ custom_id: id, result }) => [id, result.type])).toEqual([
    ['b', 'succeeded'],
    ['d', 'canceled'],
    ['a', 'succeeded'],
    ['c', 'canceled'],
  ]);
  await expect(batches.cancel(slow.id)).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  const other = await batches.create({ requests: requestsOf({ a: {} }) });
  clock.ms += 4 * hour;
  expect(await batches.retrieve(other.id)).toMatchObject({
    processing_status: 'ended',
    ended_at: '2026-11-22T18:00:00.000Z',
  });
});

test('what is not answered within 24 hours expires, and so does what a fault picks', async () => {
  const { server, clock } = await timed({
    dialect: 'anthropic',
    batchMs: 48 * hour,
    faults: ({ customId }) => (customId === 'a' ? 'expires' : undefined),
  });
  const { batches } = anthropicAt(server).messages;
  const { id } = await batches.create({ requests: requestsOf({ a: {}, b: {}, c: {}, d: {} }) });
  clock.ms += 24 * hour - 1;
  expect((await batches.retrieve(id)).processing_status).toBe('in_progress');
  clock.ms += 1;
  expect(await batches.retrieve(id)).toMatchObject({
    processing_status: 'ended',
    ended_at: '2026-11-23T12:00:00.000Z',
    request_counts: { succeeded: 1, expired: 3 },
  });
  expect(server.account.completionsServed).toBe(1);
});

test('batches are listed, newest first, page by page', async () => {
  const { server } = await timed({ dialect: 'anthropic' });
  const { batches } = anthropicAt(server).messages;
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    ids.unshift((await batches.create({ requests: requestsOf({ [name]: {} }) })).id);
  }
  const [e, d, c, b, a] = ids;
  const listed: string[] = [];
  for await (const { id } of batches.list({ limit: 2 })) listed.push(id);
  expect(listed).toEqual([e, d, c, b, a]);
  const page = await batches.list({ limit: 2, after_id: d as string });
  expect(page).toMatchObject({ first_id: c, last_id: b, has_more: true });
  const last = await batches.list({ limit: 2, after_id: b as string });
  expect(last).toMatchObject({ first_id: a, last_id: a, has_more: false });
  const newer = await batches.list({ limit: 2, before_id: b as string });
  expect(newer).toMatchObject({ first_id: d, last_id: c, has_more: true });
  expect((await batches.list()).data).toHaveLength(5);
});

test('a batch is refused for its ids and its size, and then does not exist', async () => {
  const { server } = await timed({ dialect: 'anthropic' });
  const [good] = requestsOf({ good: {} });
  const refused = [
    [],
    [{ ...good, custom_id: '' }],
    [{ ...good, custom_id: 'a b' }],
    [{ ...good, custom_id: 'x'.repeat(65) }],
    [good, good],
    [{ ...good, metadata: {} }],
    Array.from({ length: 100_001 }, (_, place) => ({ custom_id: `s${place}`, params: {} })),
  ];
  const headers = { 'anthropic-version': '2023-06-01' };
  const submit = (body: object) => post(server, '/v1/messages/batches', { body, headers });
  for (const requests of refused) {
    expect(await submit({ requests })).toMatchObject({
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error' } },
    });
  }
  expect((await submit({ requests: [good], metadata: {} })).status).toBe(400);
  expect((await post(server, '/v1/messages/batches', { body: { requests: [good] } })).status).toBe(
    400,
  );
  expect(server.batches).toEqual([]);
  expect((await submit({ requests: [{ ...good, custom_id: 'x'.repeat(64) }] })).status).toBe(200);
  expect((await get(server, '/v1/messages/batches/msgbatch_none')).status).toBe(404);
});

test.each(['reset', 'reset-midway'] as const)('%s: the batch exists, unheard of', async (fault) => {
  const { server } = await timed({
    dialect: 'anthropic',
    faults: ({ path, index }) => (index === 0 && path.endsWith('batches') ? fault : undefined),
  });
  const { batches } = anthropicAt(server).messages;
  const requests = requestsOf({ a: {} });
  await expect(batches.create({ requests })).rejects.toThrow();
  const [found] = (await batches.list()).data;
  expect(server.batches).toMatchObject([
    { id: found?.id, createdMs: start, items: [{ customId: 'a', body: requests[0]?.params }] },
  ]);
});

test('an item is refused by the faults that the server has for it', async () => {
  const { server } = await timed({
    dialect: 'anthropic',
    faults: ({ customId }) => (customId === 'b' ? 'overloaded' : undefined),
  });
  const client = anthropicAt(server);
  const { id } = await client.messages.batches.create({ requests: requestsOf({ a: {}, b: {} }) });
  await client.messages.batches.retrieve(id);
  expect(await resultsOf(client, id)).toMatchObject([
    { custom_id: 'b', result: { type: 'errored', error: { error: { type: 'overloaded_error' } } } },
    { custom_id: 'a', result: { type: 'succeeded' } },
  ]);
});
