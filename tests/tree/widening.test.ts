import { expect, test } from 'vitest';
import { progressiveWidening } from '../../src/tree/widening.ts';
import { stats } from './grow.ts';

const widths = (count: number) => Array.from({ length: count }, () => stats());

test.each([
  { visits: 0, most: 1 },
  { visits: 1, most: 1 },
  { visits: 2, most: 2 },
  { visits: 4, most: 2 },
  { visits: 5, most: 3 },
  { visits: 9, most: 3 },
  { visits: 10, most: 4 },
])('allows ⌈√$visits⌉ children by default, and one before the first visit', ({ visits, most }) => {
  const rule = progressiveWidening();

  expect(rule(stats({ visits, children: widths(most - 1) }))).toBe(true);
  expect(rule(stats({ visits, children: widths(most) }))).toBe(false);
});

test('takes k and α', () => {
  const rule = progressiveWidening({ k: 2, alpha: 0.25 });

  // 2 · 81^¼ = 6
  expect(rule(stats({ visits: 81, children: widths(5) }))).toBe(true);
  expect(rule(stats({ visits: 81, children: widths(6) }))).toBe(false);
});

test('counts simulations under way as visits', () => {
  const rule = progressiveWidening();

  // 2 < √(3 + 1) is false, 2 < √(3 + 2) is true.
  expect(rule(stats({ visits: 3, inFlight: 1, children: widths(2) }))).toBe(false);
  expect(rule(stats({ visits: 3, inFlight: 2, children: widths(2) }))).toBe(true);
});

test('with α = 0 the width never grows', () => {
  const rule = progressiveWidening({ k: 3, alpha: 0 });

  expect(rule(stats({ visits: 1_000_000, children: widths(2) }))).toBe(true);
  expect(rule(stats({ visits: 1_000_000, children: widths(3) }))).toBe(false);
});
