import { describe, expect, test } from 'vitest';
import { adapted, answer, ask, fake } from './fake-model.ts';

describe('a result', () => {
  test('of version 3 or 4', async () => {
    const result = answer('', {
      content: [
        { type: 'reasoning', text: 'Let me ' },
        { type: 'reasoning', text: 'see.' },
        { type: 'source', sourceType: 'url', id: '1', url: 'http://x' },
        { type: 'text', text: 'It ' },
        { type: 'text', text: 'is.' },
        { type: 'tool-call', toolCallId: 't1', toolName: 'add', input: '{"a":1}' },
        { type: 'tool-call', toolCallId: 't2', toolName: 'now', input: '' },
        {
          type: 'tool-call',
          toolCallId: 't3',
          toolName: 'web',
          input: '{}',
          providerExecuted: true,
        },
      ],
      finishReason: { unified: 'tool-calls', raw: 'tool_use' },
      usage: {
        inputTokens: { total: 442, noCache: 12, cacheRead: 400, cacheWrite: 30 },
        outputTokens: { total: 9, text: 4, reasoning: 5 },
      },
      response: { id: 'r', modelId: 'large-2', headers: { 'x-request-id': 'req_1' } },
    });
    const { generation } = await ask(adapted(fake(result)));
    expect(generation).toEqual({
      completions: [
        {
          text: 'It is.',
          finishReason: 'tool',
          reasoning: 'Let me see.',
          toolCalls: [
            { id: 't1', name: 'add', input: { a: 1 } },
            { id: 't2', name: 'now', input: {} },
          ],
        },
      ],
      usage: {
        inputTokens: 442,
        outputTokens: 9,
        cachedTokens: 400,
        cacheWriteTokens: 30,
        reasoningTokens: 5,
      },
      answeredBy: 'large-2',
      requestId: 'req_1',
    });
  });

  test('of version 2', async () => {
    const result = {
      content: [{ type: 'text', text: 'a' }],
      finishReason: 'length',
      usage: {
        inputTokens: 5,
        outputTokens: 4,
        totalTokens: 9,
        reasoningTokens: 3,
        cachedInputTokens: 2,
      },
      warnings: [],
    };
    const { generation } = await ask(adapted({ ...fake(result), specificationVersion: 'v2' }));
    expect(generation).toEqual({
      completions: [{ text: 'a', finishReason: 'length' }],
      usage: { inputTokens: 5, outputTokens: 4, reasoningTokens: 3, cachedTokens: 2 },
    });
  });
});

describe('what a result tells', () => {
  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['tool-calls', 'tool'],
    ['content-filter', 'refusal'],
    ['error', 'other'],
    ['unknown', 'other'],
  ])('that ends with %s ended with %s', async (unified, finishReason) => {
    for (const told of [unified, { unified, raw: undefined }]) {
      const { generation } = await ask(adapted(fake(answer('a', { finishReason: told }))));
      expect(generation.completions).toEqual([{ text: 'a', finishReason }]);
    }
  });

  test.each([
    ['nothing', undefined, {}],
    ['nothing in numbers', { inputTokens: 'many', outputTokens: Number.NaN }, {}],
    [
      'a part',
      { inputTokens: { total: undefined }, outputTokens: { total: 3 } },
      { outputTokens: 3 },
    ],
  ])('may tell of its usage %s', async (_name, usage, told) => {
    const { generation } = await ask(adapted(fake(answer('a', { usage }))));
    expect(generation.usage).toEqual(told);
  });

  test('is cut off at stop texts, whether or not the model heeds them', async () => {
    const { generation } = await ask(adapted(fake(answer('One. END Two.'))), { stop: [' END'] });
    expect(generation.completions).toEqual([{ text: 'One.', finishReason: 'stop' }]);
  });

  test('tells how much the server still allows', async () => {
    const headers = { 'x-ratelimit-remaining-tokens': '10', 'x-ratelimit-reset-tokens': '6s' };
    const { limits } = await ask(adapted(fake(answer('a', { response: { headers } }))));
    expect(limits).toEqual([{ tokens: { remaining: 10, resetMs: 6000 } }]);
  });
});

describe('a warning', () => {
  test.each([
    ['of version 2', { type: 'unsupported-setting', setting: 'temperature', details: 'no' }],
    ['of version 3', { type: 'unsupported', feature: 'temperature', details: 'no' }],
  ])('%s that something is not supported is passed on once, and heeded', async (_name, warning) => {
    const model = fake(answer('a', { warnings: [warning] }), answer('b'));
    const asked = adapted(model);
    const { warnings } = await ask(asked, { temperature: 0.5 });
    expect(warnings).toEqual([
      {
        model: 'acme.chat:large',
        about: 'temperature',
        message: 'acme.chat:large does not honour `temperature`: its own temperature is used.',
      },
    ]);
    expect(asked.capabilities.temperature).toBe(false);
    expect((await ask(asked, { temperature: 0.5 })).warnings).toEqual([]);
    expect(model.calls.map(({ temperature }) => temperature)).toEqual([0.5, undefined]);
  });

  test.each([
    ['topP', 'topP'],
    ['topK', 'topK'],
    ['seed', 'seed'],
    ['stopSequences', 'stop'],
    ['responseFormat', 'schema'],
    ['toolChoice', 'toolChoice'],
  ])('about %s is about %s', async (feature, about) => {
    const result = answer('a', { warnings: [{ type: 'unsupported', feature }] });
    const { warnings } = await ask(adapted(fake(result)));
    expect(warnings.map((warning) => warning.about)).toEqual([about]);
  });

  test.each([
    [{ type: 'other', message: 'Beware.' }, 'acme.chat:large warns (other): Beware.'],
    [
      { type: 'compatibility', feature: 'tools', details: 'in prose' },
      'acme.chat:large warns of `tools` (compatibility): in prose.',
    ],
    [{ type: 'unsupported', feature: 'tools' }, 'acme.chat:large warns of `tools` (unsupported).'],
    [
      { type: 'compatibility', feature: 'temperature' },
      'acme.chat:large warns of `temperature` (compatibility).',
    ],
  ])('%j is passed on once', async (warning, message) => {
    const asked = adapted(fake(answer('a', { warnings: [warning] })));
    const { warnings } = await ask(asked);
    expect(warnings.map((passed) => passed.message)).toEqual([message]);
    expect((await ask(asked)).warnings).toEqual([]);
    expect(asked.capabilities.temperature).toBe(true);
  });
});
