import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type OpenAiCompatibleOptions,
  openaiCompatible,
  type ServerPreset,
} from '../../../src/backends/index.ts';
import { languageModel } from '../../../src/backends/language-model.ts';
import type { GenerateRequest } from '../../../src/contracts/language-model.ts';
import { chatReply, notedCall, rejectionOf, stubFetch } from '../transport/stub-fetch.ts';

afterEach(() => void vi.unstubAllEnvs());

const key = 'Zx81.nobody.may.see.this';
const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 8 } as const;
const tools = [{ name: 'look', input: { type: 'object' } }];
const schema = { type: 'object' };

const model = (preset: ServerPreset, options: OpenAiCompatibleOptions = {}) =>
  openaiCompatible({ preset, model: 'm-1', apiKey: key, retry: false, ...options });

/** What is sent to a provider, and what is said of it. */
async function sentBy(
  preset: ServerPreset,
  wish: Partial<GenerateRequest>,
  options: OpenAiCompatibleOptions = {},
) {
  const { fetch, requests } = stubFetch(chatReply('{}'));
  const call = notedCall();
  // One of the two may have to be found in the environment.
  const baseUrl = 'https://host.example/v1';
  await model(preset, { baseUrl, fetch, ...options }).generate({ ...request, ...wish }, call);
  const warnings = call.warnings.map(({ message }) => message);
  return { body: requests[0]?.body as Record<string, unknown>, requests, warnings };
}

const resource = { AZURE_OPENAI_ENDPOINT: 'https://acme.openai.azure.com/' };
const google = { GOOGLE_CLOUD_PROJECT: 'acme-1', GOOGLE_CLOUD_LOCATION: 'europe-west4' };

interface Place {
  readonly name: ServerPreset;
  readonly variable: string;
  readonly base: string;
  /** What else has to be in the environment. */
  readonly others?: Readonly<Record<string, string>>;
}

const places: readonly Place[] = [
  { name: 'openrouter', variable: 'OPENROUTER_API_KEY', base: 'https://openrouter.ai/api/v1' },
  {
    name: 'gemini',
    variable: 'GEMINI_API_KEY',
    base: 'https://generativelanguage.googleapis.com/v1beta/openai',
  },
  { name: 'groq', variable: 'GROQ_API_KEY', base: 'https://api.groq.com/openai/v1' },
  { name: 'mistral', variable: 'MISTRAL_API_KEY', base: 'https://api.mistral.ai/v1' },
  { name: 'deepseek', variable: 'DEEPSEEK_API_KEY', base: 'https://api.deepseek.com' },
  { name: 'together', variable: 'TOGETHER_API_KEY', base: 'https://api.together.ai/v1' },
  {
    name: 'fireworks',
    variable: 'FIREWORKS_API_KEY',
    base: 'https://api.fireworks.ai/inference/v1',
  },
  {
    name: 'azure',
    variable: 'AZURE_OPENAI_API_KEY',
    base: 'https://acme.openai.azure.com/openai/v1',
    others: resource,
  },
  {
    name: 'bedrock',
    variable: 'AWS_BEARER_TOKEN_BEDROCK',
    base: 'https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1',
    others: { AWS_REGION: 'eu-west-1' },
  },
  {
    name: 'vertex',
    variable: 'GOOGLE_OAUTH_ACCESS_TOKEN',
    base: 'https://europe-west4-aiplatform.googleapis.com/v1/projects/acme-1/locations/europe-west4/endpoints/openapi',
    others: google,
  },
];

