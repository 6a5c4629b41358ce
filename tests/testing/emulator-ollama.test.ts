import { expect, test } from 'vitest';
import { chat, get, opened, post, some, textOf, textsOf } from './emulator-support.ts';

const schema = { type: 'object', properties: { a: { const: 1 } } };

test('takes no notice of `n`', async () => {
  const server = await opened({ dialect: 'ollama' });
  expect(textsOf(await chat(server, { n: 3 }))).toHaveLength(1);
  expect(server.account.completionsServed).toBe(1);
});

test('tells of itself', async () => {
  const server = await opened({ dialect: 'ollama', models: ['qwen3:latest'], contextLength: 88 });
  expect((await get(server, '/')).text).toBe('Ollama is running');
  expect((await get(server, '/api/version')).body).toEqual({ version: some(String) });
  expect((await get(server, '/api/tags')).body).toMatchObject({
    models: [{ name: 'qwen3:latest', model: 'qwen3:latest' }],
  });
  expect((await post(server, '/api/show', { body: { model: 'qwen3' } })).body).toMatchObject({
    capabilities: ['completion', 'tools'],
    model_info: { 'general.architecture': 'llama', 'llama.context_length': 88 },
  });
  expect((await get(server, '/v1/models')).body).toMatchObject({ data: [{ id: 'qwen3:latest' }] });
  expect((await chat(server, { model: 'qwen3' })).status).toBe(200);
  expect(await get(server, '/nowhere')).toMatchObject({ status: 404, text: '404 page not found' });
});

test('has errors of one line, but for what it has from OpenAI', async () => {
  const server = await opened({ dialect: 'ollama' });
  const native = await post(server, '/api/chat', {
    body: { model: 'x', messages: [{ role: 'user', content: 'Hi' }] },
  });
  expect(native).toMatchObject({ status: 404, body: { error: "model 'x' not found" } });
  expect(await chat(server, { model: 'x' })).toMatchObject({
    status: 404,
    body: {
      error: { message: "model 'x' not found", type: 'not_found_error', param: null, code: null },
    },
  });
});

test('chats natively', async () => {
  const server = await opened({
    dialect: 'ollama',
    answer: () => ({ reasoning: 'Hm', text: 'One two' }),
    now: () => 0,
  });
  const messages = [{ role: 'user', content: 'Hi' }];
  const ask = (rest: object) =>
    post(server, '/api/chat', { body: { model: 'emulated', messages, ...rest } });
  expect((await ask({ stream: false })).body).toMatchObject({
    model: 'emulated',
    created_at: '1970-01-01T00:00:00.000Z',
    message: { role: 'assistant', content: 'One two', thinking: 'Hm' },
    done: true,
    done_reason: 'stop',
    prompt_eval_count: 4,
    eval_count: 3,
  });
  const cut = await ask({ stream: false, options: { num_predict: 2, seed: 5, temperature: 1 } });
  expect(cut.body).toMatchObject({ message: { content: 'One' }, done_reason: 'length' });
  expect(server.requests[1]?.questions[0]).toMatchObject({ seed: 5, temperature: 1, maxTokens: 2 });
  const stopped = await ask({ stream: false, options: { stop: [' two'] } });
  expect(stopped.body).toMatchObject({ message: { content: 'One' }, done_reason: 'stop' });

  const reply = await ask({});
  expect(reply.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = reply.text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(lines).toMatchObject([
    { message: { content: 'One' }, done: false },
    { message: { content: ' two' }, done: false },
    { message: { content: '', thinking: 'Hm' }, done: true, eval_count: 3 },
  ]);
});

test('keeps to a format, and calls tools with objects', async () => {
  const server = await opened({ dialect: 'ollama' });
  const { body } = await post(server, '/api/chat', {
    body: {
      model: 'emulated',
      stream: false,
      format: schema,
      messages: [{ role: 'user', content: 'Hi' }],
    },
  });
  expect(body).toMatchObject({ message: { content: '{"a":1}' } });
  const calling = await opened({
    dialect: 'ollama',
    answer: () => ({ toolCalls: [{ name: 'add', input: { a: 2 } }] }),
  });
  const called = await post(calling, '/api/chat', {
    body: {
      model: 'emulated',
      stream: false,
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ function: { name: 'b', arguments: { c: 1 } } }],
        },
      ],
    },
  });
  expect(called.body).toMatchObject({
    message: { tool_calls: [{ function: { name: 'add', arguments: { a: 2 } } }] },
  });
  expect(calling.requests[0]?.questions[0]?.messages[1]).toMatchObject({
    toolCalls: [{ name: 'b', input: { c: 1 } }],
  });
});

test('completes a raw prompt as it is, and others as the turn of a user', async () => {
  const server = await opened({ dialect: 'ollama' });
  const ask = (rest: object) =>
    post(server, '/api/generate', { body: { model: 'emulated', stream: false, ...rest } });
  const rendered = await ask({ prompt: '<|user|>Hi<|end|><|assistant|>', raw: true });
  expect(rendered.body).toMatchObject({ response: textOf(await chat(server)), done: true });
  expect((await ask({ prompt: 'Hi' })).body).toMatchObject({
    response: textOf(await chat(server)),
    prompt_eval_count: 4,
  });
  await ask({ prompt: 'Hi', system: 'Be brief.' });
  expect(server.requests.at(-1)?.questions[0]?.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]);
  const raw = await ask({ prompt: 'Once upon', raw: true });
  expect(raw.body).toMatchObject({ prompt_eval_count: 2 }); // Once | upon
});

test('drops old turns that do not fit, without a word', async () => {
  // Two tokens around each turn and one for the answer: 13 for the four turns, 10 without the second.
  const server = await opened({ dialect: 'ollama', contextLength: 12, answer: () => 'x' });
  const turn = (role: string, content: string) => ({ role, content });
  const messages = [
    turn('system', 'a'),
    turn('user', 'b'),
    turn('assistant', 'c'),
    turn('user', 'd'),
  ];
  expect((await chat(server, { messages })).body).toMatchObject({ usage: { prompt_tokens: 10 } });
  expect(server.requests[0]?.questions[0]?.messages.map(({ content }) => content)).toEqual([
    'a',
    'c',
    'd',
  ]);
  const refused = await post(server, '/api/chat', {
    body: { model: 'emulated', messages, truncate: false },
  });
  expect(refused).toMatchObject({
    status: 400,
    body: { error: 'the input length exceeds the context length' },
  });
});

test('does not go on from a partial answer', async () => {
  const server = await opened({ dialect: 'ollama' });
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '0.' },
  ];
  await chat(server, { messages });
  expect(server.requests[0]?.questions[0]?.continues).toBe(false);
});

test('tells its reasoning, and no cached tokens', async () => {
  const server = await opened({
    dialect: 'ollama',
    answer: () => ({ reasoning: 'Hm', text: 'Yes' }),
  });
  const { body, text } = await chat(server);
  expect(body).toMatchObject({ choices: [{ message: { reasoning: 'Hm' } }] });
  expect(text).not.toContain('cached');
});
