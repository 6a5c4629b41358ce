import { expect, test } from 'vitest';
import { eventsOf, get, hi, like, message, opened, post, some, until } from './emulator-support.ts';

const kept = { type: 'ephemeral' };
const block = (text: string, rest: object = {}) => ({ type: 'text', text, ...rest });

test('messages: answers in its shape', async () => {
  const server = await opened({
    dialect: 'anthropic',
    answer: () => ({ reasoning: 'Hm', text: 'Two words.' }),
    now: () => 0,
  });
  const { status, headers, body } = await message(server);
  expect(status).toBe(200);
  expect(headers.get('request-id')).toBe('req_0');
  expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('3999');
  for (const kind of ['requests', 'tokens', 'input-tokens', 'output-tokens']) {
    expect(Number(headers.get(`anthropic-ratelimit-${kind}-limit`))).toBeGreaterThan(0);
    expect(headers.get(`anthropic-ratelimit-${kind}-reset`)).toBe('1970-01-01T00:00:01.000Z');
  }
  expect(body).toEqual({
    id: 'msg_0',
    type: 'message',
    role: 'assistant',
    model: 'emulated',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: some(String) },
      { type: 'text', text: 'Two words.', citations: null },
    ],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: {
      input_tokens: 4,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 1 },
      service_tier: 'standard',
    },
  });
});

test.each([
  ['stop', {}, 'end_turn', null],
  ['stop', { stop_sequences: [' two'] }, 'stop_sequence', ' two'],
  ['stop', { max_tokens: 1 }, 'max_tokens', null],
  ['refusal', {}, 'refusal', null],
  ['pause', {}, 'pause_turn', null],
  ['context', {}, 'model_context_window_exceeded', null],
] as const)('messages: ends by %s with %j: %s', async (...ending) => {
  const [finish, rest, reason, sequence] = ending;
  const server = await opened({
    dialect: 'anthropic',
    answer: () => ({ text: 'One two', ...(finish !== 'stop' && { finishReason: finish }) }),
  });
  expect((await message(server, rest)).body).toMatchObject({
    stop_reason: reason,
    stop_sequence: sequence,
  });
});

test('messages: ends when its context is full, and refuses a prompt that fills it', async () => {
  const server = await opened({ dialect: 'anthropic', contextLength: 6, answer: () => 'a b c' });
  expect((await message(server)).body).toMatchObject({
    content: [{ text: 'a b' }],
    stop_reason: 'model_context_window_exceeded',
  });
  const long = [{ role: 'user', content: 'a b c d' }];
  expect(await message(server, { messages: long })).toMatchObject({
    status: 400,
    body: { error: { message: 'prompt is too long: 7 tokens > 6 maximum' } },
  });
});

test('messages: calls tools, and reads their results', async () => {
  const server = await opened({
    dialect: 'anthropic',
    answer: () => ({ text: 'Well.', toolCalls: [{ name: 'add', input: { a: 2 } }] }),
  });
  const tools = [{ name: 'add', description: 'Adds.', input_schema: { type: 'object' } }];
  expect((await message(server, { tools })).body).toMatchObject({
    content: [
      { type: 'text', text: 'Well.' },
      { type: 'tool_use', id: like(/^toolu_/), name: 'add', input: { a: 2 } },
    ],
    stop_reason: 'tool_use',
  });
  await message(server, {
    system: [block('Be '), block('brief.')],
    tools,
    tool_choice: { type: 'auto' },
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [block('Well.'), { type: 'tool_use', id: 't1', name: 'add', input: { a: 2 } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content: '4' }, block('And?')],
      },
    ],
  });
  expect(server.requests[1]?.questions[0]).toMatchObject({
    tools: [{ name: 'add', description: 'Adds.', input: { type: 'object' } }],
    toolChoice: 'auto',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Well.',
        toolCalls: [{ id: 't1', name: 'add', input: { a: 2 } }],
      },
      { role: 'tool', content: '4', toolCallId: 't1' },
      { role: 'user', content: 'And?' },
    ],
  });
});

test('messages: keeps to a schema', async () => {
  const server = await opened({ dialect: 'anthropic' });
  const schema = { type: 'object', properties: { a: { const: 1 } } };
  const format = { type: 'json_schema', schema };
  expect((await message(server, { output_config: { format } })).body).toMatchObject({
    content: [{ text: '{"a":1}' }],
  });
});

