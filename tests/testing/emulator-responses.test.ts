import { expect, test } from 'vitest';
import { chat, eventsOf, opened, post, textOf } from './emulator-support.ts';

const answer = () => 'Two words.'; // Two | word|s|.

const ask = (server: Parameters<typeof post>[0], rest: object = {}) =>
  post(server, '/v1/responses', { body: { model: 'emulated', input: 'Hi', ...rest } });

test('Responses: answers in its shape', async () => {
  const server = await opened({
    dialect: 'openai',
    answer: () => ({ reasoning: 'Hm', text: 'Two words.' }),
  });
  expect((await ask(server)).body).toMatchObject({
    id: 'resp_0',
    object: 'response',
    status: 'completed',
    incomplete_details: null,
    output: [
      { type: 'reasoning', summary: [] },
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Two words.', annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 4,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 9,
    },
  });
});

test('Responses: asks the same as a chat does', async () => {
  const server = await opened({ dialect: 'openai' });
  const content = textOf(
    await chat(server, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    }),
  );
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }];
  expect((await ask(server, { instructions: 'Be brief.', input })).body).toMatchObject({
    output: [{ content: [{ text: content }] }],
  });
});

test('Responses: says when it was cut off', async () => {
  const server = await opened({ dialect: 'openai', answer: () => 'x '.repeat(20) });
  expect((await ask(server, { max_output_tokens: 16 })).body).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    usage: { output_tokens: 16 },
  });
});

test('Responses: calls tools, and reads their results', async () => {
  const server = await opened({ dialect: 'openai' });
  const parameters = { type: 'object', properties: { a: { const: 1 } } };
  const tools = [{ type: 'function', name: 'add', parameters }];
  const { body } = await ask(server, { tools, tool_choice: { type: 'function', name: 'add' } });
  expect(body).toMatchObject({
    output: [{ type: 'function_call', name: 'add', arguments: '{"a":1}' }],
  });
  await ask(server, {
    input: [
      { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: '2' },
    ],
  });
  expect(server.requests[1]?.questions[0]?.messages).toEqual([
    { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'add', input: { a: 1 } }] },
    { role: 'tool', content: '2', toolCallId: 'c1' },
  ]);
});

test('Responses: keeps to a schema, and tells log-probabilities where they are included', async () => {
  const server = await opened({ dialect: 'openai' });
  const schema = { type: 'object', properties: { a: { const: 1 } } };
  const format = { type: 'json_schema', name: 'a', schema };
  const include = ['message.output_text.logprobs'];
  const { body } = await ask(server, { text: { format }, include, top_logprobs: 2 });
  expect(body).toMatchObject({ output: [{ content: [{ text: '{"a":1}' }] }] });
  const { output } = body as { output: [{ content: [{ logprobs: object[] }] }] };
  // { " a " : 1 }
  expect(output[0].content[0].logprobs).toHaveLength(7);
});

test('Responses: streams', async () => {
  const server = await opened({ dialect: 'openai', answer });
  const reply = await ask(server, { stream: true });
  expect(reply.text).toMatch(/^event: response\.created\ndata: /);
  const part = { type: 'output_text', text: '' };
  expect(eventsOf(reply)).toMatchObject([
    { type: 'response.created', sequence_number: 0, response: { status: 'in_progress' } },
    { type: 'response.in_progress', sequence_number: 1 },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', content: [] } },
    { type: 'response.content_part.added', content_index: 0, part },
    ...['Two', ' word', 's', '.'].map((delta) => ({ type: 'response.output_text.delta', delta })),
    { type: 'response.output_text.done', text: 'Two words.' },
    { type: 'response.content_part.done', part: { ...part, text: 'Two words.' } },
    { type: 'response.output_item.done', item: { content: [{ text: 'Two words.' }] } },
    { type: 'response.completed', response: { status: 'completed', usage: { output_tokens: 4 } } },
  ]);
});

test.each([
  ['n', { n: 2 }, 'unknown_parameter'],
  ['stop', { stop: ['x'] }, 'unknown_parameter'],
  ['seed', { seed: 1 }, 'unknown_parameter'],
  ['temperature', { temperature: 9 }, 'decimal_above_max_value'],
  ['top_logprobs', { top_logprobs: 50 }, 'integer_above_max_value'],
  ['max_output_tokens', { max_output_tokens: 15 }, 'integer_below_min_value'],
])('Responses: has no %s as in %j', async (param, rest, code) => {
  const { status, body } = await ask(await opened({ dialect: 'openai' }), rest);
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { code, param } });
});

test('Responses: has the gates of reasoning models', async () => {
  const server = await opened({ dialect: 'openai', models: ['o3', 'gpt-5.2'] });
  expect((await ask(server, { model: 'o3', temperature: 0.5 })).status).toBe(400);
  const rested = { model: 'gpt-5.2', temperature: 0.5, reasoning: { effort: 'none' } };
  expect((await ask(server, rested)).status).toBe(200);
});
