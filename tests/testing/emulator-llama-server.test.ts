import { expect, test } from 'vitest';
import {
  chat,
  eventsOf,
  get,
  like,
  opened,
  post,
  some,
  textOf,
  textsOf,
  until,
} from './emulator-support.ts';

const partial = (...contents: readonly string[]) => [
  { role: 'user', content: 'Hi' },
  ...contents.map((content) => ({ role: 'assistant', content })),
];

test('chat: counts the tokens of one choice, however many there are', async () => {
  const server = await opened({ dialect: 'llama-server', answer: () => 'Two words.' });
  expect((await chat(server, { n: 3 })).body).toMatchObject({
    usage: {
      prompt_tokens: 4,
      completion_tokens: 4,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 0 },
    },
    timings: { cache_n: 0, prompt_n: 4, predicted_n: 4 },
  });
  expect(server.account).toMatchObject({ completionsServed: 3, outputTokens: 12 });
  expect((await chat(server)).body).toMatchObject({
    usage: { prompt_tokens_details: { cached_tokens: 3 } },
    timings: { cache_n: 3, prompt_n: 1 },
  });
});

test('chat: samples choice i with seed + i', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const [first, second] = textsOf(await chat(server, { seed: 10, n: 2 }));
  expect(server.requests[0]?.questions.map(({ seed }) => seed)).toEqual([10, 11]);
  // So siblings whose seeds differ by one are duplicates.
  expect(textsOf(await chat(server, { seed: 11, n: 2 }))[0]).toBe(second);
  expect(first).not.toBe(second);
  const randomly = await chat(server, { seed: -1 });
  expect(textOf(randomly)).toBe(textOf(await chat(server)));
});

test('chat: has no more choices than slots', async () => {
  const server = await opened({ dialect: 'llama-server', parallel: 2 });
  expect((await chat(server, { n: 2 })).status).toBe(200);
  const { status, body } = await chat(server, { n: 3 });
  expect(status).toBe(400);
  expect(body).toEqual({
    error: {
      code: 400,
      message: "Field 'n': Value must be between 1 <= value <= 2, but got 3",
      type: 'invalid_request_error',
    },
  });
});

test('chat: goes on from a partial answer by itself, from one', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const whole = textOf(await chat(server));
  const messages = partial(whole.slice(0, 3));
  expect(textOf(await chat(server, { messages }))).toBe(whole.slice(3));
  const two = await chat(server, { messages: partial('0', '.') });
  expect(two.status).toBe(400);
  expect(two.body).toMatchObject({
    error: { message: 'Cannot have 2 or more assistant messages at the end of the list.' },
  });
});

test.each([
  [{ top_logprobs: 2 }, 'top_logprobs requires logprobs to be set to true'],
  [{ json_schema: {}, grammar: 'root ::= "a"' }, 'Cannot use both json_schema and grammar'],
  [
    { tools: [{ type: 'function', function: { name: 'a' } }], grammar: 'root ::= "a"' },
    'Cannot use custom grammar constraints with tools.',
  ],
])('chat: refuses %j', async (rest, message) => {
  const { status, body } = await chat(await opened({ dialect: 'llama-server' }), rest);
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { code: 400, message } });
});

test('chat: says by how much a request is too long', async () => {
  const server = await opened({ dialect: 'llama-server', contextLength: 4 });
  const { status, body } = await chat(server);
  expect(status).toBe(400);
  expect(body).toEqual({
    error: {
      code: 400,
      message:
        'request (4 tokens) exceeds the available context size (4 tokens), try increasing it',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 4,
      n_ctx: 4,
    },
  });
});

