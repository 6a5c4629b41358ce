import { describe, expect, test } from 'vitest';
import { type OpenAiOptions, openai } from '../../../src/backends/index.ts';
import { isStrict } from '../../../src/backends/openai/strict-schema.ts';
import { seedOf } from '../../../src/backends/transport/seeds.ts';
import type { GenerateRequest, JsonValue } from '../../../src/index.ts';
import { chatReply, notedCall, stubFetch } from '../transport/stub-fetch.ts';

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
] as const;

const response = {
  json: {
    id: 'resp_1',
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'a' }] }],
  },
};

/** The same as a stream, whose last event is all that is read of it. */
const streamed = {
  headers: { 'content-type': 'text/event-stream' },
  text: `data: ${JSON.stringify({ type: 'response.completed', response: response.json })}\n\n`,
};

/** What is sent for a request, and what is warned of. */
async function sentFor(
  options: Partial<OpenAiOptions>,
  request: Partial<GenerateRequest> = {},
  run?: string,
) {
  const { fetch, requests } = stubFetch(({ url, body }) => {
    const { stream = false } = body as { stream?: boolean };
    if (url.endsWith('/responses')) return stream ? streamed : response;
    const { n = 1 } = body as { n?: number };
    return chatReply(...Array.from({ length: n }, () => '{}'));
  });
  const model = openai({
    ...{ model: 'gpt-4o', apiKey: 'sk-abcdef', fetch, retry: false, thoughtTokens: 0 },
    ...options,
  });
  const call = notedCall(run === undefined ? {} : { run });
  await model.generate({ messages, maxTokens: 99, ...request }, call);
  return {
    requests,
    paths: requests.map(({ url }) => new URL(url).pathname),
    bodies: requests.map(({ body }) => body),
    about: call.warnings.map(({ about }) => about),
  };
}

const chat = (system = 'system') => ({
  messages: [
    { role: system, content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
  max_completion_tokens: 99,
});
const responses = (system = 'system') => ({
  input: [
    { role: system, content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
  max_output_tokens: 99,
  store: false,
});

describe('a request', () => {
  test('goes to OpenAI with the key, the account and the index of its sample', async () => {
    const { requests } = await sentFor(
      { organization: 'org-1', project: 'proj-1', headers: { 'X-Team': 'tree' } },
      { offset: 2 },
    );
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      url: 'https://api.openai.com/v1/responses',
      method: 'POST',
      headers: {
        authorization: 'Bearer sk-abcdef',
        'openai-organization': 'org-1',
        'openai-project': 'proj-1',
        'x-espalier-sample': '2',
        'x-team': 'tree',
      },
    });
  });

  test.each([
    ['http://host', 'http://host/v1/responses'],
    ['http://host/v1/', 'http://host/v1/responses'],
    ['http://host/openai', 'http://host/openai/responses'],
  ])('goes to %s at %s', async (baseUrl, url) => {
    expect((await sentFor({ baseUrl })).requests[0]?.url).toBe(url);
  });

  test('has the key of its search for caches', async () => {
    const run = 'x'.repeat(70);
    for (const api of ['chat', 'responses'] as const) {
      expect((await sentFor({ api }, {}, run)).bodies[0]).toMatchObject({
        prompt_cache_key: 'x'.repeat(64),
      });
    }
  });

  test.each<[string, Partial<GenerateRequest>, string]>([
    ['nothing special', { temperature: 0.5, topP: 0.5 }, 'responses'],
    ['several samples', { samples: 2 }, 'chat/completions'],
    ['a seed', { seed: 1 }, 'chat/completions'],
    ['stop texts', { stop: ['.'] }, 'chat/completions'],
    ['log-probabilities', { logprobs: true }, 'chat/completions'],
    ['very few tokens', { maxTokens: 15 }, 'chat/completions'],
    ['few tokens', { maxTokens: 16 }, 'responses'],
    ['tools', { tools: [{ name: 't', input: {} }] }, 'responses'],
    ['tools and samples', { tools: [{ name: 't', input: {} }], samples: 2 }, 'chat/completions'],
  ])('with %s goes where that is taken', async (_what, request, path) => {
    expect((await sentFor({}, request)).paths).toEqual([`/v1/${path}`]);
  });

  test('with tools and samples goes to Responses in parts where chat takes no tools', async () => {
    const tools = [{ name: 't', input: {} }];
    const { paths, requests, about } = await sentFor(
      { model: 'gpt-6-luna' },
      { tools, samples: 2, offset: 3 },
    );
    // That `n` is not to be had here says nothing of Chat Completions.
    expect(about).toEqual([]);
    expect(paths).toEqual(['/v1/responses', '/v1/responses']);
    expect(requests.map(({ headers }) => headers['x-espalier-sample'])).toEqual(['3', '4']);
    expect(
      (await sentFor({ model: 'gpt-6-luna', api: 'chat' }, { tools, samples: 2 })).paths,
    ).toEqual(['/v1/chat/completions']);
  });
});

const schema = {
  type: 'object',
  properties: { a: { type: 'number' } },
  required: ['a'],
  additionalProperties: false,
};
const loose = { type: 'object', properties: { a: { type: 'number' } } };
const tools = [{ name: 'add', description: 'Adds.', input: loose }];

describe('the body for Chat Completions', () => {
  test('holds all that a model without thoughts takes', async () => {
    const { bodies, about } = await sentFor(
      { api: 'chat' },
      {
        ...{ samples: 2, offset: 4, temperature: 0.5, topP: 0.9, seed: 7 },
        ...{ stop: ['1', '2', '3', '4', '5'], topLogprobs: 2, schema },
      },
    );
    expect(bodies).toEqual([
      {
        model: 'gpt-4o',
        ...chat(),
        n: 2,
        temperature: 0.5,
        top_p: 0.9,
        stop: ['1', '2', '3', '4'],
        seed: seedOf(7, 4),
        logprobs: true,
        top_logprobs: 2,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema, strict: true },
        },
      },
    ]);
    // The answers of this test have no log-probabilities.
    expect(about).toEqual(['logprobs']);
  });

  test('holds tools, bound to their schemas where these are strict', async () => {
    const { bodies } = await sentFor(
      { api: 'chat' },
      { tools: [...tools, { name: 'sub', input: schema }], toolChoice: { name: 'add' } },
    );
    const [add, sub] = [
      { name: 'add', description: 'Adds.', parameters: loose, strict: false },
      { name: 'sub', parameters: schema, strict: true },
    ];
    expect(bodies).toEqual([
      {
        model: 'gpt-4o',
        ...chat(),
        tools: [
          { type: 'function', function: add },
          { type: 'function', function: sub },
        ],
        tool_choice: { type: 'function', function: { name: 'add' } },
      },
    ]);
  });

  test('holds nothing that a reasoning model refuses', async () => {
    const { bodies, about } = await sentFor(
      { model: 'o3', api: 'chat', reasoningEffort: 'low' },
      { temperature: 0.5, topP: 0.9, topK: 4, stop: ['.'], logprobs: true, seed: 7 },
    );
    expect(bodies).toEqual([
      { model: 'o3', ...chat('developer'), seed: seedOf(7, 0), reasoning_effort: 'low' },
    ]);
    expect(about.toSorted()).toEqual(['logprobs', 'stop', 'temperature', 'topK', 'topP']);
  });

  test('says nothing of a temperature that is the default', async () => {
    const { bodies, about } = await sentFor(
      { model: 'o3', api: 'chat' },
      { temperature: 1, topP: 1 },
    );
    expect(bodies).toEqual([{ model: 'o3', ...chat('developer') }]);
    expect(about).toEqual([]);
  });
});

