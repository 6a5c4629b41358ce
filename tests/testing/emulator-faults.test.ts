import { expect, test } from 'vitest';
import type { EmulatorOptions, Fault } from '../../src/testing/index.ts';
import {
  chat,
  eventsOf,
  get,
  like,
  message,
  opened,
  post,
  some,
  textOf,
  textsOf,
  until,
} from './emulator-support.ts';

const schema = { type: 'object', properties: { a: { const: 1 } } };
const answer = () => 'One two three';

/** A server with one fault. */
function vicious(fault: Fault, rest: Partial<EmulatorOptions> = {}) {
  return opened({ dialect: 'vllm', faults: [fault], ...rest });
}

test('habits: ignores-n', async () => {
  const server = await vicious('ignores-n');
  expect(textsOf(await chat(server, { n: 3 }))).toHaveLength(1);
  expect(server.account.completionsServed).toBe(1);
});

test('habits: rejects-n', async () => {
  const server = await vicious('rejects-n', { dialect: 'openai' });
  expect((await chat(server, { n: 1 })).status).toBe(200);
  expect(await chat(server, { n: 2 })).toMatchObject({
    status: 400,
    body: { error: { code: 'unsupported_parameter', param: 'n' } },
  });
  expect(server.account).toMatchObject({ completionsServed: 1, rejected: 1 });
});

test('habits: rejects-parameter', async () => {
  const server = await vicious({ kind: 'rejects-parameter', parameter: 'logprobs' });
  expect((await chat(server)).status).toBe(200);
  expect(await chat(server, { logprobs: true })).toMatchObject({
    status: 400,
    body: {
      error: { message: "Unsupported parameter: 'logprobs' is not supported with this model." },
    },
  });
});

test.each([
  ['vllm', { top_k: 4 }],
  ['sglang', { top_k: 4 }],
  ['llama-server', { cache_prompt: true }],
  ['ollama', { seed: 1 }],
] as const)('habits: rejects-unknown-fields: %s, which knows %j', async (dialect, known) => {
  const server = await vicious('rejects-unknown-fields', { dialect });
  expect((await chat(server, known)).status).toBe(200);
  const { status, text } = await chat(server, { gibberish: 1 });
  expect(status).toBe(400);
  expect(text).toContain('gibberish');
});

test.each([
  ['openai', chat],
  ['anthropic', message],
] as const)('habits: ignores-unknown-fields: %s', async (dialect, ask) => {
  expect((await ask(await opened({ dialect }), { gibberish: 1 })).status).toBe(400);
  const server = await vicious('ignores-unknown-fields', { dialect });
  expect((await ask(server, { gibberish: 1 })).status).toBe(200);
});

test('habits: ignores-seed', async () => {
  const server = await vicious('ignores-seed');
  expect(textOf(await chat(server, { seed: 1 }))).toBe(textOf(await chat(server, { seed: 2 })));
});

test('habits: ignores-stop', async () => {
  const server = await vicious('ignores-stop', { answer });
  expect(textOf(await chat(server, { stop: ['two'] }))).toBe('One two three');
});

test('habits: ignores-max-tokens', async () => {
  const server = await vicious('ignores-max-tokens', { answer });
  expect((await chat(server, { max_tokens: 1 })).body).toMatchObject({
    choices: [{ message: { content: 'One two three' }, finish_reason: 'stop' }],
    usage: { completion_tokens: 4 },
  });
  expect(server.account.outputTokens).toBe(4);
});

test('habits: ignores-logprobs', async () => {
  const server = await vicious('ignores-logprobs');
  const { body } = await chat(server, { logprobs: true, top_logprobs: 2 });
  expect(body).toMatchObject({ choices: [{ logprobs: null }] });
});

test('habits: ignores-schema', async () => {
  const server = await vicious('ignores-schema');
  const wish = { response_format: { type: 'json_schema', json_schema: { schema } } };
  expect(textOf(await chat(server, wish))).toBe(textOf(await chat(server)));
});

