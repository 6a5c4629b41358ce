import { expect, test } from 'vitest';
import {
  amount,
  budgetText,
  dollars,
  percent,
  percentWithin,
  pointsWithin,
  pValue,
  shortened,
} from '../../src/bench/figures.ts';

test('shares, differences and p-values are shown as in the documents', () => {
  expect(percent(0.7349)).toBe('73.5 %');
  expect(percent(1)).toBe('100.0 %');
  expect(percent(null)).toBe('unknown');
  expect(percentWithin(0.735, { low: 0.701, high: 0.767 })).toBe('73.5 % [70.1, 76.7]');
  expect(pointsWithin(0.08, { low: 0.042, high: 0.117 })).toBe('+8.0 [4.2, 11.7]');
  expect(pointsWithin(-0.103, { low: -0.148, high: -0.057 })).toBe('−10.3 [−14.8, −5.7]');
  expect(pValue(0.0004)).toBe('< 0.001');
  expect(pValue(0.0123)).toBe('0.012');
});

test('what rounds to nothing has no sign', () => {
  expect(pointsWithin(-0.0004, { low: -0.0004, high: 0.0004 })).toBe('0.0 [0.0, 0.0]');
  expect(pointsWithin(0.0004, { low: -0.02, high: 0.02 })).toBe('0.0 [−2.0, 2.0]');
});

test.each([
  [0, '0'],
  [12, '12'],
  [12.04, '12'],
  [27.46, '27.5'],
  [99.94, '99.9'],
  [99.96, '100'],
  [1_012.4, '1,012'],
  [null, 'unknown'],
  [Number.NaN, 'unknown'],
])('the amount %s is shown as %s', (value, shown) => {
  expect(amount(value)).toBe(shown);
});

test.each([
  [0, '$0'],
  [0.18, '$0.18'],
  [0.0034, '$0.0034'],
  [0.000_000_123, '$0.00000012'],
  [1, '$1.00'],
  [1_204.5, '$1,204.50'],
  [null, 'unknown'],
])('%s dollars are shown as %s', (value, shown) => {
  expect(dollars(value)).toBe(shown);
});

test.each([
  [{ unit: 'tokens', limit: 2_000 }, '2,000 tokens'],
  [{ unit: 'calls', limit: 1 }, '1 call'],
  [{ unit: 'usd', limit: 0.05 }, '$0.050'],
  [{ unit: 'ms', limit: 200 }, '200 ms'],
  [{ unit: 'ms', limit: 1_500 }, '1.5 s'],
] as const)('the limit %o is shown as %s', (budget, shown) => {
  expect(budgetText(budget)).toBe(shown);
});

test('a long name is cut in its middle, by characters, and stays on its line', () => {
  expect(shortened('best-of-n', 9)).toBe('best-of-n');
  expect(shortened('abcdefghij', 5)).toBe('ab…ij');
  expect(shortened('🙂🙂🙂🙂', 3)).toBe('🙂…🙂');
  expect(shortened('a\n\tb\u202ec\u2028', 9)).toBe('a b c');
});