test.each(places)('$name is reached by a string, with its key from $variable', async (place) => {
  const { name, variable, base, others = {} } = place;
  for (const [other, value] of Object.entries(others)) vi.stubEnv(other, value);
  vi.stubEnv(variable, undefined);
  const { fetch, requests } = stubFetch(chatReply('a'), chatReply('a'), {
    status: 400,
    json: { error: { message: `You sent ${key}-2.` } },
  });
  await using named = await languageModel(`${name}:m-1`, { fetch, retry: false });
  expect(named).toMatchObject({ provider: name, modelId: 'm-1' });
  expect(named.price).toBeUndefined();
  // It is looked for as a request is sent, and not before.
  expect(await rejectionOf(named.generate(request, notedCall()))).toMatchObject({
    code: 'usage',
    scope: 'run',
    message: `${name}:m-1 has no key. Set ${variable}, or name another variable for the key.`,
  });
  vi.stubEnv(variable, `${key}\n`);
  expect((await named.generate(request, notedCall())).completions).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    url: `${base}/chat/completions`,
    headers: { authorization: `Bearer ${key}` },
    body: { model: 'm-1' },
  });
  // A token of an hour is another one an hour later.
  vi.stubEnv(variable, `${key}-2`);
  await named.generate(request, notedCall());
  expect(requests[1]?.headers['authorization']).toBe(`Bearer ${key}-2`);
  const failure = await rejectionOf(named.generate(request, notedCall()));
  expect([failure.message, JSON.stringify(named)].join()).not.toContain(key);
  expect(failure.message).toContain('You sent [hidden]');
  expect(requests).toHaveLength(3);
});

describe('a provider', () => {
  test('sends no key beside a header that holds one', async () => {
    vi.stubEnv('GROQ_API_KEY', undefined);
    const { fetch, requests } = stubFetch(chatReply('a'));
    const headers = { Authorization: 'Bearer other' };
    await openaiCompatible({ preset: 'groq', model: 'm-1', fetch, headers }).generate(
      request,
      notedCall(),
    );
    expect(requests[0]?.headers['authorization']).toBe('Bearer other');
  });

  test.each<[ServerPreset, string, Readonly<Record<string, string | undefined>>]>([
    ['azure', 'AZURE_OPENAI_ENDPOINT', { AZURE_OPENAI_ENDPOINT: undefined }],
    ['bedrock', 'AWS_REGION', { AWS_REGION: undefined }],
    ['vertex', 'GOOGLE_CLOUD_PROJECT', { ...google, GOOGLE_CLOUD_PROJECT: undefined }],
    ['vertex', 'GOOGLE_CLOUD_LOCATION', { ...google, GOOGLE_CLOUD_LOCATION: undefined }],
  ])('%s says that %s is missing', (name, variable, others) => {
    for (const [other, value] of Object.entries(others)) vi.stubEnv(other, value);
    expect(() => openaiCompatible({ preset: name, model: 'm-1' })).toThrow(
      `Expected ${variable} in the environment, or the whole address as \`baseUrl\`, got neither.`,
    );
  });

  test('takes no part of an address that leads the key somewhere else', () => {
    vi.stubEnv('AWS_REGION', 'x.example/');
    expect(() => openaiCompatible({ preset: 'bedrock', model: 'm-1' })).toThrow(
      'Expected AWS_REGION in the environment to be one word of letters, digits and hyphens.',
    );
  });

  test('has to be told the model', () => {
    expect(() => openaiCompatible({ preset: 'groq' })).toThrow(
      'Expected `model` to be the name of a model, got `undefined`.',
    );
  });

  test.each([
    ['https://acme.openai.azure.com', 'https://acme.openai.azure.com/openai/v1'],
    ['https://gateway.example/azure/v1/', 'https://gateway.example/azure/v1'],
  ])('azure at %s', async (baseUrl, base) => {
    const { requests } = await sentBy('azure', {}, { baseUrl });
    expect(requests[0]?.url).toBe(`${base}/chat/completions`);
  });

  test('of no region is at the address without one', async () => {
    vi.stubEnv('GOOGLE_CLOUD_PROJECT', 'acme-1');
    vi.stubEnv('GOOGLE_CLOUD_LOCATION', 'global');
    const { fetch, requests } = stubFetch(chatReply('a'));
    await model('vertex', { fetch }).generate(request, notedCall());
    expect(requests[0]?.url).toBe(
      'https://aiplatform.googleapis.com/v1/projects/acme-1/locations/global/endpoints/openapi/chat/completions',
    );
  });

  test('is not looked at for what servers of one’s own tell', async () => {
    const data = [{ id: 'm-2', context_length: 99 }, { id: 'm-3' }];
    const { fetch, requests } = stubFetch({ json: { data } });
    const found = await model('groq', { fetch }).server();
    expect(found).toEqual({
      preset: 'groq',
      baseUrl: 'https://api.groq.com/openai/v1',
      models: [{ id: 'm-2', contextLength: 99 }, { id: 'm-3' }],
    });
    expect(requests.map(({ url }) => url)).toEqual(['https://api.groq.com/openai/v1/models']);
  });
});

