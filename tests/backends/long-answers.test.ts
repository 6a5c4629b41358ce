import { afterEach, describe, expect, test } from 'vitest';
import { anthropic, openai, openaiCompatible } from '../../src/backends/index.ts';
import type { GenerateRequest, LanguageModel } from '../../src/contracts/language-model.ts';
import { type Emulator, type EmulatorOptions, emulator } from '../../src/testing/index.ts';
import { notedCall, rejectionOf, stubFetch } from './transport/stub-fetch.ts';

const open: Emulator[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** Models of all kinds that stream long answers, each on a server of its own. */
const kinds = {
  anthropic: (baseUrl: string, timeoutMs: number) =>
    anthropic({ model: 'claude-sonnet-5-5', apiKey: 'k', baseUrl, timeoutMs, retry: false }),
  responses: (baseUrl: string, timeoutMs: number) =>
    openai({ model: 'gpt-4.1', api: 'responses', apiKey: 'k', baseUrl, timeoutMs, retry: false }),
  chat: (baseUrl: string, timeoutMs: number) =>
    openai({ model: 'gpt-4.1', api: 'chat', apiKey: 'k', baseUrl, timeoutMs, retry: false }),
  ...Object.fromEntries(
    (['vllm', 'sglang', 'llama-server', 'ollama'] as const).map((preset) => [
      preset,
      (url: string, timeoutMs: number) =>
        openaiCompatible({ preset, model: 'm', baseUrl: `${url}/v1`, timeoutMs, retry: false }),
    ]),
  ),
} as Readonly<Record<string, (url: string, timeoutMs: number) => LanguageModel>>;

const dialects: Readonly<Record<string, EmulatorOptions['dialect']>> = {
  responses: 'openai',
  chat: 'openai',
};

async function served(kind: string, options: Partial<EmulatorOptions> = {}, timeoutMs = 30_000) {
  const dialect = dialects[kind] ?? (kind as EmulatorOptions['dialect']);
  const models = ['claude-sonnet-5-5', 'gpt-4.1', 'm'];
  const server = await emulator({ dialect, models, ...options });
  open.push(server);
  const model = kinds[kind]?.(server.url, timeoutMs) as LanguageModel;
  return { server, model };
}

const messages = [{ role: 'user', content: 'Why?' }] as const;
const long = 20_000;
const names = Object.keys(kinds);

describe.each(names)('a long answer of %s', (kind) => {
  /** What is asked for with few tokens and with many, less what tells two requests apart. */
  async function asked(request: Partial<GenerateRequest>, options: Partial<EmulatorOptions> = {}) {
    const { server, model } = await served(kind, options);
    const ways = [];
    for (const maxTokens of [2000, long]) {
      const { requestId: _, ...told } = await model.generate(
        { messages, ...request, maxTokens },
        notedCall(),
      );
      ways.push(told);
    }
    const streams = server.requests
      .filter(({ body }) => Object(body).messages ?? Object(body).input ?? Object(body).prompt)
      .map(({ body }) => (body as { stream?: boolean }).stream === true);
    return { ways, streams };
  }

  test.each<[string, Partial<GenerateRequest>, EmulatorOptions['answer']]>([
    ['a text', {}, () => 'Because it is so, ä € 🙂, and ends\nhere.'],
    ['thoughts', {}, () => ({ reasoning: 'Hm, so.', text: 'Because.' })],
    [
      'calls of tools',
      { tools: [{ name: 'add', input: { type: 'object' } }] },
      () => ({
        text: 'I add.',
        toolCalls: [
          { name: 'add', input: { a: [1, 'ü'], b: {} } },
          { name: 'add', input: {} },
        ],
      }),
    ],
    ['several samples', { samples: 3 }, ({ sample }) => `Sample ${sample}.`],
    ['log-probabilities', { topLogprobs: 2 }, () => 'Two words.'],
  ])('with %s is the same in pieces', async (_, request, answer) => {
    const { ways, streams } = await asked(request, answer && { answer });
    const [whole, pieces] = ways;
    // What is cached differs the second time.
    expect(pieces?.completions).toEqual(whole?.completions);
    expect(pieces?.usage.inputTokens).toBe(whole?.usage.inputTokens);
    expect(pieces?.usage.outputTokens).toBe(whole?.usage.outputTokens);
    expect(pieces?.answeredBy).toBe(whole?.answeredBy);
    const half = streams.length / 2;
    expect(streams).toEqual(streams.map((_stream, place) => place >= half));
  });

  test('may take longer than its time, as long as more of it comes', async () => {
    const faults = [{ kind: 'trickles', everyMs: 10 } as const];
    const text = 'word '.repeat(50);
    const { model } = await served(kind, { faults, answer: () => text }, 400);
    const start = performance.now();
    const { completions } = await model.generate({ messages, maxTokens: long }, notedCall());
    expect(performance.now() - start).toBeGreaterThan(400);
    expect(completions[0]?.text.trim()).toBe(text.trim());
  });

  test.each([
    ['stall-midway', 'timeout'],
    ['reset-midway', 'network'],
    ['cut-json', 'malformed'],
    ['invalid-utf8', 'malformed'],
    ['empty-body', 'malformed'],
  ] as const)('with the fault %s fails: %s, charged', async (fault, error) => {
    const timeoutMs = fault === 'stall-midway' ? 150 : 30_000;
    const { model } = await served(kind, { faults: [fault] }, timeoutMs);
    const failure = await rejectionOf(model.generate({ messages, maxTokens: long }, notedCall()));
    expect(failure).toMatchObject({ kind: error, charged: true });
  });
});

/** OpenAI's SDK and plain `fetch`. */
const clients = {
  openai: (fetch: typeof globalThis.fetch) =>
    openai({ model: 'gpt-4.1', api: 'chat', apiKey: 'k', fetch, retry: false }),
  openaiCompatible: (fetch: typeof globalThis.fetch) =>
    openaiCompatible({ preset: 'vllm', model: 'm', fetch, retry: false }),
} as const;

describe.each(['openai', 'openaiCompatible'] as const)('a server that %s asks', (client) => {
  const reply = {
    choices: [{ index: 0, message: { content: 'So.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  };

  // What OpenAI answers to organizations that are not verified.
  test('and that refuses streams is asked in one piece from then on', async () => {
    const message = 'Your organization must be verified to stream this model.';
    const error = { message, param: 'stream', code: 'unsupported_value' };
    const { fetch, requests } = stubFetch({ status: 400, json: { error } }, { json: reply });
    const model = clients[client](fetch);
    const call = notedCall();
    for (let calls = 0; calls < 2; calls++) {
      const { completions } = await model.generate({ messages, maxTokens: long }, call);
      expect(completions).toEqual([{ text: 'So.', finishReason: 'stop' }]);
    }
    const streams = requests.map(({ body }) => (body as { stream?: boolean }).stream);
    expect(streams).toEqual([true, undefined, undefined]);
    expect(call.warnings.map(({ about }) => about)).toEqual(['stream']);
  });

  test('and that tells an error within a stream has charged for it', async () => {
    const text = 'data: {"error":{"message":"Busy.","code":"server_error"}}\n\n';
    const headers = { 'content-type': 'text/event-stream' };
    const { fetch } = stubFetch({ text, headers });
    const failure = await rejectionOf(
      clients[client](fetch).generate({ messages, maxTokens: long }, notedCall()),
    );
    expect(failure).toMatchObject({ kind: 'overloaded', charged: true, retryable: true });
  });
});
