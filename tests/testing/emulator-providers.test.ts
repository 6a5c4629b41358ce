import { expect, test } from 'vitest';
import { openaiCompatible } from '../../src/backends/index.ts';
import { type EmulatorOptions, plainContext } from '../../src/testing/index.ts';
import { chat, opened } from './emulator-support.ts';

type Provider = NonNullable<EmulatorOptions['provider']>;

const call = { id: 't1', type: 'function', function: { name: 'look', arguments: '{}' } };
const turn = (rest: object = {}, first: object = {}) => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [{ ...call, ...first }], ...rest },
    { role: 'tool', tool_call_id: 't1', content: '3' },
  ],
});
const schema = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];

test.each<[Provider, object, string]>([
  ['gemini', { top_k: 4 }, 'Unknown name'],
  ['gemini', turn(), 'missing a thought_signature'],
  ['vertex', turn(), 'missing a thought_signature'],
  ['groq', { n: 2 }, "'n'"],
  ['groq', { logprobs: true }, '`logprobs`'],
  ['groq', { logit_bias: {} }, '`logit_bias`'],
  ['groq', { messages: [{ role: 'user', name: 'Al', content: 'Hi' }] }, '`name`'],
  ['groq', { tools, response_format: schema }, 'tools'],
  ['mistral', { seed: 1 }, 'seed'],
  ['mistral', { logprobs: true }, 'logprobs'],
  ['deepseek', { n: 2 }, 'Unknown name'],
  ['deepseek', { seed: 1 }, 'Unknown name'],
  ['deepseek', { tools, tool_choice: 'required' }, 'tool_choice'],
  ['deepseek', { response_format: schema }, 'response_format'],
  ['deepseek', turn(), 'must be passed back'],
  ['together', { logprobs: true }, 'integer'],
  ['azure', { max_tokens: 5 }, 'max_completion_tokens'],
])('%s refuses %j', async (provider, rest, part) => {
  const server = await opened({ dialect: 'openai', provider });
  const refused = await chat(server, rest);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain(part);
  expect(server.account).toMatchObject({ rejected: 1, completionsServed: 0 });
});

test.each<[Provider, object]>([
  ['gemini', turn({}, { extra_content: { google: { thought_signature: 'signed' } } })],
  ['groq', { n: 1, seed: 1 }],
  ['mistral', { n: 2, random_seed: 1, tools, tool_choice: 'any' }],
  ['deepseek', turn({ reasoning_content: '' })],
  ['deepseek', { logprobs: true, top_logprobs: 2 }],
  ['deepseek', { tools, tool_choice: 'none' }],
  ['together', { logprobs: 2 }],
  ['openrouter', { n: 2, provider: { require_parameters: true }, gibberish: 1 }],
  ['azure', { max_completion_tokens: 5 }],
  ['bedrock', { max_tokens: 5 }],
  ['fireworks', { max_tokens: 5, logprobs: true }],
])('%s takes %j', async (provider, rest) => {
  const server = await opened({ dialect: 'openai', provider });
  expect((await chat(server, rest)).status).toBe(200);
});

test('Mistral has a word of its own for a tool that must be called', async () => {
  const server = await opened({ dialect: 'openai', provider: 'mistral' });
  await chat(server, { tools, tool_choice: 'any', random_seed: 7 });
  expect(server.requests[0]?.questions).toMatchObject([{ toolChoice: 'required', seed: 7 }]);
});

test('OpenRouter ignores n', async () => {
  const server = await opened({ dialect: 'openai', provider: 'openrouter' });
  expect((await chat(server, { n: 3 })).body).toMatchObject({ choices: [{ index: 0 }] });
  expect(server.account.completionsServed).toBe(1);
});

test('Gemini signs the first call of a turn, streamed or not', async () => {
  const toolCalls = [1, 2].map((a) => ({ name: 'look', input: { a } }));
  const answer = () => ({ toolCalls });
  const server = await opened({ dialect: 'openai', provider: 'gemini', answer });
  const signed = { extra_content: { google: { thought_signature: 'signed' } } };
  const { body } = await chat(server, { tools });
  const told = (body as { choices: [{ message: { tool_calls: readonly object[] } }] }).choices[0];
  expect(told.message.tool_calls[0]).toMatchObject(signed);
  expect(told.message.tool_calls[1]).not.toHaveProperty('extra_content');
  expect((await chat(server, { tools, stream: true })).text).toContain('"thought_signature"');
});

test.each<Provider>(['gemini', 'deepseek', 'groq', 'openrouter', 'mistral'])(
  'what %s said of a tool, our model hands back as it wants it',
  async (preset) => {
    const server = await opened({
      ...{ dialect: 'openai', provider: preset },
      answer: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? 'Done.'
          : { reasoning: 'Hm.', toolCalls: [{ name: 'look', input: {} }] },
    });
    const at = { apiKey: 'key', baseUrl: `${server.url}/v1`, retry: false } as const;
    const model = openaiCompatible({ preset, model: 'emulated', ...at });
    const request = { tools: [{ name: 'look', input: { type: 'object' } }] };
    const question = { role: 'user', content: 'Hi' } as const;
    const { completions } = await plainContext().generate(model, {
      ...request,
      messages: [question],
    });
    const { text = '', toolCalls = [], original } = completions[0] ?? {};
    const said = {
      ...{ role: 'assistant' as const, content: text, toolCalls },
      ...(original !== undefined && { original }),
    };
    const result = { role: 'tool' as const, content: '3', toolCallId: toolCalls[0]?.id ?? '' };
    const messages = [question, said, result];
    const again = await plainContext().generate(model, { ...request, messages });
    expect(again.completions[0]?.text).toBe('Done.');
    expect(server.account.rejected).toBe(0);
  },
);

test.each<Provider>(['gemini', 'vertex', 'deepseek', 'groq'])(
  '%s takes what our model tells of a turn of somebody else’s',
  async (preset) => {
    const server = await opened({ dialect: 'openai', provider: preset });
    const at = { apiKey: 'key', baseUrl: `${server.url}/v1`, retry: false } as const;
    const model = openaiCompatible({ preset, model: 'emulated', ...at });
    const toolCalls = ['t1', 't2'].map((id) => ({ id, name: 'look', input: {} }));
    await plainContext().generate(model, {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', content: '3', toolCallId: 't1' },
        { role: 'tool', content: '4', toolCallId: 't2' },
      ],
      tools: [{ name: 'look', input: { type: 'object' } }],
    });
    expect(server.account).toMatchObject({ requests: 1, rejected: 0 });
  },
);

test('a provider is one of those that speak as OpenAI does', async () => {
  await expect(opened({ dialect: 'vllm', provider: 'groq' })).rejects.toThrow('`dialect`');
  await expect(opened({ dialect: 'openai', provider: 'grok' as never })).rejects.toThrow(
    '`provider`',
  );
});
