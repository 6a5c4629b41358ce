import { expect, test } from 'vitest';
import { openai } from '../../../src/backends/index.ts';
import { traitsOf } from '../../../src/backends/openai/models.ts';
import { notedCall, stubFetch } from '../transport/stub-fetch.ts';

const plain = { reasons: false, samples: true, chatsWithTools: true };
const thinking = { reasons: true, samples: false, chatsWithTools: true };
const late = { reasons: true, samples: false, chatsWithTools: false };
const resting = { reasons: true, samples: true, chatsWithTools: true };

test.each<[string, string | undefined, object]>([
  ['gpt-4o', undefined, plain],
  ['gpt-4.1-mini', undefined, plain],
  ['chatgpt-4o-latest', undefined, plain],
  ['gpt-5-chat-latest', undefined, plain],
  ['ft:gpt-4o:team::1', undefined, plain],
  ['my-own-model', undefined, plain],
  ['o1', undefined, thinking],
  ['o4-mini', 'none', thinking],
  ['ft:o4-mini:team::1', undefined, thinking],
  ['gpt-5', undefined, thinking],
  ['gpt-5-mini', 'none', thinking],
  ['gpt-5.1', undefined, thinking],
  ['gpt-5.1', 'low', thinking],
  ['gpt-5.1', 'none', resting],
  ['gpt-5.6-sol', undefined, late],
  ['gpt-5.6-sol', 'none', resting],
  ['gpt-5.10', undefined, late],
  ['gpt-5.10', 'none', late],
  ['gpt-6-luna', undefined, late],
  ['gpt-6-luna', 'none', resting],
  ['gpt-6-astra', 'none', late],
  ['gpt-6.1-sol', 'none', late],
  ['gpt-6.1-terra', 'none', resting],
  ['gpt-7', undefined, late],
])('%s with effort %s', (model, effort, expected) => {
  expect(traitsOf(model, effort)).toMatchObject(expected);
});

test.each([
  ['gpt-5.6-luna', true],
  ['gpt-6-luna', true],
  ['gpt-7', true],
  ['gpt-5.5', false],
  ['gpt-4o', false],
  ['o3', false],
])('%s is told where prefixes end: %s', (model, expected) => {
  expect(traitsOf(model, undefined).marksPrefixes).toBe(expected);
});

test.each([
  ...['gpt-5-pro', 'gpt-5-pro-2025-10-06', 'o3-pro', 'gpt-5.3-codex', 'o3-deep-research'],
  ...['codex-mini-latest', 'computer-use-preview', 'ft:gpt-6-pro:team'],
])('%s is asked in the Responses API, for one sample after the other', async (model) => {
  const { fetch, requests } = stubFetch({
    json: {
      id: 'resp_1',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'a' }] }],
    },
  });
  const asked = openai({ model, apiKey: 'sk-abcdef', fetch, retry: false });
  expect(asked.capabilities.n).toBe(false);
  const messages = [{ role: 'user', content: 'Hi' }] as const;
  const { completions } = await asked.generate({ messages, samples: 2, stop: ['.'] }, notedCall());
  expect(completions).toHaveLength(2);
  expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
    '/v1/responses',
    '/v1/responses',
  ]);
});

test.each(['gpt-6-luna', 'gpt-5', 'my-project'])('%s is not', (model) => {
  expect(openai({ model }).capabilities.n).toBe(true);
});

test('what a model honours depends on its name, its effort and the API', () => {
  const taken = { schema: true, tools: true, images: true, batch: true };
  const always = { ...taken, continuation: false, topK: false };
  const open = { logprobs: true, temperature: true };
  const closed = { logprobs: false, temperature: false };
  expect(openai({ model: 'gpt-4o' }).capabilities).toEqual({
    ...always,
    ...open,
    n: true,
    stop: true,
  });
  expect(openai({ model: 'gpt-4o', api: 'responses' }).capabilities).toEqual({
    ...{ ...always, ...open, n: false, stop: false, seed: false },
  });
  expect(openai({ model: 'o3' }).capabilities).toEqual({
    ...always,
    ...closed,
    n: true,
    stop: false,
  });
});
