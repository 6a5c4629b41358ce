import { afterEach, describe, expect, test, vi } from 'vitest';
import { type OpenAiOptions, openai } from '../../../src/backends/index.ts';
import {
  chatReply,
  notedCall,
  rejectionOf,
  type StubReply,
  stubFetch,
} from '../transport/stub-fetch.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 99 } as const;

describe('a key', () => {
  afterEach(() => void vi.unstubAllEnvs());
  const key = `sk-${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`;

  test('is found in the environment', async () => {
    vi.stubEnv('OPENAI_API_KEY', key);
    const { fetch, requests } = stubFetch(chatReply('a'));
    await openai({ model: 'gpt-4o', api: 'chat', fetch }).generate(request, notedCall());
    expect(requests[0]?.headers['authorization']).toBe(`Bearer ${key}`);
  });

  test('that is nowhere is asked for, and looked for again', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    const { fetch } = stubFetch(chatReply('a'));
    const model = openai({ model: 'gpt-4o', api: 'chat', fetch, retry: false });
    expect(await rejectionOf(model.generate(request, notedCall()))).toMatchObject({
      code: 'usage',
      scope: 'run',
      message:
        'openai:gpt-4o has no key. Set OPENAI_API_KEY, or name another variable for the key.',
    });
    vi.stubEnv('OPENAI_API_KEY', key);
    expect((await model.generate(request, notedCall())).completions).toHaveLength(1);
  });

  const echo = { json: { error: { message: `You sent ${key}.` } } };
  test.each<[StubReply | Error]>([
    [{ ...echo, status: 400 }],
    [{ ...echo, status: 401 }],
    [{ ...echo, status: 404 }],
    [{ ...echo, status: 429 }],
    [{ ...echo, status: 500 }],
    [{ json: { status: 'failed', error: { code: key, message: key } } }],
    [{ text: `${key} is no JSON` }],
    [{ text: key, headers: { 'content-type': 'text/html' } }],
    [new Error(key)],
  ])('is in no error, stack, warning or model (%#)', async (reply) => {
    vi.stubEnv('OPENAI_API_KEY', key);
    for (const secret of [{ apiKey: key }, {}, { headers: { 'x-api-key': key } }]) {
      const { fetch } = stubFetch(reply);
      const model = openai({ model: 'gpt-4o', fetch, retry: false, ...secret });
      const call = notedCall();
      const error = await rejectionOf(model.generate({ ...request, topK: 3 }, call));
      const shown = [error.message, error.stack, JSON.stringify(error), JSON.stringify(model)];
      expect(
        [...shown, String(error.cause), JSON.stringify(call.warnings)].join('\n'),
      ).not.toContain(key);
    }
  });
});

test.each<[unknown, string]>([
  [{ model: '' }, 'Expected `model` to be the name of a model, as in gpt-6-luna, got `""`.'],
  [{ model: 'm', api: 'x' }, "Expected `api` to be 'chat' or 'responses', got `\"x\"`."],
  [
    { model: 'm', reasoningEffort: 'much' },
    "Expected `reasoningEffort` to be 'none' or 'minimal' or 'low' or 'medium' or 'high' or 'xhigh' or 'max', got `\"much\"`.",
  ],
  [
    { model: 'm', maxReplyBytes: 0 },
    'Expected `maxReplyBytes` to be an integer from 1 up, got `0`.',
  ],
  [
    { model: 'm', client: { chat: { completions: { create() {} } } }, project: 'p' },
    'Expected `project` to be absent beside `client`, which has its own, got both.',
  ],
  [
    { model: 'm', client: { chat: { completions: {} } } },
    'Expected `client.chat.completions` to be an object with a method `create`, got one without it.',
  ],
  [{ model: 'm', retry: 3 }, 'Expected `retry` to be an object or false, got `3`.'],
])('options %j are refused', (options, sentence) => {
  expect(() => openai(options as OpenAiOptions)).toThrow(sentence);
});
