import { expect, test } from 'vitest';
import { memoryJournal } from '../../src/calls/index.ts';
import type { Generation, LanguageModel } from '../../src/contracts/language-model.ts';
import { reasoning } from '../../src/environments/index.ts';
import { mcts, search } from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import { judge } from '../../src/values/index.ts';

const price = { input: 10, output: 20, cachedInput: 1, cacheWrite: 12 };

/** A model whose every sample uses the same. */
function model(modelId: string, text: string, priced = true): LanguageModel {
  return {
    ...{ provider: 'p', modelId, capabilities: { n: true } },
    ...(priced && { price }),
    async generate({ samples = 1 }): Promise<Generation> {
      return {
        completions: Array.from({ length: samples }, () => ({ text, finishReason: 'stop' })),
        usage: {
          inputTokens: 1000,
          cachedTokens: 600,
          cacheWriteTokens: 100,
          outputTokens: 50 * samples,
          reasoningTokens: 40 * samples,
        },
      };
    },
  };
}

const environment = reasoning({ question: 'What is 7 + 5?' });
const settings = (proposer: LanguageModel, critic: LanguageModel) => ({
  policy: fromModel({ model: proposer }),
  evaluator: judge({ model: critic, samples: 1 }),
  algorithm: mcts({ width: 2 }),
  budget: { calls: 3 },
});

test('what models used is told by role and model, with what it would have cost without a cache', async () => {
  const { usage, spend } = await search(
    environment,
    settings(model('writer', 'The answer is 12.'), model('critic', 'sure')),
  );
  // 300 read, 600 from the cache, 100 written to it: (3000 + 600 + 1200 + 20 * written) / 10^6.
  expect(usage).toEqual([
    {
      ...{ role: 'policy', model: 'p:writer', calls: 2, inputTokens: 1000, cachedTokens: 600 },
      ...{ cacheWriteTokens: 100, outputTokens: 100, reasoningTokens: 80 },
      usd: expect.closeTo(0.0068, 12) as number,
      uncachedUsd: expect.closeTo(0.012, 12) as number,
    },
    {
      ...{ role: 'evaluator', model: 'p:critic', calls: 1, inputTokens: 1000, cachedTokens: 600 },
      ...{ cacheWriteTokens: 100, outputTokens: 50, reasoningTokens: 40 },
      usd: expect.closeTo(0.0058, 12) as number,
      uncachedUsd: expect.closeTo(0.011, 12) as number,
    },
  ]);
  expect(spend.usd).toBeCloseTo(0.0126, 12);
});

test('a replay reports the same, and an unknown price is not 0', async () => {
  const journal = memoryJournal();
  const given = settings(model('writer', 'The answer is 12.', false), model('critic', 'sure'));
  const first = await search(environment, { ...given, journal });
  const again = await search(environment, { ...given, journal });
  expect(again.coverage.recorded).toBe(3);
  expect(again.usage).toEqual(first.usage);
  expect(first.usage.map(({ usd }) => usd)).toEqual([
    undefined,
    expect.closeTo(0.0058, 12) as number,
  ]);
});

test('what goes on from a result counts on, and counts nothing twice', async () => {
  const given = settings(model('writer', 'Go on.'), model('critic', 'likely'));
  const first = await search(environment, given);
  const more = await first.resume({ budget: { calls: 6 } });
  const callsOf = (usage: typeof more.usage) => usage.reduce((sum, { calls }) => sum + calls, 0);
  expect(callsOf(first.usage)).toBe(first.spend.calls);
  expect(callsOf(more.usage)).toBe(first.spend.calls + more.spend.calls);
});
