import { describe, expect, test } from 'vitest';
import { describeLanguageModel } from '../../../src/testing/index.ts';
import { bench, clock, never, sampleByHand, textsOf } from './bench.ts';
import { reciting } from './fake-llama.ts';

for (const copies of [true, false]) {
  const { model } = bench({ copies, contextSize: 600 }, { sequences: 4 });
  describeLanguageModel(
    `llama on a fake${copies ? '' : ' that cannot copy'}`,
    { create: () => model, prompt: 'count from one to twenty, in words.' },
    { describe, test },
  );
}

describe('a sample', () => {
  test.each([true, false])(
    'is what the definition says, in any company (copies: %s)',
    async (copies) => {
      const { ask } = bench({ copies });
      const prompts = ['hello', 'help', 'hello you', 'other', 'he', 'hello'];
      const asked = prompts.map((prompt, place) => ({
        ...{ prompt, seed: place, samples: 1 + (place % 4), offset: place, maxTokens: 12 },
        temperature: 0.5 + place / 4,
      }));
      const generations = await Promise.all(asked.map((wish) => ask(wish)));
      for (const [place, { prompt, seed, samples, offset, temperature }] of asked.entries()) {
        const expected = Array.from({ length: samples }, (_, index) =>
          sampleByHand(prompt, { seed, index: offset + index, temperature }),
        );
        expect(generations[place] && textsOf(generations[place])).toEqual(expected);
      }
    },
  );

  test('is drawn from the whole vocabulary, also where that is large', async () => {
    const size = 2_000;
    // All alike: only one in four is among the 512 that are told.
    const flat = { size, logitsAfter: () => Array.from({ length: size }, () => 0) };
    const { ask, model } = bench(flat);
    const { completions, usage } = await ask({ maxTokens: 50, logprobs: true });
    const drawn = completions[0]?.logprobs ?? [];
    expect(drawn).toHaveLength(50);
    for (const { logprob } of drawn) expect(logprob).toBeCloseTo(-Math.log(size), 4);
    const rare = drawn.filter(({ token }) => Number(/\d+/.exec(token)?.[0] ?? 0) >= 512).length;
    // 50 draws of a chance of 3 in 4.
    expect(rare).toBeGreaterThan(25);
    // What is not told is asked for once more: one token each time, and here and there one on the border.
    const again = model.stats().computed - (usage.inputTokens ?? 0) - 49;
    expect(again).toBeGreaterThanOrEqual(rare);
    expect(again).toBeLessThanOrEqual(rare + 6);
    // Where a temperature makes that likely, it is told at once.
    const { ask: askWarm, model: warm } = bench(flat);
    await askWarm({ maxTokens: 50, temperature: 1.2 });
    expect(warm.stats().computed).toBe((usage.inputTokens ?? 0) + 49);
  });

  test('ends at a stop text, of which nothing is left', async () => {
    const { ask } = bench({ logitsAfter: reciting('one, two, three', 6) });
    const { completions, usage } = await ask({
      stop: ['two', ', th'],
      logprobs: true,
      maxTokens: 40,
    });
    expect(completions).toEqual([
      {
        text: 'one, ',
        finishReason: 'stop',
        logprobs: [...'one, '].map((token) => ({ token, logprob: expect.closeTo(0, 6) as number })),
      },
    ]);
    // All tokens count, those of the stop text too.
    expect(usage).toEqual({ inputTokens: 6, outputTokens: 8, cachedTokens: 0 });
  });

  test('ends with the context', async () => {
    const { ask } = bench({ logitsAfter: reciting('a'.repeat(99), 6), contextSize: 16 });
    const { completions, usage } = await ask({ maxTokens: 99 });
    // 15 places: 6 for the prompt; the last token is drawn and not read.
    expect(completions[0]).toEqual({ text: 'a'.repeat(10), finishReason: 'length' });
    expect(usage.outputTokens).toBe(10);
  });

  test('goes on from a partial answer', async () => {
    const { ask, model } = bench();
    const messages = [
      { role: 'user' as const, content: 'hello' },
      { role: 'assistant' as const, content: 'you' },
    ];
    const generation = await model.generate({ messages, maxTokens: 12 }, { signal: never, clock });
    expect(textsOf(generation)).toEqual([sampleByHand('hello\n\nyou', {})]);
    expect(textsOf(await ask({ prompt: 'hello\n\nyou', maxTokens: 12 }))).toEqual(
      textsOf(generation),
    );
  });
});

describe('what is read', () => {
  const wish = { maxTokens: 1, temperature: 0 };

  test('is the prompt once, for all samples', async () => {
    const { ask, model } = bench();
    const { usage } = await ask({ ...wish, prompt: 'count to ten', samples: 7 });
    expect(usage).toEqual({ inputTokens: 13, outputTokens: 7, cachedTokens: 0 });
    expect(model.stats()).toMatchObject({ requests: 1, computed: 13, reused: 6 * 13, sampled: 7 });
  });

  test('is of siblings that come together only what they do not have in common', async () => {
    const { ask, model } = bench();
    await ask({ ...wish, prompt: 'count' });
    const siblings = ['count a', 'count b', 'count c', 'count d'];
    const generations = await Promise.all(siblings.map((prompt) => ask({ ...wish, prompt })));
    // Of the first the space and the letter; of the others the letter alone.
    expect(model.stats().computed).toBe(6 + 2 + 1 + 1 + 1);
    expect(generations.map(({ usage }) => usage.cachedTokens)).toEqual([6, 7, 7, 7]);
  });

  test('is one token of a prompt that has been read: for what follows it', async () => {
    const { ask, model } = bench();
    await ask({ ...wish, prompt: 'count' });
    expect((await ask({ ...wish, prompt: 'count' })).usage.cachedTokens).toBe(5);
    expect(model.stats().computed).toBe(6 + 1);
  });

  test('is taken over also where the other text goes on differently', async () => {
    const { ask, model, native } = bench({}, { sequences: 2 });
    await ask({ ...wish, prompt: 'abcdefgh' });
    await ask({ ...wish, prompt: 'abcdxyz' });
    expect(model.stats().computed).toBe(9 + 3);
    // Both are still there.
    const held = native.contexts[0]?.sequences.map(({ held }) => held.length);
    expect(held?.toSorted()).toEqual([8, 9]);
  });

  test('goes where nothing was used for the longest time', async () => {
    const { ask, native } = bench({}, { sequences: 2 });
    for (const prompt of ['aaaa', 'bbbb', 'aaaac', 'dddd']) await ask({ ...wish, prompt });
    const texts = native.contexts[0]?.sequences.map(({ held }) => native.detokenize(held, false));
    expect(texts?.toSorted()).toEqual(['aaaac', 'dddd']);
  });

  test('is read again where a sequence cannot take over', async () => {
    const { ask, model } = bench({ copies: false });
    await ask({ ...wish, prompt: 'count', samples: 3 });
    const { computed } = model.stats();
    expect(computed).toBeGreaterThan(6);
    expect(computed).toBeLessThanOrEqual(3 * 6);
  });

  test('is read in pieces of a batch', async () => {
    const { ask, native } = bench({ batchSize: 4 });
    await ask({ ...wish, prompt: 'abcdefghij' });
    // Ten of eleven tokens, and the last for what follows it.
    expect(native.passes).toEqual([4, 4, 2, 1]);
  });
});
