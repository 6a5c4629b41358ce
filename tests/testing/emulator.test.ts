import { expect, test } from 'vitest';
import { countTokens } from '../../src/testing/emulator/tokens.ts';
import { type EmulatedQuestion, type EmulatorOptions, emulator } from '../../src/testing/index.ts';
import {
  chat,
  get,
  hi,
  message,
  opened,
  post,
  textOf,
  textsOf,
  until,
} from './emulator-support.ts';

const openAiLike = ['openai', 'vllm', 'sglang', 'llama-server', 'ollama'] as const;
const dialects: readonly EmulatorOptions['dialect'][] = [...openAiLike, 'anthropic'];

test.each([
  ['', 0],
  ['Hi', 1],
  ['0.123456', 4], // 0 . 1234 56
  ['Two words.', 4], // Two | word|s |.
  ['  x', 2], // a space, and one with x
  ['counting', 2],
  ['é😀', 2],
  ['<|user|>Hi<|end|>', 3],
  ['<|no way|>', 6], // < | no | way| |> is no mark
])('tokens of %j are %i', (text, count) => {
  expect(countTokens(text)).toBe(count);
});

test('answers are the same from every server for the same conversation and sample', async () => {
  const texts = new Set<string>();
  for (const dialect of openAiLike) {
    texts.add(textOf(await chat(await opened({ dialect }), {}, sample(3))));
  }
  const reply = await message(await opened({ dialect: 'anthropic' }), {}, sample(3));
  texts.add((reply.body as { content: [{ text: string }] }).content[0].text);
  expect(texts.size).toBe(1);
  expect([...texts][0]).toMatch(/^0\.\d{6}$/);
});

test('answers count samples from the offset of the header', async () => {
  const server = await opened({ dialect: 'vllm' });
  const together = textsOf(await chat(server, { n: 4 }));
  expect(new Set(together).size).toBe(4);
  expect(textsOf(await chat(server, { n: 2 }, sample(2)))).toEqual(together.slice(2));
});

test('answers differ by conversation', async () => {
  const server = await opened({ dialect: 'vllm' });
  const other = await chat(server, { messages: [{ role: 'user', content: 'Ho' }] });
  expect(textOf(await chat(server))).not.toBe(textOf(other));
});

test('answers depend on the seed of each choice where there is one, and on nothing at temperature 0', async () => {
  const server = await opened({ dialect: 'vllm' });
  const [first, second] = textsOf(await chat(server, { seed: 7, n: 2 }));
  expect(textOf(await chat(server, { seed: 8 }, sample(5)))).toBe(second);
  expect(first).not.toBe(second);
  const greedy = textOf(await chat(server, { temperature: 0, seed: 7 }, sample(4)));
  expect(greedy).toBe(textOf(await chat(server)));
});

test('answers go on from a partial answer that begins as the whole one does', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const whole = textOf(await chat(server));
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: whole.slice(0, 4) },
  ];
  expect(textOf(await chat(server, { messages }))).toBe(whole.slice(4));
});

test('answers are the same over a rendered prompt', async () => {
  const server = await opened({ dialect: 'llama-server' });
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi\nthere' },
  ];
  const { body } = await post(server, '/apply-template', { body: { messages } });
  const prompt = (body as { prompt: string }).prompt;
  expect(prompt).toBe('<|system|>Be brief.<|end|><|user|>Hi\nthere<|end|><|assistant|>');
  const reply = await post(server, '/completion', { body: { prompt } });
  expect(reply.body).toMatchObject({ content: textOf(await chat(server, { messages })) });
  expect(server.requests[1]?.questions[0]).toMatchObject({ messages, continues: false, prompt });
  expect(server.requests[1]?.questions[0]?.messages).toHaveLength(2);
});

test('answers may be given', async () => {
  const asked: EmulatedQuestion[] = [];
  const server = await opened({
    dialect: 'openai',
    answer: (question) => {
      asked.push(question);
      return `${question.sample}`;
    },
  });
  const body = { n: 2, stop: ['x'], max_tokens: 9, seed: 4, temperature: 0.5 };
  expect(textsOf(await chat(server, body, sample(10)))).toEqual(['10', '11']);
  const common = {
    model: 'emulated',
    messages: [{ role: 'user', content: 'Hi' }],
    continues: false,
    stop: ['x'],
    maxTokens: 9,
    temperature: 0.5,
  };
  const expected = [
    { ...common, sample: 10, seed: 4 },
    { ...common, sample: 11, seed: 5 },
  ];
  expect(asked).toEqual(expected);
  expect(server.requests[0]?.questions).toEqual(expected);
});

test('answers that throw are a 500', async () => {
  const server = await opened({
    dialect: 'vllm',
    answer: () => {
      throw new Error('no idea');
    },
  });
  const reply = await chat(server);
  expect(reply.status).toBe(500);
  expect(reply.body).toMatchObject({
    error: { message: 'The answer failed: Error: no idea', code: 500 },
  });
  expect(server.account).toMatchObject({ completionsServed: 0, outputTokens: 0, rejected: 1 });
});

