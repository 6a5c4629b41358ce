import { expect, test } from 'vitest';
import { chat, eventsOf, get, like, opened, post } from './emulator-support.ts';

const answer = () => 'Two words.'; // Two | word|s|.

test('Chat Completions: answers in its shape', async () => {
  const server = await opened({ dialect: 'openai', answer, now: () => 1_700_000_000_999 });
  const { status, headers, body } = await chat(server, { n: 2 });
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json');
  const choice = (index: number) => ({
    index,
    message: { role: 'assistant', content: 'Two words.' },
    logprobs: null,
    finish_reason: 'stop',
  });
  expect(body).toEqual({
    id: 'chatcmpl-0',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'emulated',
    service_tier: 'default',
    system_fingerprint: 'fp_emulated',
    choices: [choice(0), choice(1)],
    usage: {
      prompt_tokens: 4,
      completion_tokens: 8,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  });
});

test('Chat Completions: tells its limits and the name of the request', async () => {
  const { headers } = await chat(await opened({ dialect: 'openai' }));
  expect(headers.get('x-request-id')).toBe('req_0');
  for (const kind of ['requests', 'tokens']) {
    expect(Number(headers.get(`x-ratelimit-limit-${kind}`))).toBeGreaterThan(0);
    expect(Number(headers.get(`x-ratelimit-remaining-${kind}`))).toBeGreaterThan(0);
    expect(headers.get(`x-ratelimit-reset-${kind}`)).toMatch(/^\d+m?s$/);
  }
  expect(headers.get('x-ratelimit-remaining-requests')).toBe('9999');
});

test('Chat Completions: streams, with the usage last where it is asked for', async () => {
  const server = await opened({ dialect: 'openai', answer });
  const reply = await chat(server, { stream: true, stream_options: { include_usage: true } });
  expect(reply.headers.get('content-type')).toContain('text/event-stream');
  const events = eventsOf(reply);
  const deltas = [
    { role: 'assistant' },
    ...['Two', ' word', 's', '.'].map((content) => ({ content })),
  ];
  expect(events).toHaveLength(8);
  expect(events).toMatchObject([
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 } },
    '[DONE]',
  ]);
  const plain = eventsOf(await chat(server, { stream: true }));
  expect(plain).toHaveLength(7);
});

test('Chat Completions: calls tools', async () => {
  const server = await opened({ dialect: 'openai' });
  const parameters = {
    type: 'object',
    properties: { city: { enum: ['Oslo', 'Lima'] } },
    required: ['city'],
  };
  const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
  expect((await chat(server, { tools })).body).toMatchObject({
    choices: [{ finish_reason: 'stop', message: { content: like(/^0\.\d+$/) } }],
  });
  const named = { type: 'function', function: { name: 'weather' } };
  for (const choice of ['required', named]) {
    const { body } = await chat(server, { tools, tool_choice: choice });
    expect(body).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: null,
            tool_calls: [
              {
                id: like(/^call_/),
                type: 'function',
                function: {
                  name: 'weather',
                  arguments: like(/^\{"city":"(Oslo|Lima)"\}$/),
                },
              },
            ],
          },
        },
      ],
    });
  }
  const streamed = eventsOf(await chat(server, { tools, tool_choice: 'required', stream: true }));
  expect(streamed).toMatchObject([
    {},
    { choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'weather' } }] } }] },
    { choices: [{ finish_reason: 'tool_calls' }] },
    '[DONE]',
  ]);
});

test('Chat Completions: passes a conversation with tools on to the answer', async () => {
  const seen: unknown[] = [];
  const server = await opened({
    dialect: 'openai',
    answer: ({ messages }) => {
      seen.push(...messages);
      return 'Done.';
    },
  });
  await chat(server, {
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Where?' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'here' },
    ],
  });
  expect(seen).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'find', input: { a: 1 } }] },
    { role: 'tool', content: 'here', toolCallId: 'c1' },
  ]);
});

test('Chat Completions: has a field for refusals', async () => {
  const server = await opened({
    dialect: 'openai',
    answer: () => ({ text: 'I would rather not.', finishReason: 'refusal' }),
  });
  expect((await chat(server)).body).toMatchObject({
    choices: [
      { finish_reason: 'stop', message: { content: null, refusal: 'I would rather not.' } },
    ],
  });
});

