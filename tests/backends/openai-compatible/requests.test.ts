import { describe, expect, test } from 'vitest';
import {
  type OpenAiCompatibleOptions,
  openaiCompatible,
  type ServerPreset,
} from '../../../src/backends/index.ts';
import { seedOf } from '../../../src/backends/transport/seeds.ts';
import type { GenerateRequest } from '../../../src/index.ts';
import { chatReply, notedCall, type StubRequest, stubFetch } from '../transport/stub-fetch.ts';

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
] as const;

/** What is sent for a request, and what is warned of. */
async function sentFor(
  preset: ServerPreset,
  request: Partial<GenerateRequest>,
  options: OpenAiCompatibleOptions = {},
) {
  const { fetch, requests } = stubFetch((sent) =>
    chatReply(...Array.from({ length: Number(fieldOf(sent, 'n') ?? 1) }, () => 'a')),
  );
  const baseUrl = 'http://host/v1';
  const model = openaiCompatible({
    ...{ preset, baseUrl, fetch, model: 'm-1' },
    retry: false,
    ...options,
  });
  const call = notedCall();
  await model.generate({ messages, maxTokens: 9, ...request }, call);
  return {
    requests,
    bodies: requests.map(({ body }) => body),
    about: call.warnings.map(({ about }) => about),
  };
}

function fieldOf({ body }: StubRequest, name: string): unknown {
  return (body as Record<string, unknown>)[name];
}

const plain = {
  model: 'm-1',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ],
  max_tokens: 9,
};

const neutral: Partial<Record<ServerPreset, object>> = {
  vllm: { top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 },
  sglang: { top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 },
  'llama-server': { temperature: 1, top_p: 1, top_k: 0, min_p: 0 },
};

const presets: readonly ServerPreset[] = [
  'vllm',
  'sglang',
  'llama-server',
  'ollama',
  'lm-studio',
  'transformers',
  'generic',
];

describe.each(presets)('a request to %s', (preset) => {
  test('goes to its chat, with the index of its sample and the key', async () => {
    const { requests } = await sentFor(
      preset,
      { offset: 3 },
      { apiKey: 'sesame', headers: { 'X-Team': 'tree' } },
    );
    expect(requests).toEqual([
      {
        url: 'http://host/v1/chat/completions',
        method: 'POST',
        headers: {
          accept: 'application/json',
          authorization: 'Bearer sesame',
          'content-type': 'application/json',
          'x-espalier-sample': '3',
          'x-team': 'tree',
        },
        body: expect.anything() as unknown,
        redirect: 'manual',
      },
    ]);
  });

  test('says no more than it has to', async () => {
    const { bodies, about } = await sentFor(preset, {});
    const own = preset === 'llama-server' ? neutral[preset] : {};
    expect(bodies).toEqual([{ ...plain, ...own }]);
    expect(about).toEqual([]);
  });

  test('with a temperature leaves nothing else to the server', async () => {
    const { bodies } = await sentFor(preset, { temperature: 0.7 });
    expect(bodies).toEqual([{ ...plain, ...neutral[preset], temperature: 0.7 }]);
  });

  test('holds the parameters of sampling that it is given', async () => {
    const { bodies, about } = await sentFor(preset, { temperature: 0, topP: 0.9, topK: 5 });
    const takesTopK = !['ollama', 'transformers', 'generic'].includes(preset);
    expect(bodies).toEqual([
      { ...plain, ...neutral[preset], temperature: 0, top_p: 0.9, ...(takesTopK && { top_k: 5 }) },
    ]);
    expect(about).toEqual(takesTopK ? [] : ['topK']);
  });
});

describe.each(presets)('a request to %s', (preset) => {
  test('for several samples is one where it takes `n`, else several', async () => {
    const { bodies, requests, about } = await sentFor(preset, { samples: 2, offset: 4 });
    const isOne = ['vllm', 'sglang', 'llama-server'].includes(preset);
    const own = preset === 'llama-server' ? neutral[preset] : {};
    expect(bodies).toEqual(
      isOne
        ? [{ ...plain, ...own, n: 2 }]
        : [
            { ...plain, ...own },
            { ...plain, ...own },
          ],
    );
    expect(requests.map(({ headers }) => headers['x-espalier-sample'])).toEqual(
      isOne ? ['4'] : ['4', '5'],
    );
    expect(about).toEqual([]);
  });

  test('with a seed fixes each sample by its index', async () => {
    const { requests } = await sentFor(preset, { samples: 2, offset: 4, seed: 7 });
    const isOne = ['vllm', 'llama-server'].includes(preset);
    expect(requests.map((sent) => [fieldOf(sent, 'seed'), fieldOf(sent, 'n')])).toEqual(
      isOne
        ? [[seedOf(7, 4), 2]]
        : [
            [seedOf(7, 4), undefined],
            [seedOf(7, 5), undefined],
          ],
    );
  });

  test('holds stop texts, log-probabilities and a schema, or does without', async () => {
    const schema = { type: 'object', properties: {} };
    const wish = { stop: ['.', '\n'], topLogprobs: 3, schema };
    const { bodies, about } = await sentFor(preset, wish);
    const own = preset === 'llama-server' ? neutral[preset] : {};
    if (preset === 'transformers') {
      const words =
        'Hi\n\nAnswer with nothing but JSON that satisfies this JSON schema: {"type":"object","properties":{}}';
      const [system] = plain.messages;
      expect(bodies).toEqual([
        { ...plain, messages: [system, { role: 'user', content: words }], stop: ['.', '\n'] },
      ]);
      // The schema is warned of once more: the answer is no JSON.
      expect(about).toEqual(['schema', 'logprobs', 'schema']);
      return;
    }
    expect(bodies).toEqual([
      {
        ...plain,
        ...own,
        stop: ['.', '\n'],
        logprobs: true,
        top_logprobs: 3,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema, strict: true },
        },
      },
    ]);
  });
});

