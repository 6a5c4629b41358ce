import { expect, test } from 'vitest';
import { counted } from '../../src/base/counted.ts';

test.each([
  [1, 'call', '1 call'],
  [2, 'call', '2 calls'],
  [0, 'search', '0 searches'],
  [1, 'search', '1 search'],
  [3, 'batch', '3 batches'],
])('%d %s are shown as %s', (count, noun, shown) => {
  expect(counted(count, noun)).toBe(shown);
});
