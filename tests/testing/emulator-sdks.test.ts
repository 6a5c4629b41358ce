import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { EmulatorOptions } from '../../src/testing/index.ts';
import { opened } from './emulator-support.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const answer = () => 'Two words.';

async function openAi(options: Partial<EmulatorOptions> = {}) {
  const server = await opened({ dialect: 'openai', answer, apiKey: 'right', ...options });
  return new OpenAI({ apiKey: 'right', baseURL: `${server.url}/v1`, maxRetries: 0 });
}

async function anthropic(options: Partial<EmulatorOptions> = {}) {
  const server = await opened({ dialect: 'anthropic', answer, apiKey: 'right', ...options });
  return new Anthropic({ apiKey: 'right', baseURL: server.url, maxRetries: 0 });
}

test('OpenAI’s own client reads chats, streams and responses', async () => {
  const client = await openAi();
  const chat = await client.chat.completions.create({ model: 'emulated', messages, n: 2 });
  expect(chat.choices.map(({ message }) => message.content)).toEqual(['Two words.', 'Two words.']);
  expect(chat.usage?.total_tokens).toBe(12);
  const stream = client.chat.completions.stream({ model: 'emulated', messages });
  expect(await stream.finalContent()).toBe('Two words.');
  const response = await client.responses.create({ model: 'emulated', input: 'Hi' });
  expect(response.output_text).toBe('Two words.');
  const responses = client.responses.stream({ model: 'emulated', input: 'Hi' });
  expect((await responses.finalResponse()).usage?.output_tokens).toBe(4);
  const models = await client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(['emulated']);
});

test('OpenAI’s own client reads streamed tool calls and refusals', async () => {
  const calling = await openAi({
    answer: () => ({ toolCalls: [{ name: 'add', input: { a: 2 } }] }),
  });
  const called = calling.responses.stream({ model: 'emulated', input: 'Hi' });
  expect((await called.finalResponse()).output).toMatchObject([
    { type: 'function_call', name: 'add', arguments: '{"a":2}' },
  ]);
  const chat = calling.chat.completions.stream({ model: 'emulated', messages });
  expect((await chat.finalMessage()).tool_calls).toMatchObject([
    { function: { name: 'add', arguments: '{"a":2}' } },
  ]);
  const refusing = await openAi({ answer: () => ({ text: 'No.', finishReason: 'refusal' }) });
  const refused = refusing.responses.stream({ model: 'emulated', input: 'Hi' });
  expect((await refused.finalResponse()).output).toMatchObject([
    { content: [{ type: 'refusal', refusal: 'No.' }] },
  ]);
});

test('OpenAI’s own client knows its errors', async () => {
  const ask = (client: OpenAI) => client.chat.completions.create({ model: 'emulated', messages });
  const wrong = await openAi({ apiKey: 'another' });
  await expect(ask(wrong)).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  const limited = ask(await openAi({ faults: [{ kind: 'rate-limited', retryAfterMs: 2000 }] }));
  await expect(limited).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  await expect(limited).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  const reset = ask(await openAi({ faults: ['reset'] }));
  await expect(reset).rejects.toBeInstanceOf(OpenAI.APIConnectionError);
});

test('Anthropic’s own client reads messages and streams', async () => {
  const client = await anthropic();
  const request = { model: 'emulated', max_tokens: 50, messages };
  const reply = await client.messages.create(request);
  expect(reply.content).toMatchObject([{ type: 'text', text: 'Two words.' }]);
  const final = await client.messages.stream(request).finalMessage();
  expect(final).toMatchObject({
    content: [{ type: 'text', text: 'Two words.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 4, output_tokens: 4 },
  });
  expect(await client.messages.countTokens({ model: 'emulated', messages })).toMatchObject({
    input_tokens: 4,
  });
  const models = await client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(['emulated']);
});

test('Anthropic’s own client knows its errors', async () => {
  const ask = (client: Anthropic) =>
    client.messages.create({ model: 'emulated', max_tokens: 50, messages });
  await expect(ask(await anthropic({ faults: ['overloaded'] }))).rejects.toMatchObject({
    status: 529,
    type: 'overloaded_error',
    requestID: 'req_0',
  });
  const wrong = ask(await anthropic({ apiKey: 'another' }));
  await expect(wrong).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
});
