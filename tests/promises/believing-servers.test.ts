import { afterEach, describe, expect, test } from 'vitest';
import {
  aiSdk,
  anthropic,
  embeddings,
  openai,
  openaiCompatible,
} from '../../src/backends/index.ts';
import { withCache } from '../../src/calls/index.ts';
import { type LanguageModel, type ModelWarning, mcts, type SearchResult } from '../../src/index.ts';
import {
  type EmulatorOptions,
  emulator,
  type Fault,
  plainContext,
  type SyntheticState,
  syntheticTree,
} from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { streamSearchOf } from '../support/search-of.ts';

const servers: { close(): unknown }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const price = { input: 10, output: 50, cachedInput: 1 };
const prices = { m: price };

async function modelWith(
  name: string,
  faults: readonly Fault[],
  maxTokens?: number,
): Promise<LanguageModel> {
  const dialect: EmulatorOptions['dialect'] =
    name === 'anthropic' ? 'anthropic' : name === 'openai-compatible' ? 'vllm' : 'openai';
  const text = 'word '.repeat(maxTokens ?? 0);
  const answer = maxTokens === undefined ? hashedAnswer : () => text;
  const server = await emulator({ dialect, models: ['m'], faults, answer });
  servers.push(server);
  const reached = { model: 'm', baseUrl: server.url, apiKey: 'sk-abcdef12' };
  if (name === 'anthropic') return anthropic(reached);
  if (name === 'openai-compatible') return openaiCompatible({ ...reached, preset: 'vllm', price });
  return openai({ ...reached, api: name === 'responses' ? 'responses' : 'chat' });
}

const [read, written] = [
  {
    chat: 'prompt_tokens',
    'openai-compatible': 'prompt_tokens',
    responses: 'input_tokens',
    anthropic: 'input_tokens',
  },
  {
    chat: 'completion_tokens',
    'openai-compatible': 'completion_tokens',
    responses: 'output_tokens',
    anthropic: 'output_tokens',
  },
] as const;

type Name = keyof typeof read;

function cached(name: Name, tokens: number) {
  if (name === 'anthropic') return { cache_read_input_tokens: tokens };
  const details = { cached_tokens: tokens };
  return name === 'responses'
    ? { input_tokens_details: details }
    : { prompt_tokens_details: details };
}

const impossible: Readonly<Record<string, (name: Name) => object>> = {
  'nothing at all': (name) => ({ [read[name]]: 0, [written[name]]: 0 }),
  'no token for a text': (name) => ({ [written[name]]: 0 }),
  'fewer than none': (name) => ({ [written[name]]: -5 }),
  'half a token': (name) => ({ [read[name]]: 12.5 }),
  'more from a cache than was read': (name) => ({ [read[name]]: 5, ...cached(name, 2 ** 50) }),
  'more than any model reads': (name) => ({ [read[name]]: 2 ** 50 }),
  'more than any model writes': (name) => ({ [written[name]]: 2 ** 40 }),
};

describe.each(Object.keys(read) as Name[])('usage that cannot be, by %s,', (name) => {
  test.each(Object.keys(impossible))('counts as unknown: %s', async (what) => {
    const usage = impossible[what]?.(name) as Record<string, never>;
    const model = await modelWith(name, [{ kind: 'tells-usage', usage }]);
    const warnings: ModelWarning[] = [];
    const events = streamSearchOf({
      ...throughModel(syntheticTree(), { model, maxTokens: 32 }),
      algorithm: mcts(),
      prices,
      budget: { tokens: 2_000, simulations: 500, usd: 1 },
    });
    let result: SearchResult<SyntheticState, number> | undefined;
    for await (const event of events) {
      if (event.type === 'warning') warnings.push(event.warning);
      if (event.type === 'search-end') result = event.result;
    }
    if (result === undefined) throw new Error('The search has no end.');
    const { spend, exceeded, overdraft } = result;
    // Charged as reserved, it ends soon.
    expect(exceeded).toBe('tokens');
    expect(spend.tokens).toBeLessThanOrEqual(2_000);
    expect(spend.tokens).toBeGreaterThan(1_800);
    // What is charged as reserved is less where the prompt was counted: vLLM does that.
    expect(spend.calls).toBeLessThan(name === 'openai-compatible' ? 50 : 40);
    expect(spend.usd).toBeLessThan(0.1);
    expect(overdraft).toEqual({ tokens: 0, usd: 0 });
    const told = warnings.filter(({ about }) => about === 'usage');
    expect(told[0]?.message).toMatch(/impossible usage .* charged as reserved; 1 so far/);
    expect(told[0]?.message).not.toContain('NaN');
    if (what === 'fewer than none') expect(told[0]?.message).toContain('`outputTokens` is `-5`');
    // 1, 2, 4, 8, 16 …
    expect(told).toHaveLength(Math.floor(Math.log2(spend.calls)) + 1);
  });

  test('is not what a server says that writes beyond a limit: that is an overdraft', async () => {
    const model = await modelWith(name, ['ignores-max-tokens'], 100);
    const { usage } = await plainContext().generate(model, {
      messages: [{ role: 'user', content: 'Hi' }],
      maxTokens: 20,
    });
    expect(usage.outputTokens).toBeGreaterThan(20);
  });
});

