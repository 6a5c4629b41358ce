import { describe, expect, test } from 'vitest';
import { embed } from '../../src/calls/operations/embed.ts';
import { defaultMaxTokens, generate } from '../../src/calls/operations/generate.ts';
import { actualCost, mostCost, priceOf } from '../../src/calls/pricing.ts';
import { sumOfUsages } from '../../src/calls/usage.ts';
import type { GenerateRequest, Message, ModelPrice } from '../../src/contracts/language-model.ts';
import { recordingModel } from './harness.ts';

const price = { input: 3, output: 15 };
const worstCase = (request: GenerateRequest, samples: number, price: ModelPrice | undefined) =>
  mostCost(generate(recordingModel()).worstCase?.({ ...request, samples }), price);

const user = (content: string): Message => ({ role: 'user', content });

describe('worstCase', () => {
  test('counts bytes, 16 tokens a message and 16 around them, and all completions in full', () => {
    const messages = [user('hello'), user('four')];

    // In: 16 + (5 + 16) + (4 + 16) = 57. Out: 3 · 100 = 300.
    // Dollars: (57 · 3 + 300 · 15) / 1 000 000 = 4 671 / 1 000 000.
    expect(worstCase({ messages, maxTokens: 100 }, 3, price)).toEqual({
      calls: 3,
      tokens: 357,
      usd: 0.004671,
    });
  });

  test('counts bytes and not characters, because no token is shorter than a byte', () => {
    // 'ü' is 2 bytes, '木' 3, '🌳' 4.
    expect(worstCase({ messages: [user('ü木🌳')], maxTokens: 1 }, 1, undefined).tokens).toBe(42);
  });

  test('assumes 1 024 tokens a completion where the request sets no limit', () => {
    expect(defaultMaxTokens).toBe(1024);
    expect(worstCase({ messages: [] }, 2, undefined)).toEqual({ calls: 2, tokens: 2064, usd: 0 });
  });
});

test('the worst case of an embedding is one call that writes nothing', () => {
  const model = { provider: 'test', modelId: 'vectors', embed: async () => ({ embeddings: [] }) };
  // 16 + (2 + 16) + (3 + 16) = 53 tokens at 3 dollars a million.
  expect(mostCost(embed(model).worstCase?.(['ab', 'abc']), price)).toEqual({
    calls: 1,
    tokens: 53,
    usd: 0.000159,
  });
});

describe('actualCost', () => {
  const reserved = { calls: 2, tokens: 500, usd: 1 };

  test('is what was used, at its price', () => {
    // (1 000 · 3 + 200 · 15) / 1 000 000
    expect(actualCost({ inputTokens: 1000, outputTokens: 200 }, reserved, price)).toEqual({
      calls: 2,
      tokens: 1200,
      usd: 0.006,
    });
  });

  test('is all that was reserved where the usage was not told, or only half of it', () => {
    expect(actualCost(undefined, reserved, price)).toEqual(reserved);
    expect(actualCost({}, reserved, price)).toEqual(reserved);
    expect(actualCost({ inputTokens: 1 }, reserved, price)).toEqual(reserved);
    expect(actualCost({ outputTokens: 1 }, reserved, price)).toEqual(reserved);
  });

  test('is the sum of what was served in different tiers, each at its own price', () => {
    const request = { inputTokens: 1000, outputTokens: 100 };
    const tiers = ['default', 'priority', 'priority'];
    const usage = sumOfUsages(tiers.map((serviceTier) => ({ ...request, serviceTier })));
    const price = { input: 2, output: 10, tiers: { priority: 2 } };
    // 1,000 tokens at $2 and 100 at $10 a million are $0.003, in the dear tier $0.006.
    expect(actualCost(usage, { calls: 3, tokens: 9, usd: 9 }, price)).toEqual({
      ...{ calls: 3, tokens: 3300 },
      usd: expect.closeTo(0.015, 12),
    });
    const odd = { ...usage, parts: [{ inputTokens: -1 }] };
    const reserved = { calls: 3, tokens: 9, usd: 9 };
    expect(actualCost(odd, reserved, price)).toEqual(reserved);
  });

  test('takes a usage of 0 for what it is', () => {
    expect(actualCost({ inputTokens: 0, outputTokens: 0 }, reserved, price)).toEqual({
      calls: 2,
      tokens: 0,
      usd: 0,
    });
  });

  test('costs no dollars where there is no price', () => {
    expect(actualCost({ inputTokens: 5, outputTokens: 5 }, reserved, undefined).usd).toBe(0);
  });
});

describe('priceOf', () => {
  test('finds the price of a model', () => {
    expect(priceOf({ modelId: 'small' }, { small: price }, true)).toBe(price);
  });

  test('asks for no price where dollars are not limited', () => {
    expect(priceOf({ modelId: 'unknown' }, {}, false)).toBeUndefined();
  });

  test('refuses a model without a price where dollars are limited', () => {
    expect(() => priceOf({ modelId: 'unknown' }, { small: price }, true)).toThrow(
      'Expected `prices` (`--price-in` and `--price-out`) to hold a price for `unknown`, because dollars are limited, got none.',
    );
  });

  test('finds no price in what every object has', () => {
    expect(() => priceOf({ modelId: 'constructor' }, {}, true)).toThrow(
      'a price for `constructor`',
    );
  });
});