describe('a request to Groq', () => {
  test('asks for one sample at a time, and for no log-probabilities', async () => {
    const { requests, warnings } = await sentBy('groq', { samples: 2, seed: 3, logprobs: true });
    expect(requests.map(({ body }) => body)).toEqual([
      { model: 'm-1', messages: request.messages, max_tokens: 8, seed: expect.any(Number) },
      { model: 'm-1', messages: request.messages, max_tokens: 8, seed: expect.any(Number) },
    ]);
    expect(warnings).toEqual([
      'groq:m-1 does not honour `logprobs`: answers come without log-probabilities.',
    ]);
  });

  test('asks for a schema in words beside tools, and binds it without', async () => {
    const both = await sentBy('groq', { schema, tools });
    expect(both.body).not.toHaveProperty('response_format');
    expect(both.body).toMatchObject({
      tools: [{ function: { name: 'look' } }],
      messages: [
        { content: expect.stringMatching(/^Hi\n\nAnswer with nothing but JSON .*"object"/) },
      ],
    });
    expect(both.warnings).toEqual([
      'groq:m-1 does not support a schema together with tools: there it is requested in words, and may not be followed.',
    ]);
    const alone = await sentBy('groq', { schema });
    expect(alone.body).toMatchObject({ response_format: { type: 'json_schema' } });
    expect(alone.warnings).toEqual([]);
  });

  test('waits where the tier is full', async () => {
    const full = { status: 498, json: { error: { code: 'capacity_exceeded', message: 'Full.' } } };
    const { fetch } = stubFetch(full);
    expect(
      await rejectionOf(model('groq', { fetch }).generate(request, notedCall())),
    ).toMatchObject({ kind: 'overloaded', retryable: true, charged: false });
  });
});

describe('a request to Mistral', () => {
  test('has its own words for a seed and for any tool', async () => {
    const { body } = await sentBy('mistral', { seed: 3, tools, toolChoice: 'required' });
    expect(body).toMatchObject({ random_seed: expect.any(Number), tool_choice: 'any' });
    expect(Object.keys(body)).not.toContain('seed');
    const named = await sentBy('mistral', { tools, toolChoice: { name: 'look' } });
    expect(named.body['tool_choice']).toEqual({ type: 'function', function: { name: 'look' } });
  });

  test('brings thoughts as parts, which are none of the text', async () => {
    const content = [
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'Hm. ' },
          { type: 'text', text: 'Ah.' },
        ],
      },
      { type: 'text', text: 'Yes.' },
    ];
    const { fetch } = stubFetch({
      json: { choices: [{ message: { content }, finish_reason: 'stop' }] },
    });
    const { completions } = await model('mistral', { fetch }).generate(request, notedCall());
    expect(completions).toEqual([{ text: 'Yes.', reasoning: 'Hm. Ah.', finishReason: 'stop' }]);
  });
});

describe('a request to DeepSeek', () => {
  test('asks for JSON by its mode and in words, and forces no tool', async () => {
    const { body, warnings } = await sentBy('deepseek', {
      ...{ schema, tools, seed: 3, samples: 1, toolChoice: 'required' },
    });
    expect(body).toEqual({
      model: 'm-1',
      messages: [
        {
          role: 'user',
          content:
            'Hi\n\nAnswer with nothing but JSON that satisfies this JSON schema: {"type":"object"}\n\nAnswer by calling one of the tools.',
        },
      ],
      max_tokens: 8,
      response_format: { type: 'json_object' },
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    });
    expect(warnings).toHaveLength(3);
  });

  test('tells what came from its cache', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, prompt_cache_hit_tokens: 7 };
    const { json } = chatReply('a');
    const { fetch } = stubFetch({ json: { ...(json as object), usage } });
    const answer = await model('deepseek', { fetch }).generate(request, notedCall());
    expect(answer.usage).toEqual({ inputTokens: 10, outputTokens: 2, cachedTokens: 7 });
  });
});

