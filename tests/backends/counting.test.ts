import { afterAll, describe, expect, test } from 'vitest';
import {
  anthropic,
  type OpenAiCompatibleOptions,
  openaiCompatible,
} from '../../src/backends/index.ts';
import { tiny } from '../../src/backends/tiny/index.ts';
import type { GenerateRequest, LanguageModel } from '../../src/index.ts';
import { emulator } from '../../src/testing/index.ts';
import { bench } from './llama/bench.ts';
import { notedCall, stubFetch } from './transport/stub-fetch.ts';

const question = { role: 'user', content: 'Make 24 from 4 6 1 1. What is the next step?' } as const;
const tool = {
  name: 'look_up',
  description: 'Looks a word up in the dictionary.',
  input: { type: 'object', properties: { word: { type: 'string' } } },
};
const called = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'a', name: 'look_up', input: { word: 'tree' } }],
} as const;

const requests: Readonly<Record<string, GenerateRequest>> = {
  'a question': { messages: [question], maxTokens: 4 },
  'a conversation': {
    messages: [
      { role: 'system', content: 'Solve the puzzle step by step.' },
      question,
      { role: 'assistant', content: '4 * 6 = 24' },
      { role: 'user', content: 'And then?' },
    ],
    maxTokens: 4,
  },
  'an answer that has begun': {
    messages: [question, { role: 'assistant', content: '4 * 6' }],
    maxTokens: 4,
  },
  'a prompt with tools': {
    messages: [question, called, { role: 'tool', content: 'A plant.', toolCallId: 'a' }],
    tools: [tool],
    maxTokens: 4,
  },
};

/** The tokens of a prompt as the answer tells them. */
async function usedBy(model: LanguageModel, request: GenerateRequest) {
  const { usage } = await model.generate(request, notedCall());
  return usage.inputTokens;
}

describe.each(['vllm', 'llama-server'] as const)('the count of %s', async (dialect) => {
  const server = await emulator({ dialect });
  afterAll(() => server.close());
  const options = { baseUrl: `${server.url}/v1`, model: 'emulated', retry: false } as const;
  const models: readonly OpenAiCompatibleOptions[] = [{ ...options, preset: dialect }, options];

  test.each(Object.entries(requests))(
    'is what the answer says was read: %s',
    async (_, request) => {
      for (const model of models.map(openaiCompatible)) {
        expect(await model.count?.(request)).toBe(await usedBy(model, request));
      }
    },
  );
});

describe('the count of SGLang, which renders no template there', async () => {
  const server = await emulator({ dialect: 'sglang' });
  afterAll(() => server.close());
  const model = openaiCompatible({
    ...{ preset: 'sglang', baseUrl: `${server.url}/v1`, model: 'emulated', retry: false },
  });

  test.each(Object.entries(requests))('is at least what was read: %s', async (_, request) => {
    const used = (await usedBy(model, request)) ?? 0;
    const count = (await model.count?.(request)) ?? 0;

    expect(count).toBeGreaterThanOrEqual(used);
    expect(count).toBeLessThanOrEqual(used + 16 * (request.messages.length + 1));
  });
});

describe('the count of Anthropic', async () => {
  const name = 'claude-sonnet-5-5';
  const server = await emulator({ dialect: 'anthropic', models: [name] });
  afterAll(() => server.close());
  const options = { model: name, apiKey: 'some-key', baseUrl: server.url, retry: false } as const;

  test('is asked for on request only', () => {
    expect(anthropic(options).count).toBeUndefined();
  });

  test('is what the answer says was read', async () => {
    const model = anthropic({ ...options, count: true });
    const { 'a question': request = { messages: [] } } = requests;

    expect(await model.count?.({ ...request, temperature: 0.5, stop: ['.'] })).toBe(
      await usedBy(model, request),
    );
  });
});

describe('an endpoint for counts', () => {
  const request: GenerateRequest = { messages: [question] };

  test('that is absent is asked once', async () => {
    const { fetch, requests: sent } = stubFetch({ status: 404, json: { error: 'Not Found' } });
    const options = { preset: 'vllm', baseUrl: 'http://host/v1', model: 'm', fetch } as const;
    const model = openaiCompatible({ ...options, retry: false });
    for (let time = 0; time < 3; time++) {
      await expect(model.count?.(request)).rejects.toThrow('404');
    }

    expect(sent.map(({ url }) => url)).toEqual(['http://host/tokenize']);
  });

  test('that answers something else is told as one that does not count', async () => {
    const { fetch } = stubFetch({ json: { tokens: 'many' } });
    const options = { preset: 'llama-server', baseUrl: 'http://host/v1', model: 'm' } as const;
    const model = openaiCompatible({ ...options, fetch, retry: false });

    await expect(model.count?.(request)).rejects.toThrow('without `input_tokens`');
  });

  test('is not looked for at servers that have none', () => {
    expect(openaiCompatible({ preset: 'ollama' }).count).toBeUndefined();
  });

  test('tells no credential where it fails', async () => {
    const { fetch } = stubFetch({ status: 500, json: { error: 'for sk-secret-0123456789' } });
    const apiKey = 'sk-secret-0123456789';
    const options = { preset: 'vllm', baseUrl: 'http://host/v1', model: 'm', apiKey } as const;
    const model = openaiCompatible({ ...options, fetch, retry: false });

    await expect(model.count?.(request)).rejects.not.toThrow(apiKey);
  });
});

describe('the count of a model in this process', () => {
  test.each([true, false])('is what the answer says was read: tiny, thread %s', async (thread) => {
    await using model = tiny({ thread });
    const messages = [question];

    expect(await model.count?.({ messages })).toBe(await usedBy(model, { messages, maxTokens: 1 }));
  });

  test('is what the answer says was read: llama', async () => {
    const { model } = bench();
    const messages = [{ role: 'user', content: 'abc' }] as const;

    expect(await model.count?.({ messages })).toBe(await usedBy(model, { messages, maxTokens: 1 }));
  });
});
