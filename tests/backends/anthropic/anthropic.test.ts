import { describe, expect, test } from 'vitest';
import { anthropic } from '../../../src/backends/index.ts';
import { ask, message, modelOn, refusal, stub } from './messages-server.ts';

describe('a request', () => {
  test('goes to the Messages API with the key, the sample and our own headers', async () => {
    const server = stub();
    const headers = { 'x-mine': 'yes' };
    const model = modelOn(server, { headers });
    await ask(model, { offset: 3 });
    const [seen] = server.seen;
    expect(seen?.url).toBe('https://api.anthropic.com/v1/messages');
    expect(seen?.headers.get('authorization')).toBe('Bearer sk-test-key-123456');
    expect(seen?.headers.get('x-espalier-sample')).toBe('3');
    expect(seen?.headers.get('x-mine')).toBe('yes');
    expect(seen?.headers.get('anthropic-version')).toBe('2026-10-21');
    expect(seen?.body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 1024,
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'Why?', cache_control: { type: 'ephemeral' } }],
        },
      ],
    });
  });

  test.each([
    ['http://host:1/v1', 'http://host:1/v1/messages'],
    ['http://host:1/v1/', 'http://host:1/v1/messages'],
    ['http://host:1', 'http://host:1/v1/messages'],
    ['http://host:1/proxy/', 'http://host:1/proxy/v1/messages'],
  ])('to %s goes to %s', async (baseUrl, url) => {
    const server = stub();
    await ask(modelOn(server, { baseUrl }));
    expect(server.seen.map((seen) => seen.url)).toEqual([url]);
  });

  test('asks models that take a temperature by the version that takes one', async () => {
    const server = stub();
    await ask(modelOn(server, { model: 'claude-haiku-4-5' }), { temperature: 0.5, topK: 3 });
    const [seen] = server.seen;
    expect(seen?.headers.get('anthropic-version')).toBe('2023-06-01');
    expect(seen?.body).toMatchObject({ temperature: 0.5, top_k: 3 });
  });

  test('keeps the prompt as long as it is told', async () => {
    for (const [cache, control] of [
      ['1h', { type: 'ephemeral', ttl: '1h' }],
      ['5m', { type: 'ephemeral' }],
      [true, { type: 'ephemeral' }],
      [false, undefined],
    ] as const) {
      const server = stub();
      await ask(modelOn(server, { cache }));
      const content = [
        { type: 'text', text: 'Why?', ...(control !== undefined && { cache_control: control }) },
      ];
      expect(server.seen[0]?.body['messages']).toEqual([{ role: 'user', content }]);
    }
  });
});

describe('a reply', () => {
  test('is a completion, its usage, its model and its name', async () => {
    const usage = {
      input_tokens: 12,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 400,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 5 },
    };
    const content = [
      { type: 'thinking', thinking: 'Let me ', signature: 'x' },
      { type: 'thinking', thinking: 'see.', signature: 'y' },
      { type: 'redacted_thinking', data: 'z' },
      { type: 'text', text: 'It ' },
      { type: 'text', text: 'is.' },
      { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } },
    ];
    const server = stub(message('', { content, usage, stop_reason: 'tool_use' }));
    const { generation, warnings } = await ask(modelOn(server));
    expect(generation).toEqual({
      completions: [
        {
          text: 'It is.',
          finishReason: 'tool',
          reasoning: 'Let me see.',
          toolCalls: [{ id: 'toolu_1', name: 'add', input: { a: 1 } }],
          original: { provider: 'anthropic', data: content },
        },
      ],
      usage: {
        inputTokens: 442,
        outputTokens: 9,
        cachedTokens: 400,
        cacheWriteTokens: 30,
        reasoningTokens: 5,
      },
      answeredBy: 'claude-sonnet-5-5-20261001',
      requestId: 'req_7',
    });
    expect(warnings).toEqual([]);
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool'],
    ['refusal', 'refusal'],
    ['pause_turn', 'other'],
    ['something_new', 'other'],
    [null, 'other'],
  ])('that ends with %s ended with %s', async (stop_reason, finishReason) => {
    const { generation } = await ask(modelOn(stub(message('a', { stop_reason }))));
    expect(generation.completions).toEqual([{ text: 'a', finishReason }]);
  });
});

describe('the usage of a reply', () => {
  test.each([
    ['nothing', undefined, {}],
    ['null', null, {}],
    ['nonsense', { input_tokens: -1, output_tokens: 'three' }, {}],
    [
      'what was read',
      { input_tokens: 2, cache_read_input_tokens: null },
      { inputTokens: 2, cachedTokens: 0, cacheWriteTokens: 0 },
    ],
    ['what was written', { output_tokens: 4 }, { outputTokens: 4 }],
  ])('may tell %s', async (_name, usage, told) => {
    const { generation } = await ask(modelOn(stub(message('a', { usage }))));
    expect(generation.usage).toEqual(told);
  });
});

describe('the headers of a reply', () => {
  test('tell how much the server still allows', async () => {
    const reset = new Date(Date.now() + 60_000).toISOString();
    const headers = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': reset,
    };
    const { limits } = await ask(modelOn(stub(() => Response.json(message('a'), { headers }))));
    expect(limits).toEqual([
      { requests: { limit: 50, remaining: 49, resetMs: expect.any(Number) as number } },
    ]);
    expect(limits[0]?.requests?.resetMs).toBeGreaterThan(50_000);
  });
});

describe('several samples', () => {
  test('are asked for one by one, each with its index, the first one ahead', async () => {
    let open = () => {};
    const first = new Promise<Response>((resolve) => {
      open = () => resolve(Response.json(message('s0')));
    });
    const server = stub(() => first, message('s1'), message('s2'));
    const asking = ask(modelOn(server), { samples: 3, offset: 4 });
    await expect.poll(() => server.seen.length).toBe(1);
    open();
    const { generation, further } = await asking;
    expect(generation.completions.map(({ text }) => text)).toEqual(['s0', 's1', 's2']);
    expect(generation.usage).toMatchObject({ inputTokens: 36, outputTokens: 9 });
    expect(server.seen.map(({ headers }) => headers.get('x-espalier-sample'))).toEqual([
      '4',
      '5',
      '6',
    ]);
    expect(further).toHaveLength(2);
  });
});

describe('a client of the user', () => {
  test('is used as it is, once a request', async () => {
    const calls: unknown[] = [];
    const client = {
      messages: {
        create: async (body: object, options?: object) => {
          calls.push(body, options);
          return message('mine');
        },
        stream: () => {
          throw new Error('not now');
        },
      },
    };
    const model = anthropic({ model: 'claude-sonnet-5-5', client });
    const { generation } = await ask(model);
    expect(generation.completions[0]?.text).toBe('mine');
    expect(calls[1]).toMatchObject({ maxRetries: 0, headers: { 'x-espalier-sample': '0' } });
  });

  test('may be one of the SDK', async () => {
    const { Anthropic } = await import('@anthropic-ai/sdk');
    const server = stub(refusal(500, 'Broken'));
    const client = new Anthropic({ apiKey: 'my-own-key', fetch: server.fetch });
    const model = anthropic({ model: 'claude-sonnet-5-5', client, retry: false });
    await expect(ask(model)).rejects.toMatchObject({ kind: 'overloaded', status: 500 });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.headers.get('authorization')).toBe('Bearer my-own-key');
  });
});