describe('a request to Gemini', () => {
  test.each([
    ['seed', { seed: 3 }],
    ['logprobs', { logprobs: true }],
  ] as const)('is sent again without `%s`, which is refused', async (name, wish) => {
    const { fetch, requests } = stubFetch(({ body }) =>
      name in (body as object)
        ? {
            status: 400,
            json: {
              error: {
                code: 400,
                message: `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
                status: 'INVALID_ARGUMENT',
              },
            },
          }
        : chatReply('a'),
    );
    const call = notedCall();
    await model('gemini', { fetch }).generate({ ...request, ...wish }, call);
    expect(requests).toHaveLength(2);
    expect(call.warnings).toMatchObject([{ about: name }]);
  });
});

describe('a request to OpenRouter', () => {
  test.each<[string, Partial<GenerateRequest>, boolean]>([
    ['a schema', { schema }, true],
    ['tools', { tools }, true],
    ['log-probabilities', { logprobs: true }, true],
    [
      'nothing but a temperature, a seed and stop texts',
      { temperature: 1, seed: 1, stop: ['.'] },
      false,
    ],
  ])('with %s', async (_, wish, isRequired) => {
    const { body } = await sentBy('openrouter', wish);
    expect(body['provider']).toEqual(isRequired ? { require_parameters: true } : undefined);
  });

  test('keeps the wishes for hosts of its user', async () => {
    const provider = { order: ['acme'], require_parameters: false };
    const { body } = await sentBy('openrouter', { schema }, { extraBody: { provider } });
    expect(body['provider']).toEqual({ order: ['acme'], require_parameters: true });
  });

  test('requires nothing any more where there is no such host, and says so', async () => {
    const { fetch, requests } = stubFetch(({ body }) =>
      'provider' in (body as object)
        ? {
            status: 404,
            json: {
              error: {
                code: 404,
                message: 'No endpoints found that can handle the requested parameters.',
              },
            },
          }
        : chatReply('{}'),
    );
    const call = notedCall();
    await model('openrouter', { fetch }).generate({ ...request, schema }, call);
    expect(requests).toHaveLength(2);
    expect(call.warnings.map(({ message }) => message)).toEqual([
      'openrouter:m-1 does not honour `hosts`: no host supports everything requested, and hosts ignore what they do not support.',
    ]);
  });

  test.each([
    [{ cost: 0.25 }, 0.25],
    [{ cost: 0.01, is_byok: true }, undefined],
  ])('tells what was charged: %j', async (told, usd) => {
    const { json } = chatReply('a');
    const usage = { prompt_tokens: 10, completion_tokens: 2, ...told };
    const { fetch } = stubFetch({ json: { ...(json as object), usage } });
    const answer = await model('openrouter', { fetch }).generate(request, notedCall());
    expect(answer.usage.usd).toBe(usd);
  });
});

describe('a request to Together', () => {
  test.each([
    [{ logprobs: true }, 1],
    [{ topLogprobs: 3 }, 3],
    [{}, undefined],
  ])('says of how many tokens the log-probabilities are: %j', async (wish, count) => {
    const { body } = await sentBy('together', wish);
    expect([body['logprobs'], body['top_logprobs']]).toEqual([count, undefined]);
  });
});

test('a request to Azure has the newer name of the limit', async () => {
  const { body, warnings } = await sentBy('azure', {});
  expect(body).toEqual({ model: 'm-1', messages: request.messages, max_completion_tokens: 8 });
  expect(warnings).toEqual([]);
});
