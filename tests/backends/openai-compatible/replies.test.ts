import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import {
  type CompatibleClient,
  type OpenAiCompatibleOptions,
  openaiCompatible,
} from '../../../src/backends/index.ts';
import { emulator } from '../../../src/testing/emulator/emulator.ts';
import {
  chatReply,
  notedCall,
  rejectionOf,
  type StubReply,
  stubFetch,
} from '../transport/stub-fetch.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 8 } as const;
const reached = { baseUrl: 'http://host/v1', model: 'm-1', retry: false } as const;

const vllm = (options: OpenAiCompatibleOptions) => openaiCompatible({ ...options, preset: 'vllm' });
const ollama = (options: OpenAiCompatibleOptions) =>
  openaiCompatible({ ...options, preset: 'ollama' });
const llamaServer = (options: OpenAiCompatibleOptions) =>
  openaiCompatible({ ...options, preset: 'llama-server' });

describe('an answer', () => {
  test('has the usage, the model and the name of its request', async () => {
    const { fetch } = stubFetch({ ...chatReply('a', 'b'), headers: { 'x-request-id': 'req-7' } });
    const model = vllm({ ...reached, fetch });
    expect(await model.generate({ ...request, samples: 2 }, notedCall())).toEqual({
      completions: [
        { text: 'a', finishReason: 'stop' },
        { text: 'b', finishReason: 'stop' },
      ],
      usage: { inputTokens: 10, outputTokens: 4 },
      answeredBy: 'served-1',
      requestId: 'req-7',
    });
  });

  test('has the usage of one choice on llama-server, so that of several is unknown', async () => {
    const model = llamaServer({ ...reached, fetch: stubFetch(chatReply('a', 'b')).fetch });
    const several = await model.generate({ ...request, samples: 2 }, notedCall());
    expect(several.usage).toEqual({ inputTokens: 10 });
    const alone = llamaServer({ ...reached, fetch: stubFetch(chatReply('a')).fetch });
    expect((await alone.generate(request, notedCall())).usage).toEqual({
      inputTokens: 10,
      outputTokens: 2,
    });
  });

  test('is cut off at stop texts that the server took no notice of', async () => {
    const { fetch } = stubFetch(chatReply('one. two'));
    const { completions } = await vllm({ ...reached, fetch }).generate(
      { ...request, stop: ['. '] },
      notedCall(),
    );
    expect(completions).toEqual([{ text: 'one', finishReason: 'stop' }]);
  });

  test('does not begin with what it was told to go on from', async () => {
    const { fetch } = stubFetch(chatReply('Well, yes.'));
    const messages = [...request.messages, { role: 'assistant', content: 'Well, ' }] as const;
    const { completions } = await ollama({ ...reached, fetch }).generate(
      { ...request, messages },
      notedCall(),
    );
    expect(completions[0]?.text).toBe('yes.');
  });

  test('tells what the server still allows, as does a refusal', async () => {
    const headers = { 'x-ratelimit-remaining-requests': '4', 'x-ratelimit-reset-requests': '2s' };
    const limits = { requests: { remaining: 4, resetMs: 2000 } };
    const replies: readonly StubReply[] = [
      { ...chatReply('a'), headers },
      { status: 429, json: {}, headers },
    ];
    const model = vllm({ ...reached, fetch: stubFetch(...replies).fetch });
    const call = notedCall();
    await model.generate(request, call);
    await rejectionOf(model.generate(request, call));
    expect(call.told).toEqual([limits, limits]);
  });

  test('comes in the end where the first attempt fails', async () => {
    const { fetch, requests } = stubFetch({ status: 503, json: {} }, chatReply('a'));
    const { retry: _, ...retried } = reached;
    const attempts: string[] = [];
    const call = notedCall({
      retry: async ({ message }) => void attempts.push(message),
    });
    const { completions } = await vllm({ ...retried, fetch }).generate(request, call);
    expect([completions.length, requests.length, attempts.length]).toEqual([1, 2, 1]);
  });
});

const messages = [...request.messages, { role: 'assistant', content: 'Well, ' }] as const;
const refusal = {
  status: 400,
  json: {
    error: { message: 'Assistant response prefill is incompatible with enable_thinking.' },
  },
};

const rendering = { json: { prompt: '<u>Hi<a>' } };
const completion = { json: { choices: [{ index: 0, text: 'yes.', finish_reason: 'stop' }] } };

