import { afterAll, describe, expect, test } from 'vitest';
import {
  aiSdk,
  anthropic,
  languageModel,
  openai,
  openaiCompatible,
} from '../../src/backends/index.ts';
import { isThinker } from '../../src/backends/transport/thought-tokens.ts';
import { reasoning } from '../../src/environments/index.ts';
import type { LanguageModel } from '../../src/index.ts';
import { search } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { type Emulator, emulator } from '../../src/testing/index.ts';
import { judge } from '../../src/values/index.ts';

/** Three hundred tokens: more than a step, and far more than a judgement, may have. */
const thought = Array.from({ length: 300 }, () => ' hmm').join('');
const models = ['claude-sonnet-5-5', 'gpt-6-luna', 'qwen3'];

const open: Emulator[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

/** A server whose models think before each word. */
async function served(dialect: 'anthropic' | 'ollama' | 'openai'): Promise<Emulator> {
  const isJudgement = /Judge how likely/;
  const server = await emulator({
    dialect,
    models,
    answer: ({ messages }) => ({
      reasoning: thought,
      text: isJudgement.test(messages.at(-1)?.content ?? '') ? 'sure' : 'The answer is 12.',
    }),
  });
  open.push(server);
  return server;
}

const thinkers = {
  anthropic: ({ url: baseUrl }: Emulator, options: object) =>
    anthropic({ model: 'claude-sonnet-5-5', apiKey: 'k', baseUrl, retry: false, ...options }),
  openai: ({ url: baseUrl }: Emulator, options: object) =>
    openai({ model: 'gpt-6-luna', apiKey: 'k', baseUrl, retry: false, ...options }),
  ollama: ({ url: baseUrl }: Emulator, options: object) =>
    openaiCompatible({ model: 'qwen3', preset: 'ollama', baseUrl, retry: false, ...options }),
};

describe.each(Object.entries(thinkers))('a model of %s that thinks', (dialect, modelAt) => {
  const ask = async (options: object) => {
    const server = await served(dialect as keyof typeof thinkers);
    const model: LanguageModel = modelAt(server, options);
    const result = await search(reasoning({ question: 'What is 7 + 5?' }), {
      policy: fromModel({ model }),
      evaluator: judge({ model }),
      budget: { calls: 12, tokens: 200_000 },
    });
    return { result, server };
  };

  test('answers within the usual limits of policies and judges', async () => {
    const { result, server } = await ask({});
    expect(result.actions.at(-1)).toBe('The answer is 12.');
    expect(result.failures.count).toBe(0);
    const { reasoningTokens, completionsServed } = server.account;
    expect(reasoningTokens).toBe(300 * completionsServed);
    expect(result.spend.tokens).toBe(server.account.inputTokens + server.account.outputTokens);
  });

  test('that has no tokens for its thoughts fails with a sentence that says so', async () => {
    const { result } = await ask({ thoughtTokens: 0 });
    expect(result.stopReason).toBe('failed');
    expect(result.failure?.message).toContain('Give it more `thoughtTokens`, or a lower effort.');
  });
});

describe('the limit that a server is told', () => {
  test.each([
    ['claude-sonnet-5-5', {}, 8192 + 100],
    ['claude-sonnet-5-5', { effort: 'low' }, 1024 + 100],
    ['claude-sonnet-5-5', { thinking: { type: 'disabled' } }, 100],
    ['claude-sonnet-4-5', {}, 100],
    ['claude-sonnet-4-5', { thinking: { type: 'enabled', budget_tokens: 2000 } }, 2100],
    ['claude-sonnet-5-5', { thoughtTokens: 50 }, 150],
  ] as const)('%s with %j has %i', async (model, options, expected) => {
    const bodies: Record<string, unknown>[] = [];
    const fetch: typeof globalThis.fetch = async (_, init) => {
      bodies.push(JSON.parse(String(init?.body)) as Record<string, unknown>);
      return new Response('{}', { status: 400 });
    };
    const asked = anthropic({ model, apiKey: 'k', fetch, retry: false, ...options });
    const call = { signal: new AbortController().signal, clock: { now: () => 0 } };
    const request = { messages: [{ role: 'user', content: 'Hi' }], maxTokens: 100 } as const;
    await asked.generate(request, call as never).catch(() => {});
    expect(bodies.map((body) => body['max_tokens'])).toEqual([expected]);
  });
});

test('how much a model may think is part of what describes it', async () => {
  const told = async (spec: string, options = {}) =>
    (await languageModel(spec, { apiKey: 'k', ...options })).thoughtTokens ?? 0;
  expect(await told('openai:gpt-6-luna')).toBe(4096);
  expect(await told('openai:gpt-6-luna', { effort: 'none' })).toBe(0);
  expect(await told('openai:gpt-4o')).toBe(0);
  expect(await told('openai:o3', { effort: 'high' })).toBe(8192);
  expect(await told('anthropic:claude-opus-5-5', { effort: 'max' })).toBe(32_768);
  expect(await told('ollama:qwen3:8b')).toBe(4096);
  expect(await told('ollama:llama3.2')).toBe(0);
  expect(await told('ollama:llama3.2', { thoughtTokens: 7 })).toBe(7);
  const vercel = { specificationVersion: 'v3', provider: 'x', doGenerate: async () => ({}) };
  expect(aiSdk({ ...vercel, modelId: 'grok-4.7' }).thoughtTokens).toBe(4096);
  expect(() => openai({ model: 'o3', thoughtTokens: -1 })).toThrow('`thoughtTokens`');
});

test.each([
  ...[
    'o1',
    'o3-mini',
    'openai/o4-mini',
    'gpt-5',
    'gpt-6-luna',
    'ft:gpt-5:team',
    'openai/gpt-oss-20b',
  ],
  ...['claude-sonnet-5-5', 'anthropic/claude-opus-5', 'deepseek-r1:8b', 'deepseek-reasoner'],
  ...['deepseek-v4-flash', 'Qwen/Qwen3-8B', 'qwen3:8b', 'Qwen/Qwen3-4B-Thinking-2507', 'QwQ-32B'],
  ...[
    'gemini-3.8-flash',
    'models/gemini-2.5-pro',
    'zai-org/GLM-4.6',
    'grok-4.7',
    'magistral-small',
  ],
  ...['nvidia/phi-4-reasoning', 'kimi-k2-thinking', 'MiniMax-M2'],
])('%s thinks', (name) => {
  expect(isThinker(name)).toBe(true);
});

test.each([
  ...['gpt-4o', 'gpt-4.1-mini', 'gpt-5-chat-latest', 'chatgpt-4o-latest', 'claude-sonnet-4-5'],
  ...['claude-3-5-sonnet-20241022', 'claude-opus-4-8', 'llama3.2', 'Qwen/Qwen2.5-7B-Instruct'],
  ...['Qwen/Qwen3-4B-Instruct-2507', 'qwen3-coder:30b', 'Qwen/Qwen3-Embedding-0.6B', 'tiny', ''],
  ...['mistral-large-4', 'deepseek-v3', 'gemini-2.0-flash', 'my-model', 'foo1', 'grok-3'],
  ...['grok-4-fast-non-reasoning'],
])('%s does not', (name) => {
  expect(isThinker(name)).toBe(false);
});
