import { OpenAI } from 'openai';
import { describe, expect, test } from 'vitest';
import { type OpenAiClient, type OpenAiOptions, openai } from '../../../src/backends/index.ts';
import type { GenerateRequest } from '../../../src/index.ts';
import { emulator } from '../../../src/testing/emulator/emulator.ts';
import type { Fault } from '../../../src/testing/emulator/faults.ts';
import {
  chatReply,
  notedCall,
  rejectionOf,
  type StubReply,
  stubFetch,
} from '../transport/stub-fetch.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 99 } as const;

/** The answer of the Responses API in these fields. */
async function answered(fields: object, wish: Partial<GenerateRequest> = {}) {
  const { fetch } = stubFetch({ json: { status: 'completed', ...fields } });
  const model = openai({
    model: 'gpt-4o',
    api: 'responses',
    apiKey: 'sk-abcdef',
    fetch,
    retry: false,
  });
  const call = notedCall();
  const generation = await model.generate({ ...request, ...wish }, call);
  return { ...generation, warnings: call.warnings.map(({ message }) => message) };
}

const message = (...content: readonly object[]) => ({ type: 'message', content });
const said = (text: string, more: object = {}) => ({ type: 'output_text', text, ...more });

describe('an answer of the Responses API', () => {
  test('is read with its thoughts, its usage and its names', async () => {
    expect(
      await answered({
        id: 'resp_1',
        model: 'gpt-4o-2026',
        output: [
          { type: 'reasoning', summary: [{ text: 'First.' }, { text: 'Then.' }] },
          message(said('Hel'), said('lo')),
        ],
        usage: {
          input_tokens: 30,
          input_tokens_details: { cached_tokens: 20, cache_write_tokens: 5 },
          output_tokens: 12,
          output_tokens_details: { reasoning_tokens: 8 },
        },
      }),
    ).toEqual({
      completions: [{ text: 'Hello', finishReason: 'stop', reasoning: 'First.\n\nThen.' }],
      usage: {
        inputTokens: 30,
        cachedTokens: 20,
        cacheWriteTokens: 5,
        outputTokens: 12,
        reasoningTokens: 8,
      },
      answeredBy: 'gpt-4o-2026',
      requestId: 'resp_1',
      warnings: [],
    });
  });

  test.each<[object, string]>([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'refusal'],
    [{ status: 'incomplete', incomplete_details: null }, 'other'],
    [{ status: 'cancelled' }, 'other'],
  ])('with %j ends as %s', async (fields, expected) => {
    const { completions } = await answered({ output: [message(said('a'))], ...fields });
    expect(completions).toEqual([{ text: 'a', finishReason: expected }]);
  });

  test('may be cut off before a word is written', async () => {
    const details = { reason: 'max_output_tokens' };
    const { completions } = await answered({
      output: [],
      status: 'incomplete',
      incomplete_details: details,
    });
    expect(completions).toEqual([{ text: '', finishReason: 'length' }]);
  });

  test('that declines is a refusal, and no error', async () => {
    const output = [message({ type: 'refusal', refusal: 'I will not.' })];
    expect((await answered({ output })).completions).toEqual([
      { text: 'I will not.', finishReason: 'refusal' },
    ]);
  });
});

describe('an answer of the Responses API, where it was asked for more,', () => {
  test('calls tools', async () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' };
    expect((await answered({ output: [call] })).completions).toEqual([
      { text: '', finishReason: 'tool', toolCalls: [{ id: 'c1', name: 'add', input: { a: 1 } }] },
    ]);
    const broken = await answered({ output: [{ ...call, arguments: '{"a"' }] });
    expect(broken.completions).toEqual([{ text: '', finishReason: 'other' }]);
    expect(broken.warnings).toEqual([
      'openai:gpt-4o called a tool with an input that is not JSON: the call is left out.',
    ]);
  });

  test('has log-probabilities where they were asked for', async () => {
    const logprobs = [{ token: 'a', logprob: -0.5, top_logprobs: [{ token: 'a', logprob: -0.5 }] }];
    const output = [message(said('a', { logprobs }))];
    expect((await answered({ output }, { topLogprobs: 1 })).completions[0]?.logprobs).toEqual([
      { token: 'a', logprob: -0.5, top: [{ token: 'a', logprob: -0.5 }] },
    ]);
    expect((await answered({ output })).completions[0]).not.toHaveProperty('logprobs');
  });

  test('is cut off here at stop texts', async () => {
    const { completions, warnings } = await answered(
      { output: [message(said('one. two'))] },
      { stop: ['.'] },
    );
    expect(completions).toEqual([{ text: 'one', finishReason: 'stop' }]);
    expect(warnings).toEqual([
      'openai:gpt-4o does not honour `stop`: answers are cut off locally instead.',
    ]);
  });
});