test('messages: streams', async () => {
  const server = await opened({
    dialect: 'anthropic',
    answer: () => ({
      reasoning: 'Hm',
      text: 'Two words',
      toolCalls: [{ name: 'add', input: {} }],
    }),
  });
  const reply = await message(server, { stream: true });
  expect(reply.text).toMatch(/^event: message_start\ndata: /);
  const delta = (index: number, rest: object) => ({
    type: 'content_block_delta',
    index,
    delta: rest,
  });
  const start = (index: number, content: object) => ({
    type: 'content_block_start',
    index,
    content_block: content,
  });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  expect(eventsOf(reply)).toMatchObject([
    { type: 'message_start', message: { content: [], usage: { input_tokens: 4 } } },
    { type: 'ping' },
    start(0, { type: 'thinking', thinking: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
    delta(0, { type: 'signature_delta' }),
    stop(0),
    start(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'Two' }),
    delta(1, { type: 'text_delta', text: ' word' }),
    delta(1, { type: 'text_delta', text: 's' }),
    stop(1),
    start(2, { type: 'tool_use', name: 'add', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{' }),
    delta(2, { type: 'input_json_delta', partial_json: '}' }),
    stop(2),
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      // Hm, Two | word|s, add {}
      usage: { output_tokens: 7 },
    },
    { type: 'message_stop' },
  ]);
});

const partial = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: '0.' },
];
const tools = [{ name: 'a', input_schema: {} }];

test.each([
  ['no limit', { max_tokens: undefined }, 'max_tokens: Field required'],
  ['temperature', { temperature: 1 }, 'temperature: Extra inputs are not permitted'],
  ['top_p', { top_p: 1 }, 'top_p: Extra inputs are not permitted'],
  ['top_k', { top_k: 1 }, 'top_k: Extra inputs are not permitted'],
  ['n', { n: 2 }, 'n: Extra inputs are not permitted'],
  [
    'prefill',
    { messages: partial },
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  ],
  ['a forced tool', { tools, tool_choice: { type: 'any' } }, /^tool_choice: /],
  ['a named tool', { tools, tool_choice: { type: 'tool', name: 'a' } }, /^tool_choice: /],
  [
    'a stop text of white space',
    { stop_sequences: ['\n'] },
    'stop_sequences: each stop sequence must contain non-whitespace',
  ],
  ['no messages', { messages: [] }, 'messages: at least one message is required'],
  ['an unknown role', { messages: [{ role: 'tool', content: '' }] }, /^messages: /],
  ['too high a limit', { max_tokens: 128_001 }, /^max_tokens: 128001 > 128000/],
  [
    'five breakpoints',
    {
      messages: [
        {
          role: 'user',
          content: ['a', 'b', 'c', 'd', 'e'].map((text) => block(text, { cache_control: kept })),
        },
      ],
    },
    'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  ],
])('what it refuses: %s', async (_, rest, text) => {
  const server = await opened({ dialect: 'anthropic' });
  const { status, body } = await message(server, rest);
  expect(status).toBe(400);
  const told = typeof text === 'string' ? text : like(text);
  expect(body).toEqual({
    type: 'error',
    error: { type: 'invalid_request_error', message: told },
    request_id: 'req_0',
  });
  expect(server.account).toMatchObject({ rejected: 1, inputTokens: 0 });
});

test('what it refuses: an unknown model, and a request without a version', async () => {
  const server = await opened({ dialect: 'anthropic' });
  expect(await message(server, { model: 'x' })).toMatchObject({
    status: 404,
    body: { error: { type: 'not_found_error', message: 'model: x' } },
  });
  expect((await post(server, '/v1/messages', { body: hi({ max_tokens: 9 }) })).status).toBe(400);
});

test('what it refuses: less, where its models are old', async () => {
  const server = await opened({ dialect: 'anthropic', modern: false });
  const fine = { temperature: 0.5, top_p: 0.9, top_k: 4 };
  expect((await message(server, fine)).status).toBe(200);
  expect((await message(server, { temperature: 1.5 })).body).toMatchObject({
    error: { type: 'invalid_request_error', message: 'temperature: range: 0..1' },
  });
  const forced = await message(server, { tools, tool_choice: { type: 'any' } });
  expect(forced.body).toMatchObject({ stop_reason: 'tool_use', content: [{ name: 'a' }] });
  const whole = (await message(server)).body as { content: [{ text: string }] };
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: whole.content[0].text.slice(0, 3) },
  ];
  expect((await message(server, { messages })).body).toMatchObject({
    content: [{ text: whole.content[0].text.slice(3) }],
  });
  const spaced = [...messages.slice(0, 1), { role: 'assistant', content: '0. ' }];
  expect((await message(server, { messages: spaced })).status).toBe(400);
});

// A mark and 20 tokens, then 3 and a mark: 25 tokens, and one where the answer begins.
const prefix = Array.from({ length: 20 }, () => 'x').join(' ');
const ask = (last: string, control: object = kept) => ({
  messages: [{ role: 'user', content: [block(prefix, { cache_control: control }), block(last)] }],
});
const counts = (input: number, written: number, read: number) => ({
  usage: {
    input_tokens: input,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
  },
});

test('the cache: is written to a breakpoint, and read after the reply', async () => {
  const server = await opened({ dialect: 'anthropic', answer: () => 'Yes' });
  expect((await message(server, ask(' a b c'))).body).toMatchObject(counts(5, 21, 0));
  expect((await message(server, ask(' d e f'))).body).toMatchObject(counts(5, 0, 21));
  expect(server.account).toMatchObject({
    inputTokens: 52,
    cacheWriteTokens: 21,
    cachedTokens: 21,
    completionsServed: 2,
  });
});