test.each([
  ['NaN', { inputTokens: Number.NaN, outputTokens: 3 }],
  ['fractions', { inputTokens: 1.5, outputTokens: 3 }],
  ['no token for a text', { inputTokens: 3, outputTokens: 0 }],
  ['more thoughts than tokens', { inputTokens: 3, outputTokens: 3, reasoningTokens: 9 }],
])('a model of the AI SDK that tells %s tells nothing', async (_, usage) => {
  const model = {
    ...{ specificationVersion: 'v2', provider: 'acme', modelId: 'm' },
    doGenerate: async () => ({
      content: [{ type: 'text', text: 'Yes' }],
      finishReason: 'stop',
      usage,
    }),
  };
  const request = { messages: [{ role: 'user', content: 'Hi' }] } as const;
  expect((await plainContext().generate(aiSdk(model), request)).usage).toEqual({});
});

describe("a model of one's own that tells a usage of 0", () => {
  const free = { inputTokens: 0, outputTokens: 0 };
  const modelOf = (text: string): LanguageModel => ({
    ...{ provider: 'own', modelId: 'm', capabilities: {} },
    generate: async () => ({ completions: [{ text }], usage: free }),
  });

  async function spendOf(model: LanguageModel) {
    const warnings: ModelWarning[] = [];
    let result: SearchResult<SyntheticState, number> | undefined;
    const problem = throughModel(syntheticTree(), { model, maxTokens: 32 });
    const budget = { tokens: 2_000, simulations: 20 };
    for await (const event of streamSearchOf({ ...problem, algorithm: mcts(), budget })) {
      if (event.type === 'warning') warnings.push(event.warning);
      if (event.type === 'search-end') result = event.result;
    }
    return { warnings, result };
  }

  test('for a text is charged as reserved, with a warning', async () => {
    const { warnings, result } = await spendOf(modelOf('1'));
    expect(result?.exceeded).toBe('tokens');
    expect(result?.spend.tokens).toBeGreaterThan(1_800);
    expect(warnings[0]).toMatchObject({ about: 'usage', model: 'own:m' });
    expect(warnings[0]?.message).toMatch(/\(no token for a text\).* charged as reserved; 1 so far/);
    expect(warnings).toHaveLength(Math.floor(Math.log2(result?.spend.calls ?? 0)) + 1);
  });

  test('is believed where it says that the text comes from a cache', async () => {
    const model = modelOf('1');
    const cached: LanguageModel = {
      ...model,
      generate: async (...asked) => ({ ...(await model.generate(...asked)), fromCache: true }),
    };
    const { warnings, result } = await spendOf(cached);
    expect(result?.spend).toMatchObject({ simulations: 20, tokens: 0 });
    expect(warnings).toEqual([]);
  });

  test('costs nothing the second time, behind a cache', async () => {
    const model = withCache()({
      ...modelOf('1'),
      generate: async () => ({
        completions: [{ text: '1' }],
        usage: { inputTokens: 3, outputTokens: 1 },
      }),
    });
    expect((await spendOf(model)).result?.spend.tokens).toBeGreaterThan(0);
    expect((await spendOf(model)).result?.spend.tokens).toBe(0);
  });
});

test('an embedding for which no token was read has no usage', async () => {
  const server = await emulator({
    dialect: 'openai',
    models: ['m'],
    faults: [{ kind: 'tells-usage', usage: { prompt_tokens: 0 } }],
  });
  servers.push(server);
  const model = embeddings({ model: 'm', baseUrl: server.url });
  const call = { signal: new AbortController().signal, clock: plainContext().clock };
  expect((await model.embed(['a', 'b'], call)).usage).toEqual({});
});