/** What a request comes to where the service answers so. */
function failureOf(reply: StubReply | Error, options: Partial<OpenAiOptions> = {}): Promise<Error> {
  const { fetch } = stubFetch(reply);
  const model = openai({ model: 'gpt-4o', apiKey: 'sk-abcdef', fetch, retry: false, ...options });
  return rejectionOf(model.generate(request, notedCall()));
}

describe('a service that is not as it should be', () => {
  test.each<[string, StubReply | Error, string]>([
    [
      'refuses the key',
      {
        status: 401,
        json: {
          error: { message: 'Incorrect API key provided: sk-abc**def.', code: 'invalid_api_key' },
        },
      },
      'openai:gpt-4o refuses the key (401: Incorrect API key provided: [hidden]). Check the key and what it may use.',
    ],
    [
      'does not know the model',
      {
        status: 404,
        json: { error: { message: 'The model `gpt-4o` does not exist', code: 'model_not_found' } },
      },
      "openai:gpt-4o does not know this model or path (404: The model `gpt-4o` does not exist). Check the model's name, and whether the base URL ends as the server expects, usually with /v1.",
    ],
    ['answers with nothing', { text: '' }, 'openai:gpt-4o answered with an empty reply.'],
    [
      'answers with a web page',
      { text: '<html></html>', headers: { 'content-type': 'text/html' } },
      'openai:gpt-4o answered with a web page instead of JSON.',
    ],
    [
      'answers in another language',
      { text: 'Hi', headers: { 'content-type': 'text/plain' } },
      'openai:gpt-4o answered with JSON that is broken or cut off.',
    ],
    [
      'answers with JSON that ends too soon',
      { text: '{"output":[' },
      'openai:gpt-4o answered with JSON that is broken or cut off.',
    ],
    [
      'answers in another shape',
      { json: { choices: [] } },
      'openai:gpt-4o answered with JSON with another structure: it has no `output`.',
    ],
    [
      'answers without an answer',
      { json: { status: 'completed', output: [] } },
      'openai:gpt-4o answered with no output at all.',
    ],
    [
      'fails on its way',
      { json: { status: 'failed', error: { code: 'server_error', message: 'Oops.' }, output: [] } },
      'openai:gpt-4o is busy or not ready (server_error: Oops). Try again later.',
    ],
    [
      'cannot be reached',
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
      }),
      'openai:gpt-4o cannot be reached (ECONNREFUSED fetch failed). Check the address, and that the server runs.',
    ],
  ])('%s', async (_what, reply, sentence) => {
    expect((await failureOf(reply)).message).toBe(sentence);
  });

  test('says more than anybody reads', async () => {
    expect(
      (await failureOf({ text: `"${'x'.repeat(999)}"` }, { maxReplyBytes: 100 })).message,
    ).toBe('openai:gpt-4o answered with more than 100 bytes, the limit of a reply.');
  });

  test('fails for a limit of requests that was exceeded on the way', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    expect(await failureOf({ json: { status: 'failed', error } })).toMatchObject({
      kind: 'rate-limit',
      retryable: true,
      charged: true,
    });
  });
});

/** The failure of one request to an emulator with a fault. */
async function failureWith(fault: Fault, options: Partial<OpenAiOptions>) {
  const server = await emulator({ dialect: 'openai', models: ['gpt-4o'], faults: [fault] });
  const model = openai({
    ...{ model: 'gpt-4o', apiKey: 'sk-abcdef', baseUrl: server.url, retry: false },
    ...{ maxReplyBytes: 100_000, ...options },
  });
  const error = await rejectionOf(model.generate(request, notedCall()));
  const { requests } = server.account;
  await server.close();
  return { error, requests };
}

