import { describe, expect, test } from 'vitest';
import { withCache, wrapModel } from '../../../src/calls/index.ts';
import type { GenerateRequest, LanguageModel } from '../../../src/index.ts';
import { manualClock } from '../../../src/testing/index.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];

/** Reads 100 tokens, of which 40 are cached, and writes 10 for each sample and one more for each request. */
function counting({ ms = 0 } = {}) {
  const asked: number[] = [];
  const model: LanguageModel = {
    provider: 'test',
    modelId: 'counting',
    capabilities: { n: true },
    async generate({ samples = 1, offset = 0 }, { clock, signal }) {
      if (ms > 0) await clock.sleep(ms, signal);
      asked.push(samples);
      return {
        completions: Array.from({ length: samples }, (_, place) => ({ text: `${offset + place}` })),
        usage: { inputTokens: 100, cachedTokens: 40, outputTokens: 10 * samples + 1 },
      };
    },
  };
  return { model, asked };
}

function ask(
  model: LanguageModel,
  request: Partial<GenerateRequest>,
  clock = manualClock({ auto: true }),
) {
  return model.generate({ messages, ...request }, { signal: new AbortController().signal, clock });
}

describe('a cache that charges', () => {
  test('charges again what was bought, the prompt once for all samples of a request', async () => {
    const { model, asked } = counting();
    const cached = wrapModel(model, withCache({ charged: true }));
    const first = await ask(cached, { samples: 3 });
    expect(first.usage).toMatchObject({ inputTokens: 100, cachedTokens: 40, outputTokens: 31 });
    expect((await ask(cached, { samples: 3 })).usage).toEqual(first.usage);
    // Three samples of equal length share 31 tokens: up to 10.3, 20.7 and 31 of them, rounded.
    expect((await ask(cached, {})).usage).toMatchObject({ inputTokens: 100, outputTokens: 10 });
    expect((await ask(cached, { offset: 1, samples: 2 })).usage).toMatchObject({
      inputTokens: 100,
      outputTokens: 21,
    });
    expect(asked).toEqual([3]);
  });

  test('a long sample has more of what was written for several than a short one', async () => {
    const model: LanguageModel = {
      ...{ provider: 'test', modelId: 'uneven', capabilities: { n: true } },
      generate: async ({ samples = 1 }) => ({
        completions: ['abcd', 'x'.repeat(28)].slice(0, samples).map((text) => ({ text })),
        usage: { inputTokens: 5, outputTokens: 11 },
      }),
    };
    const cached = wrapModel(model, withCache({ charged: true }));
    await ask(cached, { samples: 2 });
    // With the token that ends them they are 8 and 32 of 40 characters: 2.2 and 8.8 of 11 tokens.
    expect((await ask(cached, {})).usage.outputTokens).toBe(2);
    expect((await ask(cached, { offset: 1 })).usage.outputTokens).toBe(9);
  });

  test('charges one prompt where it buys a part and has the rest', async () => {
    const { model, asked } = counting();
    const cached = wrapModel(model, withCache({ charged: true }));
    await ask(cached, { samples: 2 });
    const { usage, fromCache } = await ask(cached, { samples: 5 });
    // 21 were written for the first two, 31 for the others.
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 52 });
    expect(fromCache).toBeUndefined();
    expect(asked).toEqual([2, 3]);
  });

  test('charges nothing without being told to', async () => {
    const { model } = counting();
    const cached = wrapModel(model, withCache());
    await ask(cached, {});
    expect(await ask(cached, {})).toMatchObject({
      fromCache: true,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  test('asks anew where a store holds what says nothing of its use', async () => {
    const { model, asked } = counting();
    const store = new Map<string, unknown>();
    await ask(wrapModel(model, withCache({ store })), {});
    const { usage } = await ask(wrapModel(model, withCache({ store, charged: true })), {});
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 11 });
    expect(asked).toEqual([1, 1]);
  });
});

describe('a cache with a pace', () => {
  test.each([true, false])('takes as long as buying took: %s', async (paced) => {
    const { model } = counting({ ms: 700 });
    const cached = wrapModel(model, withCache({ paced }));
    const clock = manualClock({ auto: true });
    await ask(cached, { samples: 2 }, clock);
    const began = clock.now();
    await ask(cached, {}, clock);
    expect(clock.now() - began).toBe(paced ? 700 : 0);
  });
});