test('Chat Completions: hides its reasoning and counts it', async () => {
  const server = await opened({
    dialect: 'openai',
    answer: () => ({ reasoning: 'Hm hm', text: 'Yes' }),
  });
  const { body, text } = await chat(server, { max_completion_tokens: 2 });
  expect(text).not.toContain('Hm');
  expect(body).toMatchObject({
    choices: [{ message: { content: '' }, finish_reason: 'length' }],
    usage: { completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 2 } },
  });
});

test('Chat Completions: finds prefixes of 1024 tokens and more again, in steps of 128', async () => {
  const server = await opened({ dialect: 'openai', answer });
  // 1200 tokens of one letter each, and 4 around them.
  const content = Array.from({ length: 1200 }, () => 'x').join(' ');
  const long = { messages: [{ role: 'user', content }] };
  expect((await chat(server, long)).body).toMatchObject({
    usage: { prompt_tokens: 1203, prompt_tokens_details: { cached_tokens: 0 } },
  });
  // 9 · 128 = 1152 is the last multiple below 1203.
  expect((await chat(server, long)).body).toMatchObject({
    usage: { prompt_tokens_details: { cached_tokens: 1152 } },
  });
  expect(server.account.cachedTokens).toBe(1152);
});

const refused = (message: string, rest: object = {}) => ({
  error: { message, type: 'invalid_request_error', ...rest },
});

test.each([
  ['an unknown field', { top_k: 4 }, refused('Unrecognized request argument supplied: top_k')],
  [
    'more than four stop texts',
    { stop: ['a', 'b', 'c', 'd', 'e'] },
    { error: { code: 'array_above_max_length', param: 'stop' } },
  ],
  ['`top_logprobs` without `logprobs`', { top_logprobs: 2 }, { error: { param: 'top_logprobs' } }],
  [
    'JSON that is not spoken of',
    { response_format: { type: 'json_object' } },
    refused(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    ),
  ],
  [
    'a temperature above 2',
    { temperature: 9 },
    refused(
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 9 instead.",
      { code: 'decimal_above_max_value', param: 'temperature' },
    ),
  ],
  ['a temperature below 0', { temperature: -1 }, { error: { code: 'decimal_below_min_value' } }],
  [
    'more than 20 log-probabilities',
    { logprobs: true, top_logprobs: 50 },
    { error: { code: 'integer_above_max_value', param: 'top_logprobs' } },
  ],
  ['`n` of 0', { n: 0 }, { error: { param: 'n' } }],
  ['no messages', { messages: [] }, { error: { param: 'messages' } }],
  ['an unknown role', { messages: [{ role: 'judge', content: '' }] }, {}],
])('what it refuses: %s', async (_, rest, expected) => {
  const server = await opened({ dialect: 'openai' });
  const { status, body } = await chat(server, rest);
  expect(status).toBe(400);
  expect(body).toMatchObject(expected);
  expect(server.account).toMatchObject({ rejected: 1, completionsServed: 0, inputTokens: 0 });
});

test('what it refuses: an unknown model, and an unknown path', async () => {
  const server = await opened({ dialect: 'openai' });
  const model = await chat(server, { model: 'gpt-0' });
  expect(model.status).toBe(404);
  expect(model.body).toEqual({
    error: {
      message: 'The model `gpt-0` does not exist or you do not have access to it.',
      type: 'invalid_request_error',
      param: null,
      code: 'model_not_found',
    },
  });
  const path = await post(server, '/chat/completions', { body: {} });
  expect(path.status).toBe(404);
  expect(path.body).toMatchObject(refused('Invalid URL (POST /chat/completions)'));
});

test('what it refuses: what does not fit its context', async () => {
  // 4 tokens of prompt and 7 of answer.
  const server = await opened({ dialect: 'openai', contextLength: 10 });
  expect((await chat(server, { max_tokens: 6 })).status).toBe(200);
  const { status, body } = await chat(server, { max_tokens: 7 });
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { code: 'context_length_exceeded' } });
});

const models = ['o3', 'o4-mini', 'gpt-5', 'gpt-6-astra', 'gpt-6.1-sol', 'gpt-5.1', 'gpt-6-luna'];
const unsupported = (name: string) => ({
  message: `Unsupported parameter: '${name}' is not supported with this model.`,
  code: 'unsupported_parameter',
  param: name,
});