test('habits: ignores-tool-choice', async () => {
  const server = await vicious('ignores-tool-choice');
  const tools = [{ type: 'function', function: { name: 'a', parameters: schema } }];
  expect((await chat(server, { tools, tool_choice: 'required' })).body).toMatchObject({
    choices: [{ finish_reason: 'stop', message: { content: like(/^0\./) } }],
  });
});

test('habits: trailing-assistant-to-user', async () => {
  const server = await vicious('trailing-assistant-to-user', { dialect: 'llama-server' });
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '0.' },
  ];
  await chat(server, { messages });
  expect(server.requests[0]?.questions[0]).toMatchObject({
    continues: false,
    messages: [messages[0], { role: 'user', content: '0.' }],
  });
});

const dialects = ['openai', 'vllm', 'sglang', 'llama-server', 'ollama', 'anthropic'] as const;
const refusal = async (fault: Fault, dialect: EmulatorOptions['dialect']) => {
  const server = await opened({ dialect, faults: [fault], contextLength: 50, now: () => 0 });
  const reply = await (dialect === 'anthropic' ? message(server) : chat(server));
  expect(server.account).toMatchObject({ rejected: 1, completionsServed: 0, inputTokens: 0 });
  return reply;
};

test.each(dialects)('refusals: context-overflow: %s', async (dialect) => {
  const { status, body } = await refusal('context-overflow', dialect);
  expect(status).toBe(400);
  const texts: Readonly<Record<EmulatorOptions['dialect'], object>> = {
    openai: { error: { code: 'context_length_exceeded' } },
    vllm: { error: { message: like(/maximum context length is 50 tokens/) } },
    sglang: { message: like(/longer than the model/) },
    'llama-server': { error: { type: 'exceed_context_size_error', n_ctx: 50 } },
    ollama: { error: { message: 'the input length exceeds the context length' } },
    anthropic: { error: { message: 'prompt is too long: 51 tokens > 50 maximum' } },
  };
  expect(body).toMatchObject(texts[dialect]);
});

test.each(dialects)('refusals: auth and unknown-model: %s', async (dialect) => {
  expect((await refusal('auth', dialect)).status).toBe(401);
  expect((await refusal('unknown-model', dialect)).status).toBe(404);
});

test('refusals: overloaded', async () => {
  expect(await refusal('overloaded', 'anthropic')).toMatchObject({
    status: 529,
    body: {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: 'req_0',
    },
  });
  expect((await refusal('overloaded', 'openai')).status).toBe(529);
});

test('refusals: server-error', async () => {
  const { status, headers, text } = await refusal('server-error', 'openai');
  expect(status).toBe(500);
  expect(headers.get('content-type')).toContain('text/html');
  expect(text).toContain('<h1>');
});

test('refusals: top-level-error', async () => {
  expect(await refusal('top-level-error', 'openai')).toMatchObject({
    status: 400,
    body: { object: 'error', message: some(String), code: 400 },
  });
});

test.each([
  [{}, null, null],
  [{ retryAfterMs: 1500 }, '2', null],
  [{ retryAfterMs: 1500, as: 'milliseconds' }, null, '1500'],
  [{ retryAfterMs: 90_000, as: 'date' }, 'Thu, 01 Jan 1970 00:01:30 GMT', null],
] as const)('refusals: rate-limited %j', async (settings, seconds, milliseconds) => {
  const limited = { kind: 'rate-limited' as const, ...settings };
  const { status, headers, body } = await refusal(limited, 'openai');
  expect(status).toBe(429);
  expect(headers.get('retry-after')).toBe(seconds);
  expect(headers.get('retry-after-ms')).toBe(milliseconds);
  expect(body).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect((await refusal(limited, 'anthropic')).body).toMatchObject({
    error: { type: 'rate_limit_error' },
  });
});

test('refusals: loading, for as many requests as it says', async () => {
  const server = await vicious({ kind: 'loading', requests: 2 }, { dialect: 'llama-server' });
  const loading = {
    status: 503,
    body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
  };
  expect(await get(server, '/health')).toMatchObject(loading);
  expect(await chat(server)).toMatchObject(loading);
  expect((await get(server, '/health')).body).toEqual({ status: 'ok' });
  expect((await chat(server)).status).toBe(200);
});

