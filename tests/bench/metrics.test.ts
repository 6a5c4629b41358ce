import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { wilsonInterval } from '../../src/base/stats/wilson-interval.ts';
import { pairedDifference } from '../../src/bench/metrics.ts';

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
  test('gives the limits of a table worked out by hand', () => {
    // n = 50, p1 = 0.64 in [0.50141, 0.75861], p2 = 0.44 in [0.31162, 0.57694],
    // φ = (20·16 − 12·2 − 25) / √(32·18·22·28) = 271 / 595.66 = 0.45495.
    const { difference, low, high } = pairedDifference(...outcomes(20, 12, 2, 16));
    expect(difference).toBe(0.2);
    expect(low).toBeCloseTo(0.0562, 4);
    expect(high).toBeCloseTo(0.3292, 4);
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

  property.prop([fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 60 })])(
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
