import { describe, expect, test } from 'vitest';
import { generate } from '../../src/calls/operations/generate.ts';
import { defaultPrices, type PriceTable, pricesAsOf } from '../../src/calls/prices.ts';
import { actualCost, mostCost, priceOf } from '../../src/calls/pricing.ts';
import { sumOfUsages } from '../../src/calls/usage.ts';
import type { GenerateRequest, ModelPrice, Usage } from '../../src/contracts/language-model.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf } from '../support/search-of.ts';
import { openGate, recordingModel } from './harness.ts';

const price: ModelPrice = { input: 4, output: 20, cachedInput: 0.4, cacheWrite: 5 };
const reserved = { calls: 1, tokens: 5000, usd: 1 };
const usdOf = (usage: Usage, at: ModelPrice) => actualCost(usage, reserved, at).usd;

describe('what tokens cost', () => {
  const usage = { inputTokens: 1000, outputTokens: 100 };

  test('depends on whether they were read, read from a cache, or put into one', () => {
    // 100 · 4 + 600 · 0.4 + 300 · 5 + 100 · 20 = 400 + 240 + 1 500 + 2 000 millionths.
    const told = { ...usage, cachedTokens: 600, cacheWriteTokens: 300 };

    expect(actualCost(told, reserved, price)).toEqual({ calls: 1, tokens: 1100, usd: 0.00414 });
  });

  test('is the price of reading where the cache has none of its own, or was not told of', () => {
    // 1 000 · 4 + 100 · 20 = 6 000 millionths.
    const plain = { input: 4, output: 20 };

    expect(usdOf({ ...usage, cachedTokens: 600, cacheWriteTokens: 300 }, plain)).toBe(0.006);
    expect(usdOf(usage, price)).toBe(0.006);
  });

  test('holds hidden reasoning among what was written', () => {
    expect(usdOf({ ...usage, reasoningTokens: 90 }, price)).toBe(0.006);
  });

  test('is what was reserved where more is said to come from a cache than was read', () => {
    expect(usdOf({ ...usage, cachedTokens: 1500 }, price)).toBe(1);
  });
});

describe('a tier of service', () => {
  const tiered: ModelPrice = { ...price, tiers: { flex: 0.5, priority: 2 } };
  const usage = { inputTokens: 1000, outputTokens: 100, cachedTokens: 600, cacheWriteTokens: 300 };
  // 4 140 millionths, as above.
  test.each([
    ['flex', 0.00207],
    ['priority', 0.00828],
    ['default', 0.00414],
    ['toString', 0.00414],
    [undefined, 0.00414],
  ])('%s is billed as it was served', (serviceTier, usd) => {
    expect(usdOf({ ...usage, ...(serviceTier && { serviceTier }) }, tiered)).toBeCloseTo(usd, 12);
  });

  test.each([
    ['priority', 0.014],
    // No room there may mean the plain one.
    ['flex', 0.007],
    ['auto', 0.007],
    [undefined, 0.007],
  ])('%s is reserved at the dearer of it and none', (tier, usd) => {
    // 1 000 · 5, for what may be put into the cache, and 100 · 20: 7 000 millionths.
    const worst = { inputTokens: 1000, outputTokens: 100 };
    expect(mostCost(worst, tiered, tier).usd).toBeCloseTo(usd, 12);
  });

  test('is asked for by an option, or by a field of the body', async () => {
    for (const settings of [
      { serviceTier: 'priority' },
      { extraBody: { service_tier: 'priority' } },
      {},
    ]) {
      const { calls, journal } = openGate({ prices: { large: tiered } });
      const model = { ...recordingModel({}), modelId: 'large', settings };
      await calls.generate(model, { messages: [], maxTokens: 10 });
      const [intent] = journal.lines.filter(({ type }) => type === 'intent');
      // 16 around no message · 5, and 10 · 20: 280 millionths.
      const factor = Object.keys(settings).length > 0 ? 2 : 1;
      expect(intent).toMatchObject({ reserved: { usd: (280 * factor) / 1_000_000 } });
    }
  });
});

