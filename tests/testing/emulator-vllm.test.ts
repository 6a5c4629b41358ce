import { expect, test } from 'vitest';
import { chat, get, hi, like, opened, post, some, textOf } from './emulator-support.ts';

const partial = (content: string) => [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content },
];

test('chat: has its own fields in the reply', async () => {
  const server = await opened({ dialect: 'vllm', answer: () => 'Two words.' });
  expect((await chat(server, { n: 2 })).body).toMatchObject({
    choices: [
      { index: 0, stop_reason: null, token_ids: null, finish_reason: 'stop' },
      { index: 1 },
    ],
    usage: { prompt_tokens: 4, completion_tokens: 8, total_tokens: 12 },
  });
});

test('chat: tells its reasoning apart', async () => {
  const server = await opened({
    dialect: 'vllm',
    answer: () => ({ reasoning: 'Hm', text: 'Yes' }),
  });
  expect((await chat(server)).body).toMatchObject({
    choices: [{ message: { content: 'Yes', reasoning: 'Hm' } }],
    usage: { completion_tokens: 2 },
  });
  const { text } = await chat(server, { stream: true });
  expect(text.indexOf('"reasoning":"Hm"')).toBeGreaterThan(0);
  expect(text.indexOf('"content":"Yes"')).toBeGreaterThan(text.indexOf('"reasoning":"Hm"'));
});

test('chat: goes on from a partial answer only where it is told so in both ways', async () => {
  const server = await opened({ dialect: 'vllm' });
  const whole = textOf(await chat(server));
  const messages = partial(whole.slice(0, 4));
  const own = { continue_final_message: true, add_generation_prompt: false };
  expect(textOf(await chat(server, { messages, ...own }))).toBe(whole.slice(4));
  expect(textOf(await chat(server, { messages }))).not.toBe(whole.slice(4));
  expect(server.requests.map(({ questions }) => questions[0]?.continues)).toEqual([
    false,
    true,
    false,
  ]);
});