test('refusals: stall', async () => {
  const server = await vicious('stall');
  const controller = new AbortController();
  const call = chat(server, {}, { signal: controller.signal });
  await until(() => server.account.inFlight === 1);
  controller.abort();
  await expect(call).rejects.toThrow();
  await until(() => server.account.inFlight === 0);
  expect(server.account).toMatchObject({ aborted: 1, completionsServed: 0, rejected: 0 });
});

/** What is left of the reply to a call, which counts whatever becomes of it. */
const fault = async (fault: Fault, rest: object = {}) => {
  const server = await vicious(fault, { answer });
  try {
    return await chat(server, rest);
  } finally {
    expect(server.account).toMatchObject({
      completionsServed: 1,
      inputTokens: 4,
      outputTokens: 4,
      rejected: 0,
      aborted: 0,
    });
  }
};

test('faults: reset', async () => {
  await expect(fault('reset')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
});

test('faults: reset-midway', async () => {
  await expect(fault('reset-midway')).rejects.toThrow();
  await expect(fault('reset-midway', { stream: true })).rejects.toThrow();
  const server = await vicious('reset-midway', { answer });
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'emulated', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(response.status).toBe(200);
  const decoder = new TextDecoder();
  let text = '';
  await expect(async () => {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array);
  }).rejects.toThrow();
  expect(text).toMatch(/^\{"id":"chatcmpl-0"/);
  expect(text.endsWith('}')).toBe(false);
});

test('faults: stall-midway', async () => {
  const server = await vicious('stall-midway', { answer });
  const controller = new AbortController();
  const call = chat(server, {}, { signal: controller.signal });
  await until(() => server.account.completionsServed === 1);
  expect(server.account.inFlight).toBe(1);
  controller.abort();
  await expect(call).rejects.toThrow();
  await until(() => server.account.inFlight === 0);
  expect(server.account).toMatchObject({ aborted: 1, outputTokens: 4 });
});

test('faults: cut-json', async () => {
  const whole = await chat(await opened({ dialect: 'vllm', answer, now: () => 0 }));
  const server = await vicious('cut-json', { answer, now: () => 0 });
  const { status, text, body } = await chat(server);
  expect(status).toBe(200);
  expect(body).toBeUndefined();
  expect(text).toBe(whole.text.slice(0, Math.floor(whole.text.length / 2)));
  expect((await fault('cut-json', { stream: true })).text).not.toContain('[DONE]');
});

test('faults: empty', async () => {
  const { status, body } = await fault('empty');
  expect(status).toBe(200);
  expect(body).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
  const server = await vicious('empty', { dialect: 'anthropic', answer });
  expect((await message(server)).body).toMatchObject({ content: [] });
  const responses = await vicious('empty', { dialect: 'openai', answer });
  const reply = await post(responses, '/v1/responses', {
    body: { model: 'emulated', input: 'Hi' },
  });
  expect(reply.body).toMatchObject({ output: [], usage: { output_tokens: 4 } });
  const ollama = await vicious('empty', { dialect: 'ollama', answer });
  const native = await post(ollama, '/api/generate', {
    body: { model: 'emulated', prompt: 'Hi', stream: false },
  });
  expect(native.body).toMatchObject({ response: '' });
  const llama = await vicious('empty', { dialect: 'llama-server', answer });
  const completed = await post(llama, '/completion', { body: { prompt: 'Hi' } });
  expect(completed.body).toMatchObject({ content: '' });
});

test('faults: empty-body', async () => {
  const { status, headers, text } = await fault('empty-body');
  expect([status, text]).toEqual([200, '']);
  expect(headers.get('content-type')).toBe('application/json');
});

test('faults: missing-usage', async () => {
  const { body } = await fault('missing-usage');
  expect(body).toMatchObject({ choices: [{ message: { content: 'One two three' } }] });
  expect(body).not.toHaveProperty('usage');
  const options = { stream: true, stream_options: { include_usage: true } };
  for (const event of eventsOf(await fault('missing-usage', options))) {
    expect(event).not.toHaveProperty('usage');
  }
});

test.each([
  ['openai', '/v1/responses', { input: 'Hi' }],
  ['sglang', '/generate', { text: 'Hi' }],
  ['llama-server', '/completion', { prompt: 'Hi' }],
  ['ollama', '/api/generate', { prompt: 'Hi' }],
  ['ollama', '/api/generate', { prompt: 'Hi', stream: false }],
  ['openai', '/v1/responses', { input: 'Hi', stream: true }],
] as const)('faults: missing-usage: %s %s %j', async (dialect, path, body) => {
  const server = await vicious('missing-usage', { dialect, answer });
  const { status, text } = await post(server, path, { body: { model: 'emulated', ...body } });
  expect(status).toBe(200);
  expect(text).toContain('thre');
  expect(text).not.toMatch(/usage|prompt_tokens|completion_tokens|tokens_|eval_count|timings/);
});

test('faults: missing-usage: anthropic, streamed and not', async () => {
  const server = await vicious('missing-usage', { dialect: 'anthropic', answer });
  expect((await message(server)).text).not.toContain('usage');
  expect((await message(server, { stream: true })).text).not.toContain('usage');
});

test('faults: invalid-utf8', async () => {
  const { body, text } = await fault('invalid-utf8');
  // A lenient reader makes two replacement characters of the two bytes.
  expect(textOf({ body } as never)).toBe('\uFFFD\uFFFDOne two three');
  expect(text).toContain('\uFFFD');
  expect((await fault('invalid-utf8', { stream: true })).text).toContain('\uFFFD');
});

test('faults: gigantic', async () => {
  const { text, body } = await fault({ kind: 'gigantic', bytes: 3_000_000 });
  expect(text.length).toBeGreaterThan(3_000_000);
  expect(body).toMatchObject({ choices: [{ message: { content: 'One two three' } }] });
  const streamed = await fault({ kind: 'gigantic', bytes: 1000 }, { stream: true });
  expect(streamed.text.startsWith('\n'.repeat(1000))).toBe(true);
  expect(streamed.text).toContain('[DONE]');
});

test('faults: wrong-content-type', async () => {
  const { status, headers, text } = await fault('wrong-content-type');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toContain('text/html');
  expect(text).toContain('<p>');
});

test('faults: wrong-language', async () => {
  const { status, body } = await fault('wrong-language');
  expect(status).toBe(200);
  expect(body).toSatisfy(Array.isArray);
});

test('choosing faults: a list holds for requests that ask the model', async () => {
  const server = await vicious('server-error');
  expect((await get(server, '/v1/models')).status).toBe(200);
  expect((await chat(server)).status).toBe(500);
  const locked = await vicious('auth');
  expect((await get(locked, '/v1/models')).status).toBe(401);
});

test('choosing faults: a function is asked for each request', async () => {
  const asked: unknown[] = [];
  const server = await opened({
    dialect: 'vllm',
    faults: (request) => {
      asked.push(request);
      return request.index === 1 ? ['ignores-n', 'missing-usage'] : undefined;
    },
  });
  await get(server, '/v1/models');
  const second = await chat(server, { n: 2 });
  expect(textsOf(second)).toHaveLength(1);
  expect(second.body).not.toHaveProperty('usage');
  expect(textsOf(await chat(server, { n: 2 }))).toHaveLength(2);
  expect(asked).toMatchObject([
    { index: 0, path: '/v1/models', body: undefined, asksModel: false },
    { index: 1, path: '/v1/chat/completions', body: { n: 2 }, asksModel: true },
    { index: 2 },
  ]);
  const single = await opened({
    dialect: 'vllm',
    faults: () => ({ kind: 'rate-limited' }),
  });
  expect((await get(single, '/health')).status).toBe(429);
});