test('answers are cut at the limit of tokens, and where a stop text begins', async () => {
  // One | two | thre|e | four
  const server = await opened({ dialect: 'vllm', answer: () => 'One two three four' });
  const cut = await chat(server, { max_tokens: 3 });
  expect(cut.body).toMatchObject({
    choices: [{ message: { content: 'One two thre' }, finish_reason: 'length', stop_reason: null }],
    usage: { completion_tokens: 3 },
  });
  const stopped = await chat(server, { stop: ['four', ' three'] });
  expect(stopped.body).toMatchObject({
    choices: [{ message: { content: 'One two' }, finish_reason: 'stop', stop_reason: ' three' }],
    usage: { completion_tokens: 2 },
  });
  const both = await chat(server, { stop: ['four'], max_tokens: 2 });
  expect(both.body).toMatchObject({ choices: [{ finish_reason: 'length', stop_reason: null }] });
});

test('answers have log-probabilities of the written tokens, the likeliest first', async () => {
  const server = await opened({ dialect: 'vllm', answer: () => 'One two' });
  const { body } = await chat(server, { logprobs: true, top_logprobs: 3 });
  const { choices } = body as {
    choices: [{ logprobs: { content: { token: string; top_logprobs: { logprob: number }[] }[] } }];
  };
  const told = choices[0].logprobs.content;
  expect(told.map(({ token }) => token)).toEqual(['One', ' two']);
  for (const { top_logprobs: top } of told) {
    const values = top.map(({ logprob }) => logprob);
    expect(values).toHaveLength(3);
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    expect(values.reduce((sum, value) => sum + Math.exp(value), 0)).toBeLessThanOrEqual(1);
  }
  expect((await chat(server)).body).toMatchObject({ choices: [{ logprobs: null }] });
});

test('answers may bring their own log-probabilities', async () => {
  const top = [
    { token: 'yes', logprob: -0.1 },
    { token: 'no', logprob: -2.4 },
  ];
  const server = await opened({
    dialect: 'vllm',
    answer: () => ({ text: 'yes', logprobs: [{ token: 'yes', logprob: -0.1, top }] }),
  });
  const { body } = await chat(server, { logprobs: true, top_logprobs: 2 });
  expect(body).toMatchObject({
    choices: [{ logprobs: { content: [{ token: 'yes', logprob: -0.1, top_logprobs: top }] } }],
  });
});

test('the account counts by hand', async () => {
  // The prompt: <|user|> Hi <|end|> <|assistant|>. The answer: Two | word|s|.
  const server = await opened({ dialect: 'vllm', answer: () => 'Two words.' });
  await chat(server, { n: 2 });
  await chat(server, {}, sample(1));
  await chat(server, { model: 'nobody' });
  expect(server.account).toMatchObject({
    requests: 3,
    rejected: 1,
    completionsServed: 3,
    inputTokens: 8,
    outputTokens: 12,
    reasoningTokens: 0,
    cachedTokens: 0,
    aborted: 0,
    inFlight: 0,
  });
  expect([...server.account.perSample]).toEqual([
    [0, 1],
    [1, 2],
  ]);
});

test('the account counts reasoning and tool calls as written, and tools as read', async () => {
  const server = await opened({
    dialect: 'openai',
    // Let | me | thin|k; add; { " a " : 2 }
    answer: () => ({ reasoning: 'Let me think', toolCalls: [{ name: 'add', input: { a: 2 } }] }),
  });
  const parameters = {};
  await chat(server, { tools: [{ type: 'function', function: { name: 'add', parameters } }] });
  // Read: 4 as always, two marks around the tools, and
  // `[` `{` `"` `name` `"` `:` `"` `add` `"` `,` `"` `inpu` `t` `"` `:` `{` `}` `}` `]`.
  expect(server.account).toMatchObject({
    inputTokens: 4 + 2 + 19,
    reasoningTokens: 4,
    outputTokens: 4 + 1 + 7,
  });
});

test('the account knows how many were there at once, and how many connections are open', async () => {
  const server = await opened({ dialect: 'vllm', latencyMs: 60_000 });
  const controller = new AbortController();
  const { signal } = controller;
  const calls = [1, 2, 3].map(() => chat(server, {}, { signal }));
  await until(() => server.account.inFlight === 3);
  expect(server.account.openSockets).toBe(3);
  controller.abort();
  expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(
    Array.from({ length: 3 }, () => 'rejected'),
  );
  await until(() => server.account.openSockets === 0 && server.account.inFlight === 0);
  expect(server.account).toMatchObject({ maxConcurrent: 3, requests: 3, aborted: 3 });
});

test('the account counts clients that leave, and no tokens for them', async () => {
  const server = await opened({ dialect: 'vllm', latencyMs: 60_000 });
  const controller = new AbortController();
  const call = chat(server, {}, { signal: controller.signal });
  await until(() => server.account.inFlight === 1);
  controller.abort();
  await expect(call).rejects.toThrow();
  await until(() => server.account.inFlight === 0);
  expect(server.account).toMatchObject({ aborted: 1, completionsServed: 0, inputTokens: 0 });
});