describe('the body for the Responses API', () => {
  test('holds all that it takes', async () => {
    const { bodies, about } = await sentFor(
      { api: 'responses', model: 'gpt-5.1', reasoningEffort: 'none' },
      { temperature: 0.5, topP: 0.9, topLogprobs: 2, schema, tools, toolChoice: { name: 'add' } },
    );
    expect(bodies).toEqual([
      {
        model: 'gpt-5.1',
        ...responses('developer'),
        temperature: 0.5,
        top_p: 0.9,
        include: ['message.output_text.logprobs'],
        top_logprobs: 2,
        text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
        tools: [
          { type: 'function', name: 'add', description: 'Adds.', parameters: loose, strict: false },
        ],
        tool_choice: { type: 'function', name: 'add' },
        reasoning: { effort: 'none' },
      },
    ]);
    expect(about.toSorted()).toEqual(['logprobs', 'schema']);
  });

  test('does without what it does not take', async () => {
    const { bodies, about } = await sentFor(
      { api: 'responses' },
      { stop: ['.'], seed: 7, topK: 4, samples: 2 },
    );
    const body = { model: 'gpt-4o', ...responses() };
    expect(bodies).toEqual([body, body]);
    expect(about.toSorted()).toEqual(['seed', 'stop', 'topK']);
  });
});