test('chat: streams a first piece without text, and its usage last', async () => {
  const server = await opened({ dialect: 'llama-server', answer: () => 'Yes' });
  const options = { stream: true, stream_options: { include_usage: true } };
  expect(eventsOf(await chat(server, options))).toMatchObject([
    { choices: [{ delta: { role: 'assistant', content: null } }] },
    { choices: [{ delta: { content: 'Yes' } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { completion_tokens: 1 }, timings: { predicted_n: 1 } },
    '[DONE]',
  ]);
});

test('chat: serves paths without /v1, and any model', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const body = { messages: partial(), model: 'whatever' };
  expect((await post(server, '/chat/completions', { body })).status).toBe(200);
  expect(await get(server, '/nowhere')).toMatchObject({
    status: 404,
    body: { error: { code: 404, type: 'not_found_error' } },
  });
});

test('the rest: tells of itself', async () => {
  const server = await opened({ dialect: 'llama-server', parallel: 3, contextLength: 77 });
  expect((await get(server, '/health')).body).toEqual({ status: 'ok' });
  expect((await get(server, '/props')).body).toMatchObject({
    total_slots: 3,
    default_generation_settings: { n_ctx: 77 },
    chat_template: like(/add_generation_prompt/),
    is_sleeping: false,
  });
  expect((await get(server, '/v1/models')).body).toMatchObject({
    data: [{ meta: { n_ctx: 77 } }],
  });
});

test('the rest: shows which slots are busy', async () => {
  const server = await opened({
    dialect: 'llama-server',
    parallel: 1,
    faults: ({ asksModel }) => (asksModel ? 'stall' : undefined),
  });
  const idle = await get(server, '/slots?fail_on_no_slot=1');
  expect(idle.body).toMatchObject([{ id: 0, is_processing: false }]);
  const controller = new AbortController();
  const call = chat(server, {}, { signal: controller.signal });
  await until(() => server.account.inFlight === 1);
  expect((await get(server, '/slots')).body).toMatchObject([{ is_processing: true }]);
  expect((await get(server, '/slots?fail_on_no_slot=1')).status).toBe(503);
  controller.abort();
  await expect(call).rejects.toThrow();
});

test('the rest: goes on from the turn that a rendered prompt leaves open', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const messages = partial('0.');
  const { body } = await post(server, '/apply-template', { body: { messages } });
  expect(body).toEqual({ prompt: '<|user|>Hi<|end|><|assistant|>0.' });
  await post(server, '/completion', { body });
  expect(server.requests[1]?.questions[0]).toMatchObject({
    continues: true,
    messages,
    prompt: '<|user|>Hi<|end|><|assistant|>0.',
  });
});

test('the rest: completes natively', async () => {
  const server = await opened({ dialect: 'llama-server', answer: () => 'One two' });
  const ask = async (rest: object) =>
    (await post(server, '/completion', { body: { prompt: 'Hi', ...rest } })).body;
  expect(await ask({})).toMatchObject({
    content: 'One two',
    stop: true,
    stop_type: 'eos',
    stopping_word: '',
    tokens_predicted: 2,
    tokens_evaluated: 1,
    tokens_cached: 0,
    truncated: false,
    timings: { cache_n: 0 },
  });
  expect(await ask({ stop: [' two'] })).toMatchObject({
    content: 'One',
    stop_type: 'word',
    stopping_word: ' two',
  });
  const cut = await ask({ n_predict: 1, n_probs: 2, return_tokens: true });
  expect(cut).toMatchObject({
    content: 'One',
    stop_type: 'limit',
    tokens: [some(Number)],
    completion_probabilities: [{ token: 'One', top_logprobs: [{ token: 'One' }, {}] }],
  });
  expect(await ask({ n_predict: -1 })).toMatchObject({ stop_type: 'eos' });
  const reply = await post(server, '/completion', { body: { prompt: 'Hi', stream: true } });
  expect(eventsOf(reply)).toMatchObject([
    { content: 'One', stop: false },
    { content: ' two', stop: false },
    { content: '', stop: true, stop_type: 'eos' },
  ]);
});

test('the rest: keeps to a schema natively', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const schema = { type: 'object', properties: { a: { const: 1 } } };
  const body = { prompt: 'Hi', json_schema: schema };
  expect((await post(server, '/completion', { body })).body).toMatchObject({
    content: '{"a":1}',
  });
});

test('the rest: answers log-probabilities of text in the form of chats', async () => {
  const server = await opened({ dialect: 'llama-server', answer: () => 'Yes' });
  const { body } = await post(server, '/v1/completions', { body: { prompt: 'Hi', logprobs: 2 } });
  expect(body).toMatchObject({
    choices: [{ text: 'Yes', logprobs: { content: [{ token: 'Yes', top_logprobs: [{}, {}] }] } }],
  });
});

test('the rest: turns text into tokens and back', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const { body } = await post(server, '/tokenize', { body: { content: 'Hi Hi you' } });
  const { tokens } = body as { tokens: number[] };
  expect(new Set(tokens).size).toBe(3);
  expect((await post(server, '/detokenize', { body: { tokens } })).body).toEqual({
    content: 'Hi Hi you',
  });
  const prompted = await post(server, '/completion', { body: { prompt: tokens } });
  expect(prompted.status).toBe(200);
  expect(server.requests[2]?.questions[0]?.prompt).toBe('Hi Hi you');
});