const begun = [...messages, { role: 'assistant', content: 'Well, ' }] as const;
const chat = [...plain.messages, { role: 'assistant', content: 'Well, ' }];

describe('the beginning of an answer', () => {
  test.each<[ServerPreset, object]>([
    ['vllm', { continue_final_message: true, add_generation_prompt: false }],
    ['sglang', { continue_final_message: true }],
  ])('is continued by %s', async (preset, fields) => {
    const { bodies, about } = await sentFor(preset, { messages: begun });
    expect(bodies).toEqual([{ ...plain, messages: chat, ...fields }]);
    expect(about).toEqual([]);
  });

  test.each<[ServerPreset]>([['ollama'], ['lm-studio'], ['transformers'], ['generic']])(
    'is told to %s in the question',
    async (preset) => {
      const { bodies, about } = await sentFor(preset, { messages: begun });
      const words =
        'Hi\n\nYour answer has already begun, with the text below. Go on exactly where it stops: do not repeat it, and do not comment on it.\n\nWell, ';
      const [system] = plain.messages;
      expect(bodies).toEqual([{ ...plain, messages: [system, { role: 'user', content: words }] }]);
      expect(about).toEqual(['continuation']);
    },
  );

  test('is one message, however many it came in', async () => {
    const parts = [
      ...messages,
      ...['Well', ', '].map((content) => ({ role: 'assistant', content }) as const),
    ];
    const { bodies } = await sentFor('vllm', { messages: parts });
    expect(bodies).toMatchObject([{ messages: chat }]);
  });

  test('that is empty is none', async () => {
    const empty = [...messages, { role: 'assistant', content: '' }] as const;
    expect((await sentFor('vllm', { messages: empty })).bodies).toEqual([plain]);
  });
});

describe('tools', () => {
  const tools = [{ name: 'add', description: 'Adds.', input: { type: 'object' } }];
  const told = [
    {
      type: 'function',
      function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } },
    },
  ];

  test('are sent, with the choice between them', async () => {
    expect((await sentFor('vllm', { tools })).bodies).toEqual([{ ...plain, tools: told }]);
    expect((await sentFor('vllm', { tools, toolChoice: 'auto' })).bodies).toEqual([
      { ...plain, tools: told },
    ]);
    expect((await sentFor('vllm', { tools, toolChoice: 'required' })).bodies).toEqual([
      { ...plain, tools: told, tool_choice: 'required' },
    ]);
    expect((await sentFor('vllm', { tools, toolChoice: { name: 'add' } })).bodies).toEqual([
      { ...plain, tools: told, tool_choice: { type: 'function', function: { name: 'add' } } },
    ]);
  });

  test('that are none are left out, and so is the choice between them', async () => {
    expect((await sentFor('vllm', { tools: [], toolChoice: 'required' })).bodies).toEqual([plain]);
  });

  test('are called and answered in the conversation', async () => {
    const { bodies } = await sentFor('vllm', {
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'c1', name: 'add', input: { a: [1, 2] } }],
        },
        { role: 'tool', content: '3', toolCallId: 'c1' },
      ],
    });
    expect(bodies).toMatchObject([
      {
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":[1,2]}' } },
            ],
          },
          { role: 'tool', content: '3', tool_call_id: 'c1' },
        ],
      },
    ]);
  });
});

describe('what a user says of a server', () => {
  test('goes before what is known of its kind', async () => {
    const { bodies } = await sentFor(
      'ollama',
      { samples: 2, topK: 3, temperature: 1 },
      { capabilities: { n: true, topK: true } },
    );
    expect(bodies).toEqual([{ ...plain, n: 2, temperature: 1, top_k: 3 }]);
  });

  test('is in the capabilities of the model', () => {
    const model = openaiCompatible({ preset: 'ollama', capabilities: { n: true, seed: false } });
    expect(model.capabilities).toMatchObject({ n: true, seed: false, stop: true });
  });
});

test('the limit of 1024 tokens holds where a request has none', async () => {
  const { fetch, requests } = stubFetch(chatReply('a'));
  const model = openaiCompatible({ preset: 'vllm', model: 'm-1', fetch, retry: false });
  await model.generate({ messages }, notedCall());
  expect(requests[0]).toMatchObject({
    url: 'http://localhost:8000/v1/chat/completions',
    body: { max_tokens: 1024 },
  });
});