describe('a conversation for the Responses API', () => {
  test('holds no seed, and says so, though the other API is still asked for it', async () => {
    const { fetch, requests } = stubFetch(({ url }) =>
      url.endsWith('/responses') ? response : chatReply('a'),
    );
    const model = openai({
      ...{ model: 'gpt-6-luna', apiKey: 'sk-abcdef', fetch, retry: false },
    });
    const call = notedCall();
    await model.generate({ messages, tools, seed: 1 }, call);
    expect(call.warnings.map((warning) => warning.message)).toEqual([
      'openai:gpt-6-luna takes no seed in the Responses API: samples differ from run to run.',
    ]);
    await model.generate({ messages, seed: 1 }, call);
    expect(requests[1]).toMatchObject({ body: { seed: seedOf(1, 0) } });
    expect(call.warnings).toHaveLength(1);
  });

  test('has calls of tools and their results as items of their own', async () => {
    const toolCalls = [{ id: 'c1', name: 'add', input: { a: 1 } }];
    const { bodies } = await sentFor(
      { api: 'responses' },
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Let me see.', toolCalls },
          { role: 'tool', content: '1', toolCallId: 'c1' },
          { role: 'assistant', content: '', toolCalls },
          { role: 'tool', content: '2', toolCallId: 'c1' },
        ],
      },
    );
    const called = { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' };
    expect(bodies).toMatchObject([
      {
        input: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Let me see.' },
          called,
          { type: 'function_call_output', call_id: 'c1', output: '1' },
          called,
          { type: 'function_call_output', call_id: 'c1', output: '2' },
        ],
      },
    ]);
  });

  test('tells the beginning of an answer in the question', async () => {
    const begun = [...messages, { role: 'assistant', content: 'Well, ' }] as const;
    const { bodies, about } = await sentFor({}, { messages: begun });
    expect(bodies).toMatchObject([
      {
        input: [
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            content:
              'Hi\n\nYour answer has already begun, with the text below. Go on exactly where it stops: do not repeat it, and do not comment on it.\n\nWell, ',
          },
        ],
      },
    ]);
    expect(about).toEqual(['continuation']);
  });
});

/** A closed object that requires all of its properties. */
function closed(properties: object): JsonValue {
  const required = Object.keys(properties);
  return { type: 'object', properties, required, additionalProperties: false } as JsonValue;
}

function levels(count: number): JsonValue {
  return count === 0 ? { type: 'string' } : closed({ a: levels(count - 1) });
}

const many = (count: number) => Array.from({ length: count }, (_, place) => `n${place}`);

test.each<[string, JsonValue, boolean]>([
  ['10 levels', levels(10), true],
  ['11 levels', levels(11), false],
  ['5000 properties', closed(Object.fromEntries(many(5000).map((name) => [name, {}]))), true],
  ['5001 properties', closed(Object.fromEntries(many(5001).map((name) => [name, {}]))), false],
  ['1000 values', closed({ a: { enum: many(500) }, b: { enum: many(500) } }), true],
  ['1001 values', closed({ a: { enum: many(500) }, b: { enum: many(501) } }), false],
  // With the name `a`.
  ['120000 characters', closed({ a: { enum: ['x'.repeat(119_999)] } }), true],
  ['120001 characters', closed({ a: { enum: ['x'.repeat(120_000)] } }), false],
])('a schema of %s is strict: %#', (_, candidate, expected) => {
  expect(isStrict(candidate)).toBe(expected);
});

describe.each(['chat', 'responses'] as const)('a schema in the API %s', (api) => {
  test.each<[string, JsonValue]>([
    ['a list', { type: 'array', items: schema }],
    ['a text', { type: 'string' }],
    ['a union', { anyOf: [schema, { type: 'null' }] }],
    ['a union of objects', { type: 'object', oneOf: [schema] }],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: schema } }],
  ])('for %s is told in words, with a warning', async (_, root) => {
    const { bodies, about } = await sentFor({ api }, { schema: root });
    expect(bodies).toHaveLength(1);
    expect(Object.keys(Object(bodies[0]))).not.toContain('response_format');
    expect(Object.keys(Object(bodies[0]))).not.toContain('text');
    expect(JSON.stringify(bodies[0])).toContain('satisfies this JSON schema');
    expect(about).toEqual(['schema']);
  });
});

test.each<[unknown, boolean]>([
  [schema, true],
  [loose, false],
  [{ ...schema, required: [] }, false],
  [{ ...schema, additionalProperties: true }, false],
  [{ type: 'object', additionalProperties: false }, true],
  [{ ...schema, properties: { a: loose } }, false],
  [{ ...schema, properties: { a: { type: 'array', items: loose } } }, false],
  [{ ...schema, properties: { a: { anyOf: [schema, { type: 'null' }] } } }, true],
  [{ ...schema, properties: { a: { anyOf: [loose, { type: 'null' }] } } }, false],
  [{ type: 'string' }, false],
  ...(['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'patternProperties'] as const).map(
    (keyword) => [{ ...schema, [keyword]: {} }, false] as [unknown, boolean],
  ),
  ...(['propertyNames', 'dependentRequired', 'dependentSchemas'] as const).map(
    (keyword) => [{ ...schema, [keyword]: {} }, false] as [unknown, boolean],
  ),
  // Names of properties, and values, are no keywords.
  [closed({ not: { type: 'string' }, oneOf: { enum: ['x'] } }), true],
  [closed({ a: { const: { type: 'object' } }, b: { enum: [{ oneOf: [] }] } }), true],
  [closed({ a: { type: 'string', pattern: '^a(?:b)+$' } }), true],
  [closed({ a: { type: 'string', pattern: '^(?=a)' } }), false],
  [closed({ a: { type: 'string', pattern: 'a(?<!b)' } }), false],
  [closed({ a: { type: ['object', 'null'] } }), false],
])('a schema like %j is strict: %s', (candidate, expected) => {
  expect(isStrict(candidate as typeof schema)).toBe(expected);
});
