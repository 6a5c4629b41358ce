import { expect, test } from 'vitest';
import { embeddings } from '../../../src/backends/index.ts';
import { opened } from '../../testing/emulator-support.ts';
import { containing, mangling, plainCall } from '../rewards/support.ts';

const embedding = (text: string) => [text.length, 0.5, -1];

async function modelOf(options: Partial<Parameters<typeof embeddings>[0]> = {}) {
  const server = await opened({ dialect: 'vllm', embedding });
  const baseUrl = `${server.url}/v1/`;
  return { server, model: embeddings({ baseUrl, model: 'emulated', retry: false, ...options }) };
}

test('gives one vector a text, in order', async () => {
  const { server, model } = await modelOf();
  expect(await model.embed(['a', 'bbb'], plainCall())).toEqual({
    embeddings: [
      [1, 0.5, -1],
      [3, 0.5, -1],
    ],
    usage: { inputTokens: 2, outputTokens: 0 },
  });
  expect(server.requests.map(({ path, body }) => [path, body])).toEqual([
    ['/v1/embeddings', { model: 'emulated', input: ['a', 'bbb'], encoding_format: 'float' }],
  ]);
});

test('reads base64', async () => {
  const { model } = await modelOf({ encoding: 'base64' });
  const { embeddings: vectors } = await model.embed(['aa'], plainCall());
  expect(vectors).toEqual([[2, 0.5, -1]]);
});

test('asks for shorter vectors, and takes no others', async () => {
  const { model } = await modelOf({ dimensions: 2 });
  expect((await model.embed(['aa'], plainCall())).embeddings).toEqual([[2, 0.5]]);
  const { model: longer } = await modelOf({ dimensions: 4 });
  await expect(longer.embed(['aa'], plainCall())).rejects.toMatchObject({
    kind: 'malformed',
    message: containing('a vector of 3 numbers beside ones of 4'),
  });
});

test('asks for no more texts at once than it may, and for nothing where there is none', async () => {
  const { server, model } = await modelOf({ maxBatch: 2 });
  const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
  const { embeddings: vectors } = await model.embed(texts, plainCall());
  expect(vectors.map(([length]) => length)).toEqual([1, 2, 3, 4, 5]);
  expect(server.requests).toHaveLength(3);
  expect((await model.embed([], plainCall())).embeddings).toEqual([]);
  expect(server.requests).toHaveLength(3);
});

test('takes a whole address', async () => {
  const server = await opened({ dialect: 'openai', embedding });
  const model = embeddings({ baseUrl: `${server.url}/v1/embeddings`, model: 'emulated' });
  expect((await model.embed(['a'], plainCall())).embeddings).toEqual([[1, 0.5, -1]]);
});

interface Reply {
  readonly data: readonly { readonly index: number; readonly embedding: unknown }[];
}

test('puts answers in the order of the texts', async () => {
  const fetch = mangling(({ data }: Reply) => ({ data: data.toReversed() }));
  const { model } = await modelOf({ fetch });
  const { embeddings: vectors, usage } = await model.embed(['a', 'bbb'], plainCall());
  expect(vectors.map(([length]) => length)).toEqual([1, 3]);
  expect(usage).toBeUndefined();
});

test.each([
  ['a vector too few', ({ data }: Reply) => ({ data: data.slice(1) }), 'text 0'],
  ['one told twice', ({ data }: Reply) => ({ data: [data[0], data[0], data[1]] }), 'text 0'],
  [
    'NaN',
    ({ data }: Reply) => ({ data: [data[0], { index: 1, embedding: [1, null, 1] }] }),
    'text 1',
  ],
  [
    'another length',
    ({ data }: Reply) => ({ data: [data[0], { index: 1, embedding: [1] }] }),
    'a vector of 1 numbers beside ones of 3',
  ],
  [
    'NaN as base64',
    // 0x7fc00000, the least significant byte first
    ({ data }: Reply) => ({ data: [data[0], { index: 1, embedding: 'AADAfwAAwH8AAMB/' }] }),
    'text 1',
  ],
  ['no data', () => ({ object: 'list' }), 'it has no `data`'],
])('%s is an error', async (_what, change, message) => {
  const { model } = await modelOf({ fetch: mangling(change) });
  await expect(model.embed(['a', 'b'], plainCall())).rejects.toMatchObject({
    kind: 'malformed',
    message: containing(message),
  });
});