describe.each(['chat', 'responses'] as const)('a service with a fault (%s)', (api) => {
  test.each<[Fault, string, boolean]>([
    ['auth', 'auth', false],
    ['unknown-model', 'bad-request', false],
    ['overloaded', 'overloaded', false],
    ['server-error', 'overloaded', false],
    ['top-level-error', 'bad-request', false],
    ['context-overflow', 'context-length', false],
    [{ kind: 'rate-limited' }, 'rate-limit', false],
    ['reset', 'network', true],
    ['reset-midway', 'network', true],
    ['cut-json', 'malformed', true],
    ['empty', 'malformed', true],
    ['empty-body', 'malformed', true],
    ['invalid-utf8', 'malformed', true],
    ['wrong-content-type', 'malformed', true],
    ['wrong-language', 'malformed', true],
    [{ kind: 'gigantic', bytes: 1_000_000 }, 'malformed', true],
  ])('%j is an error of kind %s, after one attempt', async (fault, kind, charged) => {
    const { error, requests } = await failureWith(fault, { api });
    expect(error).toMatchObject({ kind, charged });
    expect(requests).toBe(1);
  });

  test.each<[Fault]>([['stall'], ['stall-midway']])('%s is a time-out', async (fault) => {
    const { error } = await failureWith(fault, { api, timeoutMs: 50 });
    expect(error).toMatchObject({ kind: 'timeout', charged: true });
  });

  test('an abandoned request is closed', async () => {
    const server = await emulator({ dialect: 'openai', models: ['gpt-4o'], faults: ['stall'] });
    const model = openai({
      model: 'gpt-4o',
      api,
      apiKey: 'sk-abcdef',
      baseUrl: server.url,
      retry: false,
    });
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const asking = model.generate(request, notedCall({ signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(reason);
    expect(await rejectionOf(asking)).toBe(reason);
    await expect.poll(() => server.account).toMatchObject({ aborted: 1, inFlight: 0 });
    await server.close();
  });
});

test.each(['chat', 'responses'] as const)(
  'headers tell the name of a request (%s)',
  async (api) => {
    const headers = { 'x-request-id': 'req_9', ...limited };
    const { fetch } = stubFetch(
      api === 'chat'
        ? { ...chatReply('a'), headers }
        : { json: { id: 'resp_1', status: 'completed', output: [message(said('a'))] }, headers },
      { status: 429, json: {}, headers },
    );
    const model = openai({ model: 'gpt-4o', api, apiKey: 'sk-abcdef', fetch, retry: false });
    const call = notedCall();
    expect((await model.generate(request, call)).requestId).toBe('req_9');
    expect(await rejectionOf(model.generate(request, call))).toMatchObject({ requestId: 'req_9' });
    const told = { tokens: { remaining: 7, resetMs: 12 } };
    expect(call.told).toEqual([told, told]);
  },
);

const limited = { 'x-ratelimit-remaining-tokens': '7', 'x-ratelimit-reset-tokens': '12ms' };

describe('what a service refuses', () => {
  test.each([
    ['temperature', { temperature: 0.5 }],
    ['n', { samples: 2 }],
    ['stop', { stop: ['~'] }],
    ['logprobs', { logprobs: true }],
    ['response_format', { schema: { type: 'object' } }],
    ['seed', { seed: 1 }],
  ])('is left out from then on: %s', async (parameter, wish) => {
    const faults = [{ kind: 'rejects-parameter', parameter }] as const;
    const server = await emulator({ dialect: 'openai', models: ['gpt-4o'], faults });
    const model = openai({
      model: 'gpt-4o',
      api: 'chat',
      apiKey: 'sk-abcdef',
      baseUrl: server.url,
      retry: false,
    });
    const call = notedCall();
    for (let calls = 0; calls < 2; calls++) await model.generate({ ...request, ...wish }, call);
    const sent = server.requests.map(({ body }) => Object.hasOwn(body as object, parameter));
    await server.close();
    expect(sent.filter((isThere) => isThere)).toHaveLength(1);
    expect(call.warnings.map(({ about }) => about)).toHaveLength(1);
  });
});

describe("a client of the user's own", () => {
  test('is used, without its own retries, and keeps its key', async () => {
    const { fetch, requests } = stubFetch({
      status: 500,
      json: { error: { message: 'my-own-word' } },
    });
    const client: OpenAiClient = new OpenAI({
      apiKey: 'my-own-word',
      baseURL: 'http://host/v1',
      fetch,
    });
    const model = openai({ model: 'gpt-4o', client, retry: false });
    const error = await rejectionOf(model.generate(request, notedCall()));
    expect(error.message).toBe(
      'openai:gpt-4o is busy or not ready (500: [hidden]). Try again later.',
    );
    expect(requests).toHaveLength(1);
  });

  test('may hand out what is no JSON', async () => {
    for (const page of ['<html></html>', '']) {
      const { fetch } = stubFetch({ text: page, headers: { 'content-type': 'text/html' } });
      const client = new OpenAI({ apiKey: 'my-own-word', baseURL: 'http://host/v1', fetch });
      const model = openai({ model: 'gpt-4o', client, api: 'chat', retry: false });
      expect(await rejectionOf(model.generate(request, notedCall()))).toMatchObject({
        kind: 'malformed',
        message:
          page === ''
            ? 'openai:gpt-4o answered with an empty reply.'
            : 'openai:gpt-4o answered with a web page instead of JSON.',
      });
    }
  });

  test('may have been wrapped, and may know Chat Completions only', async () => {
    const asked: unknown[] = [];
    const client: OpenAiClient = {
      chat: {
        completions: {
          create: async (body) => {
            asked.push(body);
            return chatReply('a').json;
          },
        },
      },
    };
    const { completions } = await openai({ model: 'gpt-4o', client }).generate(
      request,
      notedCall(),
    );
    expect(completions).toEqual([{ text: 'a', finishReason: 'stop' }]);
    expect(asked).toMatchObject([{ model: 'gpt-4o', max_completion_tokens: 99 }]);
  });
});