test('the cache: cannot be read by requests that run side by side', async () => {
  const server = await opened({
    dialect: 'anthropic',
    faults: ({ index }) => (index === 0 ? 'stall-midway' : undefined),
  });
  // A reply that is still being sent is of no use to others.
  const controller = new AbortController();
  const first = message(server, ask(' a'), { signal: controller.signal });
  await until(() => server.account.completionsServed === 1);
  expect((await message(server, ask(' b'))).body).toMatchObject(counts(3, 21, 0));
  controller.abort();
  await expect(first).rejects.toThrow();
});

test('the cache: holds tools before system before messages, and finds the longest prefix', async () => {
  const server = await opened({ dialect: 'anthropic' });
  const tools = [{ name: 'add', input_schema: {} }];
  const system = [block('Be brief.', { cache_control: kept })];
  const messages = [{ role: 'user', content: [block('One two', { cache_control: kept })] }];
  // Tools: 2 marks and `[{"name":"add","input":{}}]`, 19. System: 2 and Be| brie|f|. User: 2 and 2.
  expect((await message(server, { tools, system, messages })).body).toMatchObject(counts(1, 31, 0));
  const next = [...messages, { role: 'assistant', content: 'x' }, { role: 'user', content: 'y' }];
  const grown = { tools, system, messages: next };
  expect((await message(server, grown)).body).toMatchObject(counts(7, 0, 31));
  const other = { tools, system, messages: [{ role: 'user', content: 'Z' }] };
  expect((await message(server, other)).body).toMatchObject(counts(4, 0, 27));
  const untold = { system, messages: [{ role: 'user', content: 'Z' }] };
  expect((await message(server, untold)).body).toMatchObject(counts(4, 6, 0));
});

test('the cache: takes a breakpoint for the whole prompt, and tells what is kept for an hour', async () => {
  const server = await opened({ dialect: 'anthropic' });
  expect((await message(server, { cache_control: kept })).body).toMatchObject(counts(1, 3, 0));
  expect((await message(server, { cache_control: kept })).body).toMatchObject(counts(1, 0, 3));
  expect((await message(server)).body).toMatchObject(counts(4, 0, 0));
  expect((await message(server, ask(' a', { ...kept, ttl: '1h' }))).body).toMatchObject({
    usage: { cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 21 } },
  });
});

test('the cache: can be warmed without an answer', async () => {
  const server = await opened({ dialect: 'anthropic' });
  expect((await message(server, { ...ask(' a'), max_tokens: 0 })).body).toMatchObject({
    content: [],
    stop_reason: 'max_tokens',
    usage: { output_tokens: 0, cache_creation_input_tokens: 21 },
  });
  expect((await message(server, ask(' a'))).body).toMatchObject(counts(3, 0, 21));
});

test('the rest: lists its models', async () => {
  const server = await opened({ dialect: 'anthropic', models: ['a', 'b'], contextLength: 99 });
  expect((await get(server, '/v1/models')).body).toMatchObject({
    data: [
      { type: 'model', id: 'a', max_input_tokens: 99, max_tokens: 128_000 },
      { type: 'model', id: 'b' },
    ],
    has_more: false,
    first_id: 'a',
    last_id: 'b',
  });
  expect((await get(server, '/v1/models/b')).body).toMatchObject({ id: 'b' });
  expect((await get(server, '/v1/models/c')).status).toBe(404);
});

test('the rest: counts tokens without an answer', async () => {
  const server = await opened({ dialect: 'anthropic' });
  const reply = await post(server, '/v1/messages/count_tokens', { body: hi() });
  expect(reply.body).toEqual({ input_tokens: 4 });
  expect(server.account).toMatchObject({ inputTokens: 0, completionsServed: 0 });
});

test('a budget of thoughts has 1024 tokens at least, and leaves some for the answer', async () => {
  const server = await opened({ dialect: 'anthropic', modern: false });
  const ask = (budget: number) =>
    message(server, { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: budget } });
  const statuses = await Promise.all([1023, 1024, 1999, 2000].map(ask));
  expect(statuses.map(({ status }) => status)).toEqual([400, 200, 200, 400]);
});

test('an answer of no tokens fills the cache, and is not streamed, formed or a call', async () => {
  const server = await opened({ dialect: 'anthropic', modern: false });
  const warm = (rest: object = {}) => message(server, { max_tokens: 0, ...rest });
  expect((await warm()).body).toMatchObject({ stop_reason: 'max_tokens', content: [] });
  const format = { type: 'json_schema', schema: { type: 'object' } };
  const tools = [{ name: 'add', input_schema: { type: 'object' } }];
  for (const rest of [
    { stream: true },
    { output_config: { format } },
    { tools, tool_choice: { type: 'any' } },
  ]) {
    expect((await warm(rest)).status).toBe(400);
  }
  expect((await warm({ tools, tool_choice: { type: 'auto' } })).status).toBe(200);
});