test.each(models)('reasoning models: %s takes no sampling parameters', async (model) => {
  const server = await opened({ dialect: 'openai', models });
  expect((await chat(server, { model, temperature: 0.2 })).body).toEqual({
    error: {
      message:
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      type: 'invalid_request_error',
      code: 'unsupported_value',
      param: 'temperature',
    },
  });
  const cases = { top_p: 0.5, logprobs: true, stop: ['x'], presence_penalty: 1, logit_bias: {} };
  for (const [name, value] of Object.entries(cases)) {
    const { status, body } = await chat(server, { model, [name]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: unsupported(name) });
  }
  expect((await chat(server, { model, max_tokens: 9 })).body).toMatchObject({
    error: {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      code: 'unsupported_parameter',
    },
  });
  const fine = { model, temperature: 1, top_p: 1, logprobs: false, max_completion_tokens: 9 };
  expect((await chat(server, fine)).status).toBe(200);
});

test.each([
  ['gpt-5.1', 200],
  ['gpt-6-luna', 200],
  ['gpt-6-astra', 400],
  ['gpt-6.1-sol', 400],
  ['o3', 400],
])('reasoning models: %s without reasoning: %i', async (model, status) => {
  const server = await opened({ dialect: 'openai', models });
  const reply = await chat(server, { model, temperature: 0.2, reasoning_effort: 'none' });
  expect(reply.status).toBe(status);
});

test.each(['gpt-4.1', 'gpt-4o', 'gpt-5-chat-latest'])(
  'reasoning models: %s is none',
  async (model) => {
    const server = await opened({ dialect: 'openai', models: [model] });
    expect((await chat(server, { model, temperature: 0.2, max_tokens: 9 })).status).toBe(200);
  },
);

test('the rest: completes text', async () => {
  const server = await opened({ dialect: 'openai', answer: () => 'x '.repeat(20) });
  const { body } = await post(server, '/v1/completions', {
    body: { model: 'emulated', prompt: 'Hi', logprobs: 2 },
  });
  // 16 unless the request says otherwise; `Hi` is one token.
  expect(body).toMatchObject({
    object: 'text_completion',
    choices: [{ index: 0, text: 'x'.padEnd(31, ' x'), finish_reason: 'length' }],
    usage: { prompt_tokens: 1, completion_tokens: 16, total_tokens: 17 },
  });
  const { choices } = body as { choices: [{ logprobs: { [name: string]: object[] } }] };
  const {
    tokens,
    text_offset: offsets,
    token_logprobs: values,
    top_logprobs: top,
  } = choices[0].logprobs;
  expect(tokens?.slice(0, 3)).toEqual(['x', ' x', ' x']);
  expect(offsets?.slice(0, 3)).toEqual([0, 1, 3]);
  expect(values).toHaveLength(16);
  expect(Object.keys(top?.[0] ?? {})).toEqual(['x', ' or1']);
});

test('the rest: lists its models', async () => {
  const server = await opened({ dialect: 'openai', models: ['a', 'b'] });
  expect((await get(server, '/v1/models')).body).toMatchObject({
    object: 'list',
    data: [
      { id: 'a', object: 'model' },
      { id: 'b', object: 'model' },
    ],
  });
  expect((await get(server, '/v1/models/b')).body).toMatchObject({ id: 'b' });
  expect((await get(server, '/v1/models/c')).status).toBe(404);
});

// Models before 5.6 refuse modes and marks of the cache.
test.each([
  ['gpt-5.4', 400],
  ['gpt-4o', 400],
  ['gpt-5.6', 200],
  ['gpt-5.10', 200],
  ['gpt-6-luna', 200],
])('%s answers marks of prefixes with %s', async (model, status) => {
  const server = await opened({ dialect: 'openai', models: [model] });
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...mark }] }];
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'Hi', ...mark }] }];
  expect((await chat(server, { model, messages })).status).toBe(status);
  const respond = (body: object) => post(server, '/v1/responses', { body: { model, ...body } });
  expect((await respond({ input })).status).toBe(status);
  const options = { prompt_cache_options: { mode: 'explicit' } };
  expect((await respond({ input: 'Hi', ...options })).status).toBe(status);
  expect((await respond({ input: 'Hi' })).status).toBe(200);
});