describe('a long prompt', () => {
  const long: ModelPrice = { ...price, longContext: { above: 1000, input: 2, output: 1.5 } };

  test.each([
    // 1 000 · 4 + 100 · 20
    [{ inputTokens: 1000, outputTokens: 100 }, 6000],
    // 1 001 · 8 + 100 · 30
    [{ inputTokens: 1001, outputTokens: 100 }, 11_008],
    // (401 · 4 + 600 · 0.4 + 100 · 5) · 2 + 100 · 30
    [{ inputTokens: 1101, outputTokens: 100, cachedTokens: 600, cacheWriteTokens: 100 }, 7688],
    // Two of 1 000 each.
    [{ inputTokens: 2000, outputTokens: 100, requests: 2 }, 10_000],
    // Two of 1 001 each: 2 002 · 8 + 100 · 30
    [{ inputTokens: 2002, outputTokens: 100, requests: 2 }, 19_016],
  ])('%j is billed as it was read', (usage, millionths) => {
    expect(usdOf(usage, long)).toBeCloseTo(millionths / 1_000_000, 12);
  });

  test('is reserved where it may be one', () => {
    // 1 000 · 5 + 100 · 20, and 1 001 · 10 + 100 · 30.
    expect(mostCost({ inputTokens: 1000, outputTokens: 100 }, long).usd).toBeCloseTo(0.007, 12);
    expect(mostCost({ inputTokens: 1001, outputTokens: 100 }, long).usd).toBeCloseTo(0.01301, 12);
  });

  test('that is cheaper is not reserved as one: it may turn out to be short', () => {
    const cheaper = { ...price, longContext: { above: 1000, input: 0.5, output: 0.5 } };
    // 2 000 · 5 + 100 · 20.
    expect(mostCost({ inputTokens: 2000, outputTokens: 100 }, cheaper).usd).toBeCloseTo(0.012, 12);
  });
});

