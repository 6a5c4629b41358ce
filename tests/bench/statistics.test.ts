import { describe, expect, test } from 'vitest';
import { normalTails } from '../../src/base/stats/normal-tails.ts';
import { signFlipP } from '../../src/base/stats/sign-flips.ts';
import { studentQuantile, studentWithin } from '../../src/base/stats/student.ts';
import {
  areaOverLogBudget,
  calibrationOf,
  clusteredShare,
  holm,
  passAtK,
} from '../../src/bench/statistics.ts';

describe('tables', () => {
  // Abramowitz and Stegun, tables 26.1 and 26.10.
  test.each([
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [4, 2.776],
    [29, 2.045],
    [30, 2.042],
    [120, 1.98],
    [5000, 1.9604],
  ])('Student’s t of %d degrees of freedom is %d', (freedom, quantile) => {
    expect(studentQuantile(freedom)).toBeCloseTo(quantile, 3);
  });

  test('t of one degree is a Cauchy, and of two is known in closed form', () => {
    expect(studentWithin(1, 1)).toBeCloseTo(0.5, 12);
    expect(studentWithin(2, 2)).toBeCloseTo(2 / Math.sqrt(6), 12);
  });

  test.each([
    [0, 1],
    [1, 0.3173105],
    [1.959963985, 0.05],
    [-1.959963985, 0.05],
    [2.999, 0.002708673],
    [3.001, 0.002690946],
    [4, 6.334248e-5],
    [6, 1.973175e-9],
  ])('the normal tails beyond ± %d', (z, p) => {
    expect(normalTails(z) / p).toBeCloseTo(1, 5);
  });
});

describe('signFlipP', () => {
  const alone = (...values: readonly number[]) => values.map((value) => [value]);
  const times = (count: number, value: number) => new Array<number>(count).fill(value);

  test('is McNemar’s mid-p where each result stands alone', () => {
    // 2 · (C(10,0) + C(10,1) + C(10,2) / 2) / 2¹⁰ = 2 · 33.5 / 1024; problems alike change nothing.
    expect(signFlipP(alone(...times(8, 1), ...times(2, -1), ...times(40, 0)))).toBeCloseTo(
      67 / 1024,
      12,
    );
    expect(signFlipP(alone(...times(5, -1)))).toBeCloseTo(1 / 32, 12);
    // A sum of 0 is one place: 1 − C(4,2) / 2⁴ / 2.
    expect(signFlipP(alone(1, 1, -1, -1))).toBe(1 - 6 / 32);
    expect(signFlipP(alone(0, 0))).toBe(1);
    expect(signFlipP([])).toBe(1);
  });

  test('counts all signs of clusters of different sizes', () => {
    const groups = [[1, 0, 1], [1, 1], [-1, 0, 0, 0], [0, 1, 1, 1, 1], [0], [1]];
    const means = [2 / 3, 1, -1 / 4, 4 / 5, 1];
    const found = Math.abs(means.reduce((sum, value) => sum + value, 0));
    let p = 0;
    for (let signs = 0; signs < 32; signs++) {
      const flipped = means.map((value, place) => ((signs >> place) & 1 ? value : -value));
      const distance = Math.abs(flipped.reduce((sum, value) => sum + value, 0)) - found;
      if (Math.abs(distance) < 1e-9) p += 1 / 64;
      else if (distance > 0) p += 1 / 32;
    }
    expect(signFlipP(groups)).toBeCloseTo(p, 12);
  });

  test('says nearly the same where there are too many to count out', () => {
    const counted = signFlipP(alone(...times(113, 1), ...times(87, -1)));
    const normal = signFlipP(alone(...times(114, 1), ...times(87, -1)));
    // 26 / √200 = 1.838 and 27 / √201 = 1.904.
    expect(counted).toBeCloseTo(0.066, 3);
    expect(normal).toBeCloseTo(0.0569, 3);
  });
});

