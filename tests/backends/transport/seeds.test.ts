import { expect, test } from 'vitest';
import { seedOf } from '../../../src/backends/transport/seeds.ts';

test('a seed has at most 31 bits, whatever it is made of', () => {
  for (const seed of [0, 1, -1, 7, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    for (const index of [0, 1, 63, 2 ** 30 - 1, 2 ** 30, 2 ** 40]) {
      const derived = seedOf(seed, index);
      expect(Number.isInteger(derived)).toBe(true);
      expect(derived).toBeGreaterThanOrEqual(0);
      expect(derived).toBeLessThan(2 ** 31);
    }
  }
});

test('samples are seeded as a server seeds the choices of one request', () => {
  for (const seed of [0, 5, -3]) {
    for (const index of [1, 2, 99]) expect(seedOf(seed, index)).toBe(seedOf(seed, 0) + index);
  }
});

test('neighbouring seeds of users do not share samples', () => {
  const firsts = Array.from({ length: 200 }, (_, seed) => seedOf(seed, 0)).sort((a, b) => a - b);
  const gaps = firsts.slice(1).map((first, place) => first - (firsts[place] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThan(64);
});