describe('what a provider says it charged', () => {
  test('counts in place of the price', () => {
    const usage = { inputTokens: 1000, outputTokens: 100, usd: 0.0025 };
    expect(actualCost(usage, reserved, price)).toEqual({ calls: 1, tokens: 1100, usd: 0.0025 });
    expect(actualCost(usage, reserved, undefined).usd).toBe(0.0025);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('cannot be %d', (usd) => {
    expect(usdOf({ inputTokens: 1000, outputTokens: 100, usd }, price)).toBe(1);
  });

  test('makes up for an unknown price where it is reported', async () => {
    for (const [usd, unpriced] of [
      [0.5, []],
      [undefined, ['test:large']],
    ] as const) {
      const { calls, gate, ledger } = openGate();
      const usage = { inputTokens: 10, outputTokens: 1, ...(usd !== undefined && { usd }) };
      const answer = async () => ({ completions: [{ text: 'a' }], usage });
      await calls.generate({ ...recordingModel({ answer }), modelId: 'large' }, { messages: [] });
      expect([[...gate.unpriced], ledger.spend.usd]).toEqual([unpriced, usd ?? 0]);
    }
  });
});

test('a sum of usages holds what was charged, and the tier where it was that of all, else the parts', () => {
  const one = { inputTokens: 10, usd: 0.25, serviceTier: 'flex' };
  expect(sumOfUsages([one, { ...one, requests: 2 }])).toEqual({
    ...{ inputTokens: 20, usd: 0.5, serviceTier: 'flex', requests: 3 },
  });
  const other = { inputTokens: 10, serviceTier: 'default' };
  expect(sumOfUsages([one, other])).toEqual({ inputTokens: 20, requests: 2, parts: [one, other] });
  // What was at hand was not asked for.
  expect(sumOfUsages([one, { inputTokens: 0 }])).toEqual({ inputTokens: 10, serviceTier: 'flex' });
});

const worstCase = (request: GenerateRequest, samples: number, price: ModelPrice | undefined) =>
  mostCost(generate(recordingModel()).worstCase?.({ ...request, samples }), price);

describe('the worst case', () => {
  const request = { messages: [{ role: 'user' as const, content: 'hello' }], maxTokens: 10 };

  test('assumes that all that is read is put into the cache, where that costs more', () => {
    // 37 · 5 + 2 · 10 · 20 = 585 millionths.
    expect(worstCase(request, 2, price)).toEqual({ calls: 2, tokens: 57, usd: 0.000585 });
  });

  test('assumes plain reading where that costs more', () => {
    // 37 · 4 + 10 · 20 = 348 millionths.
    expect(worstCase(request, 1, { ...price, cacheWrite: 3 }).usd).toBe(0.000348);
    expect(worstCase(request, 1, { input: 4, output: 20 }).usd).toBe(0.000348);
  });

  test('counts a schema, tools and tool calls by their bytes', () => {
    const bytes = (changes: object) =>
      worstCase({ ...request, ...changes }, 1, undefined).tokens - 47;

    // {"a":1} and [{"name":"f","input":{}}]
    expect(bytes({ schema: { a: 1 } })).toBe(7);
    expect(bytes({ tools: [{ name: 'f', input: {} }] })).toBe(25);
    // 4 + 16, and [{"id":"1","name":"f","input":{}}]
    const toolCalls = [{ id: '1', name: 'f', input: {} }];
    const turn = { role: 'assistant', content: 'turn', toolCalls };
    expect(bytes({ messages: [...request.messages, turn] })).toBe(4 + 16 + 34);
  });
});

describe('the price of a model', () => {
  const known = { modelId: 'gpt-6-luna' };
  const own = { ...known, price: { input: 1, output: 2 } };
  const prices: PriceTable = { 'gpt-6-luna': { input: 3, output: 4 } };

  test("is the caller's, else the model's own, else the known one", () => {
    expect(priceOf(own, prices, true)).toEqual({ input: 3, output: 4 });
    expect(priceOf(own, {}, true)).toEqual({ input: 1, output: 2 });
    expect(priceOf(known, {}, true)).toBe(defaultPrices['gpt-6-luna']);
    expect(priceOf({ modelId: 'my-own' }, {}, false)).toBeUndefined();
  });

  test('of nothing is a price, and not an unknown one', () => {
    const free = { modelId: 'mine', price: { input: 0, output: 0 } };

    expect(priceOf(free, {}, true)).toEqual({ input: 0, output: 0 });
  });

  test.each([
    [{ modelId: 'gpt-6-luna-2026-08-07' }, 0.1],
    [{ modelId: 'claude-haiku-4-5-20251001' }, 1],
    [{ modelId: 'claude-opus-5@20260807' }, 5],
    [{ modelId: 'mistral-large-4-latest' }, 1.36],
    [{ modelId: 'openai/gpt-6-luna', provider: 'openrouter' }, 0.1],
    [{ modelId: 'anthropic/claude-haiku-4.5', provider: 'openrouter.chat' }, 1],
    [{ modelId: 'google/gemini-3.8-flash-20260807', provider: 'vertex' }, 0.75],
    [{ modelId: 'global.anthropic.claude-haiku-4-5-20251001-v1:0', provider: 'bedrock' }, 1],
    [{ modelId: 'global.anthropic.claude-opus-4-6-v1' }, 5],
    [{ modelId: 'global.anthropic.claude-opus-5-5' }, 4],
    [{ modelId: 'global.openai.gpt-6-luna', provider: 'bedrock' }, 0.1],
    [{ modelId: 'claude-haiku-4-5@20251001', provider: 'vertex' }, 1],
    // Bedrock asks a tenth more where a model is served in one part of the world; what one region asks is not known.
    [{ modelId: 'us.anthropic.claude-haiku-4-5-20251001-v1:0', provider: 'bedrock' }, undefined],
    [{ modelId: 'anthropic.claude-opus-5-5', provider: 'bedrock' }, undefined],
    [{ modelId: 'openai.gpt-oss-120b-1:0', provider: 'bedrock' }, undefined],
    // The model below a fine-tuned one costs something else, as does what another host serves, or gives away.
    [{ modelId: 'ft:gpt-6-luna:acme::1' }, undefined],
    [{ modelId: 'ft:gpt-6-luna-2026-08-07' }, undefined],
    [{ modelId: 'openai/gpt-6-luna', provider: 'together' }, undefined],
    [{ modelId: 'openai/gpt-6-luna:free', provider: 'openrouter' }, undefined],
    [{ modelId: 'acme/gpt-6-luna', provider: 'openrouter' }, undefined],
    [{ modelId: 'gpt-6-luna-20' }, undefined],
    [{ modelId: 'mistral-large-latest' }, undefined],
  ])('of %j is found by its name', (model, input) => {
    expect(priceOf(model, {}, false)?.input).toBe(input);
  });

  test('of a fine-tuned model is what its user says', () => {
    const tuned = { 'ft:gpt-6-luna:acme::1': { input: 3, output: 4 } };
    expect(priceOf({ modelId: 'ft:gpt-6-luna:acme::1' }, tuned, true)?.input).toBe(3);
    expect(() => priceOf({ modelId: 'ft:gpt-6-luna:acme::1' }, prices, true)).toThrow(
      'a price for `ft:gpt-6-luna:acme::1`',
    );
  });

  test.each<[string, PriceTable, number]>([
    // 500 · 0.1 + 400 · 0.01 + 100 · 0.125 + 200 · 0.5 = 50 + 4 + 12.5 + 100
    ['gpt-6-luna', {}, 166.5],
    // 500 · 4 + 400 · 0.2 + 100 · 5 + 200 · 20 = 2 000 + 80 + 500 + 4 000
    ['claude-opus-5-5', {}, 6580],
    // 500 · 1 + 400 · 0.1 + 100 · 1.25 + 200 · 5 = 500 + 40 + 125 + 1 000
    ['claude-haiku-4-5', {}, 1665],
    // 1 000 · 1 + 200 · 2
    ['claude-haiku-4-5', { 'claude-haiku-4-5': { input: 1, output: 2 } }, 1400],
    ['nobody-knows', {}, 0],
  ])('%s is charged by a search with prices %j', async (modelId, prices, millionths) => {
    const { calls, ledger, gate } = openGate({ prices });
    const usage = {
      inputTokens: 1000,
      outputTokens: 200,
      cachedTokens: 400,
      cacheWriteTokens: 100,
    };
    const answer = async () => ({ completions: [{ text: '' }], usage });
    await calls.generate({ ...recordingModel({ answer }), modelId }, { messages: [] });

    expect(ledger.spend.usd).toBeCloseTo(millionths / 1_000_000, 12);
    expect([...gate.unpriced]).toEqual(modelId === 'nobody-knows' ? ['test:nobody-knows'] : []);
  });
});

describe('the table', () => {
  test('has a date', () => {
    expect(pricesAsOf).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
  });

  // The dollars for a million tokens read, found in a cache, and written, of 22 November 2026.
  test.each<[string, readonly number[]]>([
    ['gpt-6-astra', [10, 1, 50]],
    ['gpt-6.1-sol', [2, 0.1, 10]],
    ['gpt-6-sol', [2, 0.2, 10]],
    ['gpt-6.1-terra', [1, 0.05, 5]],
    ['gpt-6-luna', [0.1, 0.01, 0.5]],
    ['claude-fable-5-1', [10, 0.25, 50]],
    ['claude-opus-5-5', [4, 0.2, 20]],
    ['claude-sonnet-5-5', [2, 0.1, 10]],
    ['claude-haiku-5-5', [0.1, 0.01, 0.5]],
    ['gemini-4-argon', [2, 0.1, 10]],
    ['gemini-3.8-flash', [0.75, 0.075, 3.75]],
    ['deepseek-v4-pro', [1.32, 0.044, 3.96]],
    ['deepseek-v4-flash', [0.3, 0.006, 1.2]],
    ['grok-4.7', [2, 0.5, 6]],
    ['mistral-large-4', [1.36, 0.14, 4.18]],
  ])('holds %s', (modelId, [input, cachedInput = 0, output]) => {
    const known = defaultPrices[modelId];
    expect([known?.input, known?.output]).toEqual([input, output]);
    expect(known?.cachedInput).toBeCloseTo(cachedInput, 12);
  });

  test.each([
    ['claude-haiku-5-5', { above: 100_000, input: 5, output: 5 }],
    ['gpt-6-sol', { above: 272_000, input: 2, output: 1.5 }],
    ['gpt-5.6-luna', { above: 272_000, input: 2, output: 1.5 }],
    ['grok-4.7', { above: 200_000, input: 2, output: 2 }],
  ])('knows from where on a prompt of %s is long', (modelId, longContext) => {
    expect(defaultPrices[modelId]?.longContext).toEqual(longContext);
  });

  test.each(Object.entries(defaultPrices))('has a sensible price for %s', (_modelId, known) => {
    const { input, output, cachedInput = input, cacheWrite = input } = known;

    expect(input).toBeGreaterThan(0);
    expect(output).toBeGreaterThan(input);
    expect(cachedInput).toBeLessThanOrEqual(input);
    expect(cacheWrite).toBeGreaterThanOrEqual(input);
  });
});

describe('what a search tells of models without a price', () => {
  const problem = syntheticTree({ branching: 2 });
  const run = (model: ReturnType<typeof scriptedModel>, prices: PriceTable = {}) =>
    searchOf({
      ...throughModel(problem, { model }),
      budget: { simulations: 3 },
      clock: manualClock({ auto: true }),
      prices,
    });
  const model = scriptedModel({ answer: hashedAnswer });

  test('is their names', async () => {
    const result = await run(model);

    expect(result.unpriced).toEqual(['scripted:script']);
    expect(result.spend.usd).toBe(0);
    expect((await result.resume()).unpriced).toEqual(['scripted:script']);
  });

  test('is nothing where the caller or the model names one', async () => {
    expect((await run(model, { script: { input: 0, output: 0 } })).unpriced).toEqual([]);
    const own = { ...model, price: { input: 0, output: 0 } };
    expect((await run(own)).unpriced).toEqual([]);
  });

  test('is an error where dollars are limited', async () => {
    const searching = searchOf({
      ...throughModel(problem, { model }),
      budget: { usd: 1 },
      clock: manualClock({ auto: true }),
    });

    await expect(searching).rejects.toThrow(
      'Expected `prices` (`--price-in` and `--price-out`) to hold a price for `script`, because dollars are limited, got none.',
    );
  });
});
