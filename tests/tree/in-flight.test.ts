import { expect, test } from 'vitest';
import { unobserved, virtualLoss } from '../../src/tree/in-flight.ts';
import { stats } from './grow.ts';

const busy = stats({ visits: 3, inFlight: 2, value: 0.8 });

test('unobserved adds the simulations under way to the visits and leaves the value', () => {
  expect(unobserved.visits(busy)).toBe(5);
  expect(unobserved.value(busy, busy.value)).toBe(0.8);
});

test('virtualLoss counts each simulation under way as one that returned 0', () => {
  expect(virtualLoss().visits(busy)).toBe(5);
  // (3 · 0.8 + 2 · 0) / 5
  expect(virtualLoss().value(busy, busy.value)).toBeCloseTo(0.48, 15);
});

test('virtualLoss counts each simulation under way as one that returned its loss', () => {
  // (3 · 0.8 + 2 · −1) / 5
  expect(virtualLoss({ loss: -1 }).value(busy, busy.value)).toBeCloseTo(0.08, 15);
});

test('virtualLoss leaves a node at rest exactly as it is', () => {
  const atRest = stats({ visits: 7, value: 0.1 });

  expect(virtualLoss({ loss: -1 }).value(atRest, atRest.value)).toBe(0.1);
  expect(virtualLoss().visits(atRest)).toBe(7);
});

test('virtualLoss is all that is known of a node that was never visited', () => {
  const first = stats({ inFlight: 2 });

  expect(virtualLoss({ loss: -1 }).value(first, first.value)).toBe(-1);
});