describe('the beginning of an answer', () => {
  test('is continued from a rendered prompt by llama-server', async () => {
    const { fetch, requests } = stubFetch(rendering, completion);
    const model = llamaServer({ ...reached, fetch });
    const call = notedCall();
    const schema = { type: 'object' };
    const { completions } = await model.generate(
      { ...request, messages, logprobs: true, schema, samples: 1, offset: 3 },
      call,
    );
    expect(completions).toMatchObject([{ text: 'yes.' }]);
    expect(requests.map(({ url, body }) => [url, body])).toEqual([
      [
        'http://host/apply-template',
        {
          messages: [{ role: 'user', content: 'Hi' }],
          chat_template_kwargs: { enable_thinking: false },
        },
      ],
      [
        'http://host/v1/completions',
        {
          ...{ model: 'm-1', prompt: '<u>Hi<a>Well, ', max_tokens: 8 },
          ...{ temperature: 1, top_p: 1, top_k: 0, min_p: 0, logprobs: 1, json_schema: schema },
        },
      ],
    ]);
    expect(requests[1]?.headers['x-espalier-sample']).toBe('3');
    expect(model.capabilities.continuation).toBe(true);
  });

  test('is continued by the chat of llama-server where it renders no prompts, once, repeated or not', async () => {
    const gone = { status: 404, json: {} };
    const { fetch, requests } = stubFetch(gone, chatReply('Well, yes.'), chatReply('yes.'));
    const model = llamaServer({ ...reached, fetch });
    const call = notedCall();
    for (let calls = 0; calls < 2; calls++) {
      const { completions } = await model.generate({ ...request, messages }, call);
      expect(completions[0]?.text).toBe('yes.');
    }
    expect(requests.map(({ url }) => url)).toEqual([
      'http://host/apply-template',
      'http://host/v1/chat/completions',
      'http://host/v1/chat/completions',
    ]);
    expect(requests[1]?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Well, ' },
      ],
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(call.warnings).toEqual([]);
  });

  test('waits for a server that is busy, and learns nothing from that', async () => {
    const busy = { status: 503, json: {} };
    const { fetch, requests } = stubFetch(busy, rendering, completion);
    const model = llamaServer({ ...reached, fetch });
    expect(await rejectionOf(model.generate({ ...request, messages }, notedCall()))).toMatchObject({
      kind: 'overloaded',
    });
    await model.generate({ ...request, messages }, notedCall());
    expect(requests.at(-1)?.url).toBe('http://host/v1/completions');
  });

  test('is continued by chat where tools may be called', async () => {
    const { fetch, requests } = stubFetch(chatReply('yes.'));
    const tools = [{ name: 't', input: {} }];
    await llamaServer({ ...reached, fetch }).generate({ ...request, messages, tools }, notedCall());
    expect(requests[0]?.url).toBe('http://host/v1/chat/completions');
  });
});

describe('the beginning of an answer on vLLM', () => {
  test('is continued from the tokens of a prompt where the chat of vLLM refuses', async () => {
    const { fetch, requests } = stubFetch(({ url }) => {
      if (url.endsWith('/chat/completions')) return refusal;
      if (url.endsWith('/tokenize')) return { json: { tokens: [1, 7, 9] } };
      if (url.endsWith('/detokenize')) return { json: { prompt: '<s><u>Hi<a>' } };
      return { json: { choices: [{ index: 0, text: 'yes.', finish_reason: 'stop' }] } };
    });
    await vllm({ ...reached, fetch }).generate(
      { ...request, messages, topLogprobs: 2 },
      notedCall(),
    );
    expect(requests.slice(1).map(({ url, body }) => [url, body])).toEqual([
      [
        'http://host/tokenize',
        {
          model: 'm-1',
          messages: [{ role: 'user', content: 'Hi' }],
          add_generation_prompt: true,
        },
      ],
      ['http://host/detokenize', { model: 'm-1', tokens: [1, 7, 9] }],
      [
        'http://host/v1/completions',
        {
          model: 'm-1',
          prompt: '<s><u>Hi<a>Well, ',
          max_tokens: 8,
          logprobs: 2,
          add_special_tokens: false,
        },
      ],
    ]);
  });
});

describe('the beginning of an answer that a server refuses to continue', () => {
  test('is told in the question where prompts cannot be rendered either', async () => {
    const { fetch, requests } = stubFetch(({ body, url }) => {
      if (!url.endsWith('/chat/completions')) return { status: 404, json: {} };
      const { messages: sent } = body as { messages: readonly { role: string }[] };
      return sent.at(-1)?.role === 'assistant' ? refusal : chatReply('yes.');
    });
    const model = vllm({ ...reached, fetch });
    const call = notedCall();
    const { completions } = await model.generate({ ...request, messages }, call);
    expect(completions[0]?.text).toBe('yes.');
    expect(call.warnings.map(({ message }) => message)).toEqual([
      'vllm:m-1 does not honour `continuation`: the beginning of the answer is sent in the question.',
    ]);
    expect(model.capabilities.continuation).toBe(false);
    const before = requests.length;
    await model.generate({ ...request, messages }, call);
    expect(requests.length).toBe(before + 1);
  });

  test('is continued the same by chat and from a prompt', async () => {
    const server = await emulator({ dialect: 'llama-server' });
    const options = { baseUrl: server.url, model: 'emulated', retry: false } as const;
    const [whole] = (
      await llamaServer(options).generate({ ...request, maxTokens: 99, seed: 1 }, notedCall())
    ).completions;
    const begun = { ...request, maxTokens: 99, seed: 1 };
    const beginning = whole?.text.slice(0, 4) ?? '';
    const fetch: typeof globalThis.fetch = async (url, init) =>
      String(url).endsWith('/apply-template')
        ? new Response('{}', { status: 404 })
        : globalThis.fetch(url, init);
    const texts = [];
    for (const model of [llamaServer(options), llamaServer({ ...options, fetch })]) {
      const conversation = [
        ...request.messages,
        { role: 'assistant', content: beginning },
      ] as const;
      const { completions } = await model.generate(
        { ...begun, messages: conversation },
        notedCall(),
      );
      texts.push(completions[0]?.text);
    }
    await server.close();
    expect(beginning).not.toBe('');
    expect(texts).toEqual([whole?.text.slice(4), whole?.text.slice(4)]);
  });
});

