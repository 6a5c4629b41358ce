import { expect, test } from 'vitest';
import { estimateOf } from '../../src/bench/estimate.ts';

const size = { instances: 10, seeds: 2, methods: 3 };

test('what searches may be charged is told by unit, as no budget bounds another unit', () => {
  const budgets = [
    { unit: 'tokens', limit: 1_000 },
    { unit: 'calls', limit: 8 },
    { unit: 'tokens', limit: 2_000 },
    { unit: 'usd', limit: 0.01 },
  ] as const;
  // 60 searches at each budget; a token costs at most $0.4 / 10⁶.
  const { searches, units } = estimateOf({ ...size, budgets }, { input: 0.1, output: 0.4 });
  expect(searches).toBe(240);
  expect(units).toEqual([
    {
      ...{ unit: 'tokens', searches: 120, most: 180_000, likely: 120_000 },
      usd: { most: expect.closeTo(0.072, 12), likely: expect.closeTo(0.048, 12) },
    },
    { unit: 'calls', searches: 60, most: 480, likely: 480 },
    { unit: 'usd', searches: 60, most: 0.6, likely: 0.6 },
  ]);
});

test('dollars are at the highest price of a token, and none where that is unknown', () => {
  const budgets = [{ unit: 'tokens', limit: 1_000 }] as const;
  const dollars = (price: Parameters<typeof estimateOf>[1]) =>
    estimateOf({ ...size, budgets }, price).units[0]?.usd?.most;
  expect(dollars(undefined)).toBeUndefined();
  expect(dollars({ input: 4, cacheWrite: 5, output: 1 })).toBeCloseTo(0.3, 12);
  const longContext = { above: 999, input: 2, output: 1.5 };
  expect(dollars({ input: 1, output: 4, longContext })).toBeCloseTo(0.36, 12);
  expect(dollars({ input: 1, output: 4, longContext: { ...longContext, above: 1_000 } })).toBe(
    0.24,
  );
});