test('the account takes the latency of each request', async () => {
  const asked: number[] = [];
  const server = await opened({
    dialect: 'vllm',
    latencyMs: (index) => {
      asked.push(index);
      return 0;
    },
  });
  await chat(server);
  await chat(server);
  expect(asked).toEqual([0, 1]);
});

test('requests are kept as they arrived, without keys', async () => {
  const server = await opened({ dialect: 'openai', apiKey: 'sk-very-secret' });
  const headers = {
    authorization: 'Bearer sk-very-secret',
    'x-own': '1',
    cookie: 'sk-very-secret',
  };
  await chat(server, {}, { headers });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    index: 0,
    method: 'POST',
    path: '/v1/chat/completions',
    body: hi(),
    headers: { 'x-own': '1' },
  });
  expect(JSON.stringify(server.requests)).not.toContain('sk-very-secret');
});

test('requests whose body is not JSON are refused', async () => {
  const server = await opened({ dialect: 'vllm' });
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: '{',
  });
  expect(response.status).toBe(400);
  expect(server.account.completionsServed).toBe(0);
});

const unauthorized: Readonly<Record<EmulatorOptions['dialect'], unknown>> = {
  openai: { error: { type: 'invalid_request_error', code: 'invalid_api_key', param: null } },
  vllm: { error: 'Unauthorized' },
  sglang: { error: 'Unauthorized' },
  'llama-server': { error: { code: 401, type: 'authentication_error' } },
  ollama: { error: { message: 'unauthorized', type: 'authentication_error' } },
  anthropic: { type: 'error', error: { type: 'authentication_error' }, request_id: 'req_0' },
};

test.each(dialects)('keys are checked by %s', async (dialect) => {
  const server = await opened({ dialect, apiKey: 'right' });
  const ask = dialect === 'anthropic' ? message : chat;
  const wrong = await ask(server, {}, { headers: { authorization: 'Bearer wrong' } });
  expect(wrong.status).toBe(401);
  expect(wrong.body).toMatchObject(unauthorized[dialect] as object);
  expect((await ask(server)).status).toBe(401);
  const right = await ask(server, {}, { headers: { authorization: 'Bearer right' } });
  expect(right.status).toBe(200);
  expect(server.account).toMatchObject({ rejected: 2, completionsServed: 1 });
});

test('keys may come as `x-api-key`', async () => {
  const server = await opened({ dialect: 'anthropic', apiKey: 'right' });
  expect((await message(server, {}, { headers: { 'x-api-key': 'right' } })).status).toBe(200);
  expect((await message(server, {}, { headers: { 'x-api-key': 'left' } })).status).toBe(401);
});

test.each([
  ['vllm', '/health'],
  ['vllm', '/version'],
  ['sglang', '/health'],
  ['llama-server', '/health'],
  ['llama-server', '/v1/models'],
] as const)('keys are not needed by %s for %s', async (dialect, path) => {
  const server = await opened({ dialect, apiKey: 'right' });
  expect((await get(server, path)).status).toBe(200);
});

test('closing leaves nothing open, whatever is going on', async () => {
  const server = await emulator({
    dialect: 'vllm',
    faults: ({ index }) => (['stall', 'stall-midway'] as const)[index % 2],
  });
  const before = handles();
  const calls = Promise.allSettled(Array.from({ length: 8 }, () => chat(server)));
  await until(() => server.account.inFlight === 8 && server.account.completionsServed === 4);
  await server.close();
  // At once: whoever waits any longer does not see what was still open.
  const { openSockets, inFlight } = server.account;
  expect({ openSockets, inFlight }).toEqual({ openSockets: 0, inFlight: 0 });
  expect(handles()).toBeLessThan(before);
  expect((await calls).every(({ status }) => status === 'rejected')).toBe(true);
  await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  await server.close();
});

test.each([
  [{ dialect: 'gpt' }, /^Expected `dialect` to be 'openai' or .*, got `"gpt"`\.$/],
  [{ models: [] }, /^Expected `models` to be an array with a name, got an array of 0\.$/],
  [{ contextLength: 0 }, /^Expected `contextLength` to be an integer from 1 up, got `0`\.$/],
  [{ parallel: 0.5 }, /^Expected `parallel` to be an integer from 1 up, got `0.5`\.$/],
  [{ latencyMs: -1 }, /^Expected `latencyMs` to be a finite number from 0 up, got `-1`\.$/],
  [{ answer: 'yes' }, /^Expected `answer` to be a function, got `"yes"`\.$/],
])('options %j are refused', async (wrong, sentence) => {
  await expect(emulator({ dialect: 'vllm', ...wrong } as never)).rejects.toThrow(sentence);
});

function sample(offset: number) {
  return { headers: { 'x-espalier-sample': String(offset) } };
}

/** How many servers listen in this process. */
function handles(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
}
