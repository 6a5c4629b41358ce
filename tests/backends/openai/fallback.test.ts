import { describe, expect, test } from 'vitest';
import { type OpenAiOptions, openai } from '../../../src/backends/index.ts';
import {
  chatReply,
  notedCall,
  rejectionOf,
  type StubReply,
  stubFetch,
} from '../transport/stub-fetch.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 99 } as const;
const missing = (status: number): StubReply => ({ status, json: { error: { message: 'No.' } } });

/** A server without the Responses API. */
function served(status: number, options: Partial<OpenAiOptions> = {}, chat = chatReply('a')) {
  const { fetch, requests } = stubFetch(({ url }) =>
    url.endsWith('/responses') ? missing(status) : chat,
  );
  const baseUrl = 'https://gateway.example/v1';
  const reached = {
    model: 'gpt-6-luna',
    apiKey: 'sk-abcdef',
    baseUrl,
    fetch,
    retry: false,
  } as const;
  const paths = () => requests.map(({ url }) => url.replace(`${baseUrl}/`, ''));
  return { model: openai({ ...reached, ...options }), paths };
}

describe('a server without the Responses API', () => {
  test.each([404, 405, 501])('that answers %d is asked by chat from then on', async (status) => {
    const { model, paths } = served(status);
    const call = notedCall();
    const first = await model.generate(request, call);
    expect(first.completions).toEqual([{ text: 'a', finishReason: 'stop' }]);
    await model.generate(request, call);
    expect(paths()).toEqual(['responses', 'chat/completions', 'chat/completions']);
    expect(call.warnings).toEqual([
      {
        model: 'openai:gpt-6-luna',
        about: 'responses',
        message:
          'openai:gpt-6-luna has no Responses API at its address: Chat Completions is used from now on.',
      },
    ]);
  });

  test('that has no such model either says so, and is asked again both ways', async () => {
    const { model, paths } = served(404, {}, missing(404));
    const call = notedCall();
    for (let calls = 0; calls < 2; calls++) {
      expect(await rejectionOf(model.generate(request, call))).toMatchObject({
        kind: 'bad-request',
        status: 404,
      });
    }
    expect(paths()).toEqual(['responses', 'chat/completions', 'responses', 'chat/completions']);
    expect(call.warnings).toEqual([]);
  });

  test.each<[string, number, Partial<OpenAiOptions>]>([
    ['that is busy', 503, {}],
    ['where that API was asked for', 404, { api: 'responses' }],
    // At OpenAI's own address it is there, and something else is missing.
    ['that is OpenAI', 404, { baseUrl: undefined as never }],
  ])('%s is not asked by chat', async (_, status, options) => {
    const { model, paths } = served(status, options);
    expect(await rejectionOf(model.generate(request, notedCall()))).toMatchObject({ status });
    expect(paths()).toHaveLength(1);
  });
});

describe('a tier of service', () => {
  test('is asked for in both APIs, and told as it was served', async () => {
    const response = {
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'a' }] }],
      usage: { input_tokens: 10, output_tokens: 2 },
    };
    const { fetch, requests } = stubFetch(({ url }) => {
      const json = url.endsWith('/responses') ? response : (chatReply('a').json as object);
      return { json: { ...json, service_tier: 'priority' } };
    });
    for (const api of ['chat', 'responses'] as const) {
      const options = { model: 'gpt-6-luna', apiKey: 'sk-abcdef', fetch, api } as const;
      const model = openai({ ...options, serviceTier: 'fast' });
      const { usage } = await model.generate(request, notedCall());
      expect(usage).toEqual({ inputTokens: 10, outputTokens: 2, serviceTier: 'priority' });
      expect(model.settings).toMatchObject({ api, serviceTier: 'fast' });
    }
    expect(requests.map(({ body }) => body)).toMatchObject([
      { service_tier: 'fast' },
      { service_tier: 'fast' },
    ]);
    expect(() => openai({ model: 'gpt-6-luna', serviceTier: 'cheap' as never })).toThrow(
      "Expected `serviceTier` to be 'auto' or 'default' or 'flex' or 'priority' or 'fast' or 'ultrafast'",
    );
  });
});

describe.each(['chat', 'responses'] as const)(
  'a schema that OpenAI refuses in the API %s',
  (api) => {
    const response = {
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: '{}' }] }],
      usage: { input_tokens: 10, output_tokens: 2 },
    };
    const answered: StubReply = api === 'chat' ? chatReply('{}') : { json: response };
    const schema = { type: 'object', properties: {}, additionalProperties: false } as const;

    async function asked(message: string, param: string, asking: object) {
      const refusal = {
        status: 400,
        json: { error: { message, param, code: 'invalid_json_schema' } },
      };
      const { fetch, requests } = stubFetch(refusal, answered);
      const model = openai({ model: 'gpt-4o', apiKey: 'sk-abcdef', fetch, retry: false, api });
      const call = notedCall();
      for (let calls = 0; calls < 2; calls++) await model.generate({ ...request, ...asking }, call);
      const about = call.warnings.map((warning) => warning.about);
      return { bodies: requests.map(({ body }) => JSON.stringify(body)), about };
    }

    test('for answers is told in words from then on', async () => {
      const param = api === 'chat' ? 'response_format' : 'text.format.schema';
      const message =
        "Invalid schema for response_format 'answer': In context=(), 'x' is not permitted.";
      const { bodies, about } = await asked(message, param, { schema });
      expect(bodies.map((body) => body.includes('json_schema'))).toEqual([true, false, false]);
      expect(bodies.map((body) => body.includes('this JSON schema'))).toEqual([false, true, true]);
      expect(about).toEqual(['schema']);
    });

    test('for the input of a tool is no longer kept strictly', async () => {
      const message = "Invalid schema for function 'add': In context=(), 'x' is not permitted.";
      const tools = [{ name: 'add', input: schema }];
      const { bodies, about } = await asked(message, 'tools[0].parameters', { tools });
      expect(bodies.map((body) => body.includes('"strict":true'))).toEqual([true, false, false]);
      expect(about).toEqual(['strictTools']);
    });
  },
);