describe('clusteredShare', () => {
  test('is Wilson’s without clusters', () => {
    const results = Array.from({ length: 20 }, () => false);
    const { share, low, high } = clusteredShare(
      results,
      results.map((_, place) => `${place}`),
    );
    expect([share, low]).toEqual([0, 0]);
    expect(high).toBeCloseTo(0.1611, 4);
  });

  test('goes by the clusters where the results of each are alike', () => {
    // Ten problems five times each, four of them right: s²/n = 0.24/9, so nine trials; t(9) = 2.26216.
    const results = Array.from({ length: 50 }, (_, place) => place < 20);
    const { share, low, high } = clusteredShare(
      results,
      results.map((_, place) => `${Math.floor(place / 5)}`),
    );
    expect(share).toBeCloseTo(0.4, 12);
    // (0.4 + t²/18 ± t·√(0.24/9 + t²/324)) / (1 + t²/9), t² = 5.11737.
    expect(low).toBeCloseTo(
      (0.4 + 0.284298 - 2.262157 * Math.sqrt(0.0266667 + 0.0157944)) / 1.568597,
      5,
    );
    expect(high).toBeCloseTo(
      (0.4 + 0.284298 + 2.262157 * Math.sqrt(0.0266667 + 0.0157944)) / 1.568597,
      5,
    );
  });

  test('weighs clusters, not results', () => {
    const { share } = clusteredShare([true, true, true, false], ['one', 'one', 'one', 'other']);
    expect(share).toBe(0.5);
  });

  test('takes clusters that do not differ for one trial each', () => {
    const results = Array.from({ length: 100 }, () => false);
    const { low, high } = clusteredShare(
      results,
      results.map((_, place) => `${place % 20}`),
    );
    // t(19) = 2.093024: t² / (20 + t²).
    expect([low, high]).toEqual([0, expect.closeTo(4.380749 / 24.380749, 6)]);
  });

  test('knows nothing of nothing', () => {
    expect(clusteredShare([], [])).toEqual({ share: 0, low: 0, high: 1 });
  });
});

describe('passAtK', () => {
  test('is worked out by hand', () => {
    // Of five with two right: 1 − C(3,2)/C(5,2) = 0.7 and C(2,2)/C(5,2) = 0.1; of three with three: 1 and 1.
    const found = passAtK([
      { n: 5, right: 2 },
      { n: 3, right: 3 },
    ]);
    expect(found.map(({ k }) => k)).toEqual([2, 3, 4, 5]);
    expect(found[0]?.any).toBeCloseTo((0.7 + 1) / 2, 12);
    expect(found[0]?.all).toBeCloseTo((0.1 + 1) / 2, 12);
    // Three of five: 1 − 1/10 and 0; four of five, of the first problem alone: 1 and 0.
    expect(found[1]?.any).toBeCloseTo((0.9 + 1) / 2, 12);
    expect(found[1]?.all).toBeCloseTo(0.5, 12);
    expect(found[2]).toEqual({ k: 4, any: 1, all: 0 });
  });

  test('says nothing of one search', () => {
    expect(passAtK([{ n: 1, right: 1 }])).toEqual([]);
    expect(passAtK([])).toEqual([]);
  });
});

test('areaOverLogBudget weighs doublings alike', () => {
  // Two strips of ln 4: 0.3 and 0.5.
  const curve = [
    { limit: 2, accuracy: 0.2 },
    { limit: 8, accuracy: 0.4 },
    { limit: 32, accuracy: 0.6 },
  ];
  expect(areaOverLogBudget(curve)).toBeCloseTo(0.4, 12);
  expect(areaOverLogBudget(curve.slice(1))).toBeCloseTo(0.5, 12);
});

describe('calibrationOf', () => {
  test('is worked out by hand', () => {
    const found = calibrationOf([
      { value: 0.92, right: true },
      { value: 0.98, right: false },
      { value: 1, right: true },
      { value: 0.1, right: false },
      { value: null, right: true },
      { value: 3, right: true },
    ]);
    // Bins: [0.1, 0.2) with one, [0.9, 1] with three of mean 0.96667 and 2/3 right. Error: 0.75 · 0.3 + 0.25 · 0.1.
    expect(found?.expectedError).toBeCloseTo(0.25, 12);
    // (0.0064 + 0.9604 + 0 + 0.01) / 4.
    expect(found?.brier).toBeCloseTo(0.2442, 12);
    expect(found?.bins.map(({ n }) => n)).toEqual([1, 3]);
  });

  test('is none without values', () => {
    expect(calibrationOf([{ value: null, right: true }])).toBe(null);
  });
});

test('holm corrects step by step, and never lets an order turn', () => {
  // 4 · 0.01, 3 · 0.02, then 2 · 0.022 = 0.044 lifted to 0.06, and 0.5.
  const found = holm([0.022, 0.01, 0.5, 0.02]);
  for (const [place, value] of [0.06, 0.04, 0.5, 0.06].entries()) {
    expect(found[place]).toBeCloseTo(value, 12);
  }
  expect(holm([0.7, 0.9])).toEqual([1, 1]);
});
