import { describe, expect, test } from 'vitest';
import { generate } from '../../src/calls/operations/generate.ts';
import { defaultPrices, type PriceTable, pricesAsOf } from '../../src/calls/prices.ts';
import { actualCost, mostCost, priceOf } from '../../src/calls/pricing.ts';
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
      'Expected `prices` to hold a price for `script`, because `budget.usd` is set, got none.',
    );
  });
});
