import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { betaBelief, gaussianBelief, thompson } from '../../src/index.ts';
import { sampleBeta, sampleGamma, sampleNormal } from '../../src/tree/posterior.ts';
import { scripted } from './grow.ts';

interface Moments {
  readonly mean: number;
  readonly variance: number;
  readonly least: number;
  readonly greatest: number;
}

function momentsOf(draw: () => number, count = 20_000): Moments {
  const draws = Array.from({ length: count }, draw);
  const mean = draws.reduce((sum, value) => sum + value, 0) / count;
  const variance = draws.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count;
  const least = draws.reduce((a, b) => Math.min(a, b));
  return { mean, variance, least, greatest: draws.reduce((a, b) => Math.max(a, b)) };
}

describe('sampleBeta', () => {
  // Mean a / (a + b), variance ab / ((a + b)² (a + b + 1)).
  test.each([
    { a: 1, b: 1, mean: 0.5, variance: 0.08333333333333333 },
    { a: 2, b: 5, mean: 0.2857142857142857, variance: 0.025510204081632654 },
    { a: 0.5, b: 0.5, mean: 0.5, variance: 0.125 },
    { a: 40, b: 10, mean: 0.8, variance: 0.0031372549019607846 },
    { a: 0.1, b: 3, mean: 0.03225806451612903, variance: 0.007614019948732266 },
  ])('has the mean and the variance of Beta($a, $b)', ({ a, b, mean, variance }) => {
    const random = seededRandom(`beta ${a} ${b}`);
    const drawn = momentsOf(() => sampleBeta(random, a, b));

    // Five standard errors of the mean of 20 000 draws.
    expect(Math.abs(drawn.mean - mean)).toBeLessThan(5 * Math.sqrt(variance / 20_000));
    expect(Math.abs(drawn.variance / variance - 1)).toBeLessThan(0.1);
    expect(drawn.least).toBeGreaterThanOrEqual(0);
    expect(drawn.greatest).toBeLessThanOrEqual(1);
  });

  test('stays a number where both shapes are almost nothing', () => {
    const random = seededRandom('tiny');
    const { mean, least, greatest } = momentsOf(() => sampleBeta(random, 1e-6, 1e-6), 2_000);

    expect(least).toBeGreaterThanOrEqual(0);
    expect(greatest).toBeLessThanOrEqual(1);
    // Almost all mass lies at 0, 1, or, where both gammas underflow, at one half: the mean is 1/2.
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.06);
  });
});

describe('sampleGamma', () => {
  // Mean and variance of Gamma(shape, 1) are both the shape.
  test.each([0.3, 1, 2.5, 30])('has mean and variance %d', (shape) => {
    const random = seededRandom(`gamma ${shape}`);
    const { mean, variance, least } = momentsOf(() => sampleGamma(random, shape));

    expect(Math.abs(mean - shape)).toBeLessThan(5 * Math.sqrt(shape / 20_000));
    expect(Math.abs(variance / shape - 1)).toBeLessThan(0.15);
    expect(least).toBeGreaterThanOrEqual(0);
  });
});

describe('sampleNormal', () => {
  test('has mean 0, variance 1, and one draw in twenty beyond 1.96', () => {
    const random = seededRandom('normal');
    let beyond = 0;
    const { mean, variance } = momentsOf(() => {
      const draw = sampleNormal(random);
      if (Math.abs(draw) > 1.959963984540054) beyond++;
      return draw;
    });

    expect(Math.abs(mean)).toBeLessThan(0.036);
    expect(Math.abs(variance - 1)).toBeLessThan(0.05);
    expect(Math.abs(beyond / 20_000 - 0.05)).toBeLessThan(0.008);
  });

  test('turns a radius and an angle into a draw', () => {
    // √(−2 · ln(1 − 0.5)) · cos(2π · 0) = √1.3862943611198906
    expect(sampleNormal(scripted(0.5, 0))).toBeCloseTo(1.1774100225154747, 15);
    // The same radius at half a turn.
    expect(sampleNormal(scripted(0.5, 0.5))).toBeCloseTo(-1.1774100225154747, 15);
  });

  test('is finite for the least and the greatest random number', () => {
    expect(sampleNormal(scripted(0, 0))).toBeCloseTo(0, 15);
    // 1 − (1 − 2⁻⁵³) = 2⁻⁵³: √(2 · 53 · ln 2)
    expect(sampleNormal(scripted(1 - 2 ** -53, 0))).toBeCloseTo(8.571674348652905, 12);
  });
});

describe('what cannot be drawn is refused, and never tried without end', () => {
  test.each([Number.NaN, 0, -1, -1e6, Number.POSITIVE_INFINITY])('the shape %d', (shape) => {
    expect(() => sampleGamma(seededRandom(0), shape)).toThrow('Values must lie in [0, 1]');
  });

  test.each([
    ['kappa', () => gaussianBelief({ kappa: -1 })],
    ['nu', () => gaussianBelief({ nu: -1 })],
    ['nu', () => gaussianBelief({ nu: Number.NaN })],
    ['variance', () => gaussianBelief({ variance: -1 })],
    ['mean', () => gaussianBelief({ mean: Number.POSITIVE_INFINITY })],
    ['a', () => betaBelief({ a: Number.NaN })],
    ['b', () => betaBelief({ b: 0 })],
    ['pseudoCounts[1]', () => thompson({ pseudoCounts: [1, -1] })],
  ])('the option %s', (name, make) => {
    expect(make).toThrow(`Expected \`${name}\` to be a finite number`);
  });

  test('an option that there is not', () => {
    const slip: object = { varience: 1 };
    expect(() => gaussianBelief(slip)).toThrow('Did you mean `variance`?');
    expect(() => betaBelief({ ...slip })).toThrow('`betaBelief` has no option `varience`');
  });

  test('a normal belief over values whose squares overflow', () => {
    const seen = { count: 2, mean: 1e200, squares: 0 };
    expect(() => gaussianBelief().draw(seededRandom(0), seen)).toThrow('too large');
  });

  test('a normal belief that trusts its variance in next to nothing still draws numbers', () => {
    const random = seededRandom('little trust');
    const seen = { count: 0, mean: 0, squares: 0 };
    for (const variance of [0, 1]) {
      const belief = gaussianBelief({ nu: 1e-300, variance });
      const draws = Array.from({ length: 100 }, () => belief.draw(random, seen));
      expect(draws.filter(Number.isNaN)).toEqual([]);
    }
  });
});
