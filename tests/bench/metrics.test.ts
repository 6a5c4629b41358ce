import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wilsonInterval } from '../../src/base/stats/wilson-interval.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';
import { property } from '../support/property.ts';

describe('wilsonInterval', () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
  test.each([
    [81, 263, [0.2553, 0.3662]],
    [15, 148, [0.0624, 0.1605]],
    [0, 20, [0, 0.1611]],
    [1, 29, [0.0061, 0.1718]],
  ] as const)('gives the published limits of %d in %d', (successes, trials, [low, high]) => {
    const interval = wilsonInterval(successes, trials);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test('knows nothing without trials', () => {
    expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
  });

  test('reaches 0 and 1 exactly', () => {
    expect(wilsonInterval(0, 7).low).toBe(0);
    expect(wilsonInterval(7, 7).high).toBe(1);
  });

  test.each([
    [3, 2, 'Expected `successes` to be an integer from 0 to 2, got `3`.'],
    [-1, 2, 'Expected `successes` to be an integer from 0 to 2, got `-1`.'],
    [0, 1.5, 'Expected `trials` to be an integer from 0 up, got `1.5`.'],
  ])('refuses %d successes in %d trials', (successes, trials, message) => {
    expect(() => wilsonInterval(successes, trials)).toThrow(message);
  });
});

describe('pairedDifference', () => {
  test.each([[[20, 12, 2, 16]], [[3, 9, 1, 5]], [[40, 0, 4, 6]], [[0, 7, 7, 1]]] as const)(
    'has its limits where the score test of a table turns: %s',
    ([both, onlyA, onlyB, neither]) => {
      const { difference, low, high } = pairedDifference(...outcomes(both, onlyA, onlyB, neither));
      const n = both + onlyA + onlyB + neither;
      expect(difference).toBeCloseTo((onlyA - onlyB) / n, 12);
      for (const limit of [low, high]) {
        expect(scoreByBruteForce([onlyA, onlyB, n], limit)).toBeCloseTo(1.959964 ** 2, 3);
      }
    },
  );

  test('turns exactly where the test of McNemar without correction does', () => {
    // (b − c)² / (b + c): 100 / 26 = 3.846 is above 1.96² = 3.841, and 81 / 25 = 3.24 below.
    expect(pairedDifference(...outcomes(50, 18, 8, 24)).low).toBeGreaterThan(0);
    expect(pairedDifference(...outcomes(50, 17, 8, 25)).low).toBeLessThan(0);
  });

  test('is certain of nothing at one problem', () => {
    const { low, high } = pairedDifference([true], [false]);
    expect(low).toBeLessThan(0.2);
    expect(high).toBe(1);
  });

  test('has width even where both ways always fare alike', () => {
    const { difference, low, high } = pairedDifference(...outcomes(10, 0, 0, 0));
    expect(difference).toBe(0);
    expect(low).toBeCloseTo(-0.2775, 4);
    expect(high).toBeCloseTo(0.2775, 4);
  });

  test('knows nothing without problems', () => {
    expect(pairedDifference([], [])).toEqual({ difference: 0, low: -1, high: 1 });
  });

  test('refuses results of different length', () => {
    expect(() => pairedDifference([true], [])).toThrow(
      'Expected `b` to be as long as `a`, which has 1 results, got an array of 0.',
    );
  });

  property([fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 60 })])(
    'holds the difference, stays in [−1, 1], and changes sides with its sides',
    (pairs) => {
      const a = pairs.map(([first]) => first);
      const b = pairs.map(([, second]) => second);
      const there = pairedDifference(a, b);
      const back = pairedDifference(b, a);
      expect(there.low).toBeLessThanOrEqual(there.difference);
      expect(there.high).toBeGreaterThanOrEqual(there.difference);
      expect(there.low).toBeGreaterThanOrEqual(-1 - 1e-12);
      expect(there.high).toBeLessThanOrEqual(1 + 1e-12);
      expect(back.difference).toBeCloseTo(-there.difference, 12);
      expect(back.low).toBeCloseTo(-there.high, 12);
      expect(back.high).toBeCloseTo(-there.low, 12);
    },
  );
});

describe('pairedDifference of clusters', () => {
  test('goes by independent pairs where those of a cluster always agree', () => {
    // Each problem five times over: as much as 30 problems, and t(29) = 2.04523 for 1.95996.
    const once = outcomes(10, 9, 3, 8);
    const five = once.map((list) => list.flatMap((solved) => new Array<boolean>(5).fill(solved)));
    const clusters = once[0].flatMap((_, place) => new Array<string>(5).fill(String(place)));
    const [a = [], b = []] = five;
    const { difference, low, high } = pairedDifference(a, b, clusters);
    expect(difference).toBeCloseTo(0.2, 12);
    // s² = (12 · 1 − 30 · 0.2²) / 29 = 0.372414, of one pair 0.36: 29 pairs.
    for (const limit of [low, high]) {
      expect(scoreByBruteForce([8.7, 2.9, 29], limit)).toBeCloseTo(2.04523 ** 2, 3);
    }
  });

  test('weighs clusters, not results', () => {
    const { difference } = pairedDifference(
      [true, true, true, false],
      [false, false, false, true],
      ['one', 'one', 'one', 'other'],
    );
    expect(difference).toBe(0);
  });
});

/** The score test of a difference, its shares of greatest likelihood looked for on a grid that grows finer. */
function scoreByBruteForce(
  [onlyA, onlyB, n]: readonly [number, number, number],
  difference: number,
): number {
  const likelihood = (shareB: number) => {
    const shareA = shareB + difference;
    const rest = 1 - shareA - shareB;
    if (shareA < 0 || shareB < 0 || rest < 0) return Number.NEGATIVE_INFINITY;
    const part = (count: number, share: number) => (count === 0 ? 0 : count * Math.log(share));
    return part(onlyA, shareA) + part(onlyB, shareB) + part(n - onlyA - onlyB, rest);
  };
  let [best, step] = [0, 0.5];
  for (let round = 0; round < 12; round++) {
    const grid = Array.from({ length: 81 }, (_, place) => best + (place - 40) * (step / 20));
    best = grid.reduce(
      (one, other) => (likelihood(other) > likelihood(one) ? other : one),
      Math.max(0, -difference),
    );
    step /= 5;
  }
  const variance = n * (2 * best + difference - difference ** 2);
  return (onlyA - onlyB - n * difference) ** 2 / variance;
}

/** Results of two ways with so many problems solved by both, the first, the second and neither. */
function outcomes(...[both, onlyA, onlyB, neither]: readonly [number, number, number, number]) {
  const repeat = (count: number, value: boolean) => new Array<boolean>(count).fill(value);
  return [
    [...repeat(both + onlyA, true), ...repeat(onlyB + neither, false)],
    [
      ...repeat(both, true),
      ...repeat(onlyA, false),
      ...repeat(onlyB, true),
      ...repeat(neither, false),
    ],
  ] as const;
}