describe("a client of the user's own", () => {
  test('sends the requests, once each', async () => {
    const { fetch, requests } = stubFetch({ status: 503, json: {} }, chatReply('a'));
    const client: CompatibleClient = new OpenAI({
      apiKey: 'sesame',
      baseURL: 'http://host/v1',
      fetch,
    });
    const model = openaiCompatible({ preset: 'vllm', model: 'm-1', client, retry: false });
    expect(await rejectionOf(model.generate(request, notedCall()))).toMatchObject({
      kind: 'overloaded',
      status: 503,
    });
    expect(requests).toHaveLength(1);
    const { completions } = await model.generate({ ...request, offset: 2 }, notedCall());
    expect(completions).toEqual([{ text: 'a', finishReason: 'stop' }]);
    expect(requests[1]).toMatchObject({
      url: 'http://host/v1/chat/completions',
      headers: { authorization: 'Bearer sesame', 'x-espalier-sample': '2' },
      body: { model: 'm-1', max_tokens: 8 },
    });
  });

  test('keeps its key to itself', async () => {
    const { fetch } = stubFetch({ status: 401, json: { error: { message: 'Not my-own-word.' } } });
    const client = new OpenAI({ apiKey: 'my-own-word', baseURL: 'http://host/v1', fetch });
    const model = openaiCompatible({ preset: 'vllm', model: 'm-1', client, retry: false });
    const error = await rejectionOf(model.generate(request, notedCall()));
    expect(error.message).toBe(
      'vllm:m-1 refuses the key (401: Not [hidden]). Check the key and what it may use.',
    );
    expect(JSON.stringify(model)).not.toContain('my-own-word');
  });
});

describe('a preset', () => {
  test.each([
    ['vllm', 'http://localhost:8000/v1'],
    ['sglang', 'http://localhost:30000/v1'],
    ['llama-server', 'http://localhost:8080/v1'],
    ['ollama', 'http://localhost:11434/v1'],
    ['lm-studio', 'http://localhost:1234/v1'],
    ['transformers', 'http://localhost:8000/v1'],
  ] as const)('is a server where it usually listens (%s)', async (preset, baseUrl) => {
    const { fetch, requests } = stubFetch(chatReply('a'));
    const model = openaiCompatible({ preset, model: 'm-1', fetch });
    expect([model.provider, model.modelId]).toEqual([preset, 'm-1']);
    await model.generate(request, notedCall());
    expect(requests[0]?.url).toBe(`${baseUrl}/chat/completions`);
  });
});

test.each<[unknown, string]>([
  [{}, 'Expected `baseUrl` to be an address, as in http://localhost:8000/v1, got `undefined`.'],
  [
    { baseUrl: 'localhost:8000' },
    'Expected `baseUrl` to be an address that begins with http:// or https://, got `"localhost:8000"`.',
  ],
  [
    { preset: 'vlm' },
    "Expected `preset` to be 'vllm' or 'sglang' or 'llama-server' or 'ollama' or 'lm-studio' or 'transformers' or 'openrouter' or 'gemini' or 'groq' or 'mistral' or 'deepseek' or 'together' or 'fireworks' or 'azure' or 'bedrock' or 'vertex' or 'generic', got `\"vlm\"`. Did you mean 'vllm'?",
  ],
  [{ preset: 'vllm', model: '' }, 'Expected `model` to be the name of a model, got `""`.'],
  [
    { preset: 'vllm', contextLength: 0 },
    'Expected `contextLength` to be an integer from 1 up, got `0`.',
  ],
  [
    { preset: 'vllm', maxReplyBytes: 0.5 },
    'Expected `maxReplyBytes` to be an integer from 1 up, got `0.5`.',
  ],
  [
    { preset: 'vllm', client: {} },
    'Expected `client` to be an object with a method `get`, got one without it.',
  ],
  [
    { preset: 'vllm', client: { get() {}, post() {} }, apiKey: 'sesame' },
    'Expected `apiKey` to be absent beside `client`, which has its own, got both.',
  ],
  [
    { preset: 'vllm', capabilities: 'all' },
    'Expected `capabilities` to be an object, got `"all"`.',
  ],
  [{ preset: 'vllm', retry: true }, 'Expected `retry` to be an object or false, got `true`.'],
])('options %j are refused', (options, message) => {
  expect(() => openaiCompatible(options as OpenAiCompatibleOptions)).toThrow(message);
});
