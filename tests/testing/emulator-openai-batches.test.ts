import OpenAI, { toFile } from 'openai';
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/testing/index.ts';
import { hour, start, timed } from './emulator-batches-support.ts';

// What batches look like: openai resources/batches.d.ts, Batch, and resources/files.d.ts, FileObject.

function openAiAt({ url }: Emulator) {
  return new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0 });
}

/** Lines for OpenAI, each of which asks its own id. */
function linesOf(items: Readonly<Record<string, object>>, url = '/v1/chat/completions') {
  return Object.entries(items).map(([customId, rest]) => {
    const messages = [{ role: 'user', content: customId }];
    const asks = url === '/v1/responses' ? { input: customId } : { messages };
    const body = { model: 'emulated', ...asks, ...rest };
    return { custom_id: customId, method: 'POST', url, body };
  });
}

/** Uploads lines, as they are or as JSON. */
async function uploaded(client: OpenAI, lines: readonly unknown[]) {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  const file = await toFile(Buffer.from(texts.join('\n')), 'requests.jsonl');
  return client.files.create({ file, purpose: 'batch' });
}

async function submitted(
  client: OpenAI,
  lines: readonly unknown[],
  rest: Partial<OpenAI.BatchCreateParams> = {},
) {
  const { id } = await uploaded(client, lines);
  return client.batches.create({
    ...{ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' },
    ...rest,
  });
}

/** The lines of a file. */
async function contentOf(client: OpenAI, id: string | null | undefined) {
  const text = await (await client.files.content(id ?? '')).text();
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a file goes up, its requests are answered, two files come back', async () => {
  const { server } = await timed({ dialect: 'openai' });
  const client = openAiAt(server);
  const lines = linesOf({ a_s0: {}, a_s1: {}, c: { n: 0 }, d: {} });
  const file = await uploaded(client, lines);
  expect(file).toMatchObject({
    ...{ object: 'file', purpose: 'batch', filename: 'requests.jsonl', status: 'processed' },
    bytes: Buffer.byteLength(lines.map((line) => JSON.stringify(line)).join('\n')),
    created_at: start / 1000,
  });
  expect(await client.files.retrieve(file.id)).toEqual(file);
  expect(await contentOf(client, file.id)).toEqual(lines);
  const created = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
    metadata: { key: 'mine' },
  });
  expect(created).toMatchObject({
    ...{ object: 'batch', status: 'validating', input_file_id: file.id, metadata: { key: 'mine' } },
    ...{ created_at: start / 1000, output_file_id: null, error_file_id: null },
    request_counts: { total: 4, completed: 0, failed: 0 },
  });
  const ended = await client.batches.retrieve(created.id);
  expect(ended).toMatchObject({
    ...{ status: 'completed', completed_at: start / 1000, model: 'emulated' },
    request_counts: { total: 4, completed: 3, failed: 1 },
  });
  const output = await contentOf(client, ended.output_file_id);
  expect(output.map((line) => line['custom_id'])).toEqual(['a_s1', 'd', 'a_s0']);
  expect(output[0]).toMatchObject({
    error: null,
    response: { status_code: 200, body: { choices: [{ message: { content: 'a_s1 1' } }] } },
  });
  expect(await contentOf(client, ended.error_file_id)).toMatchObject([
    {
      custom_id: 'c',
      error: null,
      response: { status_code: 400, body: { error: { param: 'n' } } },
    },
  ]);
  // `a_s0` is three tokens, `d` is one; a turn has two marks more, and one begins the answer.
  expect(ended.usage).toMatchObject({ input_tokens: 6 + 6 + 4, output_tokens: 4 + 4 + 2 });
  expect(server.account).toMatchObject({
    ...{ completionsServed: 3, inputTokens: 16, outputTokens: 10 },
  });
  expect(await contentOf(client, ended.output_file_id)).toEqual(output);
  expect(server.account.completionsServed).toBe(3);
});

test('items of Responses have ids and thoughts of their own', async () => {
  const { server } = await timed({
    dialect: 'openai',
    answer: () => ({ reasoning: 'Hm.', text: 'Yes' }),
  });
  const client = openAiAt(server);
  const lines = linesOf({ a: {}, b: {} }, '/v1/responses');
  const { id } = await submitted(client, lines, { endpoint: '/v1/responses' });
  const ended = await client.batches.retrieve(id);
  const output = await contentOf(client, ended.output_file_id);
  const ids = output.map(({ response }) => (response as { body: { id: string } }).body.id);
  expect(new Set(ids).size).toBe(2);
  expect(ended.usage).toMatchObject({
    ...{ input_tokens: 8, output_tokens: 6, total_tokens: 14 },
    output_tokens_details: { reasoning_tokens: 4 },
  });
});