test('chat: refuses what contradicts itself', async () => {
  const server = await opened({ dialect: 'vllm' });
  const messages = partial('0.');
  const both = { messages, continue_final_message: true, add_generation_prompt: true };
  const { status, body } = await chat(server, both);
  expect(status).toBe(400);
  expect(body).toEqual({
    error: {
      message: 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  });
  // The other one is true unless the request says otherwise.
  expect((await chat(server, { messages, continue_final_message: true })).status).toBe(400);
  for (const wrong of [
    { tools: [] },
    { n: 2, temperature: 0 },
    { temperature: -1 },
    { top_logprobs: 2 },
    { logprobs: true, top_logprobs: 21 },
  ]) {
    expect((await chat(server, wrong)).status).toBe(400);
  }
});

test('chat: takes no notice of fields it does not know', async () => {
  const server = await opened({ dialect: 'vllm' });
  const reply = await chat(server, { guided_json: { type: 'object' }, gibberish: 1 });
  expect(reply.status).toBe(200);
  expect(textOf(reply)).toBe(textOf(await chat(server)));
});

test('chat: keeps to structured outputs', async () => {
  const server = await opened({ dialect: 'vllm' });
  const schema = { type: 'object', properties: { a: { const: 1 } } };
  const named = { type: 'json_schema', json_schema: { name: 'a', schema } };
  for (const wish of [
    { structured_outputs: { json: schema } },
    { structured_outputs: { json: JSON.stringify(schema) } },
    { response_format: named },
  ]) {
    expect(textOf(await chat(server, wish))).toBe('{"a":1}');
  }
  const choice = ['yes', 'no'];
  expect(choice).toContain(textOf(await chat(server, { structured_outputs: { choice } })));
});

test('chat: keeps the stop text where it is told to', async () => {
  const server = await opened({ dialect: 'vllm', answer: () => 'One two three' });
  const kept = { stop: ['two'], include_stop_str_in_output: true };
  expect((await chat(server, kept)).body).toMatchObject({
    choices: [{ message: { content: 'One two' }, stop_reason: 'two' }],
  });
});

test('chat: finds prefixes again, in blocks of 16 tokens', async () => {
  const server = await opened({ dialect: 'vllm', answer: () => 'Yes' });
  // A mark, 38 tokens, a mark: 40 tokens, so two whole blocks.
  const first = { role: 'user', content: Array.from({ length: 38 }, () => 'x').join(' ') };
  const ask = async (...rest: readonly object[]) => {
    const { body } = await chat(server, { messages: [first, ...rest] });
    const { usage } = body as { usage: { prompt_tokens_details: { cached_tokens: number } } };
    return usage.prompt_tokens_details.cached_tokens;
  };
  expect(await ask()).toBe(0);
  expect(await ask()).toBe(32);
  expect(await ask({ role: 'user', content: 'more' })).toBe(32);
  const other = { messages: [{ role: 'user', content: `y ${first.content}` }] };
  await chat(server, other);
  expect(server.account.cachedTokens).toBe(64);
});

test('chat: says what does not fit', async () => {
  const server = await opened({ dialect: 'vllm', contextLength: 10 });
  const { status, body } = await chat(server, { max_tokens: 7 });
  expect(status).toBe(400);
  expect(body).toMatchObject({
    error: {
      message: like(
        /^This model's maximum context length is 10 tokens\. However, you requested 7 output tokens and your prompt contains at least 4 input tokens/,
      ),
      type: 'BadRequestError',
      code: 400,
    },
  });
  // Without a limit it writes until the context is full.
  const long = await opened({ dialect: 'vllm', contextLength: 6, answer: () => 'a b c d' });
  expect((await chat(long)).body).toMatchObject({
    choices: [{ message: { content: 'a b' }, finish_reason: 'length' }],
  });
});

test('chat: knows its models, and its paths', async () => {
  const server = await opened({ dialect: 'vllm', models: ['a/b'], contextLength: 99 });
  const unknown = await chat(server);
  expect(unknown.status).toBe(404);
  expect(unknown.body).toMatchObject({
    error: { message: 'The model `emulated` does not exist.', type: 'NotFoundError', code: 404 },
  });
  expect((await get(server, '/v1/models')).body).toMatchObject({
    data: [{ id: 'a/b', max_model_len: 99 }],
  });
  expect(await get(server, '/nowhere')).toMatchObject({
    status: 404,
    body: { detail: 'Not Found' },
  });
  expect((await get(server, '/health')).status).toBe(200);
  expect((await get(server, '/version')).body).toEqual({ version: some(String) });
});

test('prompts: renders a chat to tokens that complete as the chat does', async () => {
  const server = await opened({ dialect: 'vllm', contextLength: 99 });
  const { body } = await post(server, '/tokenize', {
    body: { ...hi(), return_token_strs: true },
  });
  const told = body as { count: number; tokens: number[]; token_strs: string[] };
  expect(told).toMatchObject({
    count: 4,
    max_model_len: 99,
    token_strs: ['<|user|>', 'Hi', '<|end|>', '<|assistant|>'],
  });
  const completed = await post(server, '/v1/completions', {
    body: { model: 'emulated', prompt: told.tokens },
  });
  expect(completed.body).toMatchObject({
    choices: [{ text: textOf(await chat(server)) }],
    usage: { prompt_tokens: 4 },
  });
  const back = await post(server, '/detokenize', { body: { tokens: told.tokens } });
  expect(back.body).toEqual({ prompt: '<|user|>Hi<|end|><|assistant|>' });
  const bare = await post(server, '/tokenize', {
    body: { ...hi(), add_generation_prompt: false },
  });
  expect(bare.body).toMatchObject({ count: 3 });
});

test('prompts: answers several prompts, and several samples of each', async () => {
  const server = await opened({ dialect: 'vllm', answer: ({ sample }) => `${sample}` });
  const { body } = await post(server, '/v1/completions', {
    body: { model: 'emulated', prompt: ['a', 'b'], n: 2 },
  });
  const text = (index: number) => ({ index, text: `${index}` });
  expect(body).toMatchObject({
    choices: [text(0), text(1), text(2), text(3)],
    usage: { prompt_tokens: 2, completion_tokens: 4 },
  });
});

const reward = ({ text, query }: { text: string; query?: string }) =>
  query === undefined ? text.length / 100 : query.length / 10;

test('scores: gives a row for each step to `/pooling`', async () => {
  const server = await opened({ dialect: 'vllm', reward });
  const messages = [{ role: 'assistant', content: 'ab<extra_0>cde<extra_0>' }];
  const { body } = await post(server, '/pooling', { body: { model: 'emulated', messages } });
  // `ab` has 2 characters, `ab<extra_0>cde` has 14.
  expect(body).toMatchObject({
    id: like(/^pool-/),
    object: 'list',
    model: 'emulated',
    data: [
      {
        index: 0,
        object: 'pooling',
        data: [
          [0.98, 0.02],
          [0.86, 0.14],
        ],
      },
    ],
    usage: { prompt_tokens: some(Number), completion_tokens: 0 },
  });
  const plain = await post(server, '/pooling', { body: { input: ['ab', 'abcd'] } });
  expect(plain.body).toMatchObject({ data: [{ data: [0.02] }, { data: [0.04] }] });
});

test('scores: classifies, compares, ranks, and scores items', async () => {
  const server = await opened({ dialect: 'vllm', reward });
  const classified = await post(server, '/classify', { body: { input: 'ab' } });
  expect(classified.body).toMatchObject({
    data: [{ index: 0, label: 'LABEL_0', probs: [0.02], num_classes: 1 }],
    usage: { prompt_tokens: 1 },
  });
  const pair = await post(server, '/score', { body: { text_1: 'abc', text_2: ['d', 'e'] } });
  expect(pair.body).toMatchObject({
    data: [
      { index: 0, object: 'score', score: 0.3 },
      { index: 1, score: 0.3 },
    ],
  });
  const generative = await post(server, '/generative_scoring', {
    body: { query: 'ab', items: ['c'], label_token_ids: [1, 2] },
  });
  expect(generative.body).toMatchObject({ data: [{ index: 0, object: 'score', score: 0.2 }] });
  expect(server.account).toMatchObject({ completionsServed: 0, outputTokens: 0, inputTokens: 5 });
  const byText = await opened({ dialect: 'vllm', reward: ({ text }) => text.length / 10 });
  const ranked = await post(byText, '/rerank', {
    body: { query: 'q', documents: ['a', 'abc', 'ab'] },
  });
  expect(ranked.body).toMatchObject({
    results: [
      { index: 1, relevance_score: 0.3, document: { text: 'abc' } },
      { index: 2, relevance_score: 0.2 },
      { index: 0, relevance_score: 0.1 },
    ],
  });
});

test('scores: hashes its scores into [0, 1]', async () => {
  const server = await opened({ dialect: 'vllm' });
  const input = Array.from({ length: 50 }, (_, place) => `step ${place}`);
  const { body } = await post(server, '/classify', { body: { input } });
  const scores = (body as { data: { probs: [number] }[] }).data.map(({ probs }) => probs[0]);
  expect(new Set(scores).size).toBe(50);
  for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
  expect((await post(server, '/classify', { body: { input } })).body).toMatchObject({
    data: scores.map((score) => ({ probs: [score] })),
  });
});
