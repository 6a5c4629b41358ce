import { describe, expect, it } from 'vitest';
import {
  add,
  compareRationals,
  divide,
  formatRational,
  multiply,
  parseRational,
  type Rational,
  rational,
  subtract,
} from '../../src/environments/puzzles/rational.ts';

const third = rational(1, 3);
const half = rational(1, 2);

describe('exact fractions', () => {
  it('are in lowest terms with a positive denominator', () => {
    expect(rational(6, -4)).toEqual({ numerator: -3, denominator: 2 });
    expect(rational(0, -7)).toEqual({ numerator: 0, denominator: 1 });
    expect(Object.is(rational(0, -7).numerator, 0)).toBe(true);
    expect(Object.is(rational(-0).numerator, 0)).toBe(true);
  });

  it('compute what was worked out by hand', () => {
    expect(add(third, half)).toEqual({ numerator: 5, denominator: 6 });
    expect(subtract(third, half)).toEqual({ numerator: -1, denominator: 6 });
    expect(multiply(rational(-2, 3), rational(9, 4))).toEqual({ numerator: -3, denominator: 2 });
    expect(divide(rational(8), subtract(rational(3), rational(8, 3)) as Rational)).toEqual({
      numerator: 24,
      denominator: 1,
    });
  });

  it('agree with whole-number arithmetic of any size on small parts', () => {
    for (let index = 0; index < 2_000; index++) {
      const [a, b, c, d] = [index % 13, (index % 7) + 1, -(index % 17), (index % 11) + 1] as const;
      const sum = add(rational(a, b), rational(c, d));
      expect(BigInt(sum?.numerator ?? 0) * BigInt(b * d)).toBe(
        BigInt(a * d + c * b) * BigInt(sum?.denominator ?? 0),
      );
    }
  });

  it('have no result where it could be inexact', () => {
    const large = rational(Number.MAX_SAFE_INTEGER);
    expect(add(large, rational(1))).toBeUndefined();
    expect(multiply(large, rational(2))).toBeUndefined();
    expect(divide(half, rational(0))).toBeUndefined();
    // Both cross products leave the safe integers, and their difference would look harmless.
    const near = rational(Number.MAX_SAFE_INTEGER, 2 ** 26);
    expect(subtract(near, rational(Number.MAX_SAFE_INTEGER - 2, 2 ** 26 + 1))).toBeUndefined();
  });

  it('are compared exactly, even where the products are not safe integers', () => {
    expect(compareRationals(third, half)).toBeLessThan(0);
    expect(compareRationals(half, rational(2, 4))).toBe(0);
    const larger = rational(2 ** 52 + 1, 2 ** 52);
    const smaller = rational(2 ** 52 + 2, 2 ** 52 + 1);
    expect(compareRationals(larger, smaller)).toBeGreaterThan(0);
  });

  it('refuse parts that are no safe integers, and the denominator 0', () => {
    expect(() => rational(1, 0)).toThrow('Expected a fraction of safe integers, got `1/0`.');
    expect(() => rational(0.5)).toThrow('got `0.5/1`');
    expect(() => rational(2 ** 53)).toThrow('Expected a fraction of safe integers');
  });

  it('are read as they are written, and as decimals', () => {
    for (const value of [third, rational(-8, 3), rational(24), rational(0)]) {
      expect(parseRational(formatRational(value))).toEqual(value);
    }
    expect(parseRational('2.50')).toEqual(rational(5, 2));
    expect(parseRational('-0.125')).toEqual(rational(-1, 8));
    for (const text of ['', 'x', '1/0', '1//2', '1e3', '.5', '99999999999999999999', '1/2/3']) {
      expect(parseRational(text), text).toBeUndefined();
    }
  });
});