test('the stages of a batch, and its end after a cancellation', async () => {
  const { server, clock } = await timed({ dialect: 'openai', batchMs: 10 * hour });
  const client = openAiAt(server);
  const { id } = await submitted(client, linesOf({ a: {}, b: {} }));
  const statuses: string[] = [];
  for (const hours of [0.5, 5, 4, 0.5]) {
    clock.ms += hours * hour;
    statuses.push((await client.batches.retrieve(id)).status);
  }
  expect(statuses).toEqual(['validating', 'in_progress', 'finalizing', 'completed']);
  await expect(client.batches.cancel(id)).rejects.toMatchObject({ status: 409 });
  const other = await submitted(client, linesOf({ a: {}, b: {} }));
  clock.ms += 5 * hour;
  expect((await client.batches.cancel(other.id)).status).toBe('cancelling');
  const cancelled = await client.batches.retrieve(other.id);
  expect(cancelled).toMatchObject({
    ...{ status: 'cancelled', cancelled_at: clock.ms / 1000, error_file_id: null },
    request_counts: { total: 2, completed: 1, failed: 0 },
  });
  expect(await contentOf(client, cancelled.output_file_id)).toMatchObject([{ custom_id: 'a' }]);
});

test('late items are in the file of errors', async () => {
  const { server } = await timed({
    dialect: 'openai',
    faults: ({ customId }) => (customId === 'b' ? 'expires' : undefined),
  });
  const client = openAiAt(server);
  const { id } = await submitted(client, linesOf({ a: {}, b: {} }));
  const ended = await client.batches.retrieve(id);
  expect(ended).toMatchObject({
    status: 'expired',
    request_counts: { total: 2, completed: 1, failed: 1 },
  });
  expect(await contentOf(client, ended.output_file_id)).toMatchObject([{ custom_id: 'a' }]);
  expect(await contentOf(client, ended.error_file_id)).toMatchObject([
    { custom_id: 'b', response: null, error: { code: 'batch_expired' } },
  ]);
});

test('batches are listed with their metadata, page by page', async () => {
  const { server } = await timed({ dialect: 'openai' });
  const client = openAiAt(server);
  for (const key of ['a', 'b', 'c']) {
    await submitted(client, linesOf({ [key]: {} }), { metadata: { key } });
  }
  const listed: unknown[] = [];
  for await (const { metadata } of client.batches.list({ limit: 2 })) listed.push(metadata);
  expect(listed).toEqual([{ key: 'c' }, { key: 'b' }, { key: 'a' }]);
  expect(await client.batches.list({ limit: 2 })).toMatchObject({ has_more: true });
});

test.each([
  ['empty_file', []],
  ['invalid_json_line', ['{"custom_id":']],
  ['duplicate_custom_id', [...linesOf({ a: {} }), ...linesOf({ a: {} })]],
  ['url_mismatch', linesOf({ a: {} }, '/v1/responses')],
  ['model_mismatch', linesOf({ a: {}, b: { model: 'other' } })],
  ['missing_required_parameter', [{ ...linesOf({ a: {} })[0], custom_id: undefined }]],
  ['invalid_request', linesOf({ a: { stream: true } })],
  ['too_many_tasks', Array.from({ length: 50_001 }, (_, place) => linesOf({ [place]: {} })[0])],
])('a batch fails as a whole: %s', async (code, lines) => {
  const { server } = await timed({ dialect: 'openai', batchMs: hour });
  const client = openAiAt(server);
  const { id, status } = await submitted(client, lines);
  expect(status).toBe('validating');
  const failed = await client.batches.retrieve(id);
  expect(failed).toMatchObject({ status: 'failed', output_file_id: null });
  expect(failed.errors?.data?.map((error) => error.code)).toEqual([code]);
  expect(server.account.completionsServed).toBe(0);
});

test('what is refused at once, so that there is no batch', async () => {
  const { server } = await timed({ dialect: 'openai', models: ['emulated', 'other'] });
  const client = openAiAt(server);
  const lines = linesOf({ a: {} });
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, place) => [`k${place}`, 'v']));
  const refused: readonly (readonly [string, object])[] = [
    ['completion_window', { completion_window: '48h' }],
    ['endpoint', { endpoint: '/v1/chat' }],
    ['metadata', { metadata: many }],
    ['metadata', { metadata: { key: 'x'.repeat(513) } }],
    ['metadata', { metadata: { ['k'.repeat(65)]: 'v' } }],
  ];
  for (const [param, rest] of refused) {
    await expect(submitted(client, lines, rest)).rejects.toMatchObject({ status: 400, param });
  }
  await expect(submitted(client, lines, { input_file_id: 'file-none' })).rejects.toMatchObject({
    status: 404,
  });
  const text = await toFile(Buffer.from('{}'), 'requests.txt');
  await expect(client.files.create({ file: text, purpose: 'batch' })).rejects.toMatchObject({
    status: 400,
  });
  const file = await toFile(Buffer.from('{}'), 'requests.jsonl');
  await expect(client.files.create({ file, purpose: 'fine-tune' })).rejects.toMatchObject({
    param: 'purpose',
  });
  expect(server.batches).toEqual([]);
  const sixteen = Object.fromEntries(Object.entries(many).slice(0, 16));
  await submitted(client, lines, { metadata: { ...sixteen, k0: 'x'.repeat(512) } });
  expect(server.batches).toHaveLength(1);
});
