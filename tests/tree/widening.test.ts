import { describe, expect, test } from 'vitest';
import { progressiveWidening, valueWidening } from '../../src/tree/widening.ts';
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

describe('valueWidening', () => {
  const visited = (value: number) => stats({ visits: 2, value });
  const rule = valueWidening();

  test('draws k samples before it looks at the children', () => {
    const hopeful = [visited(0.9)];
    expect(rule(stats({ samples: 1, children: hopeful }))).toBe(true);
    expect(rule(stats({ samples: 2, children: hopeful }))).toBe(false);
    expect(valueWidening({ k: 3 })(stats({ samples: 2, children: hopeful }))).toBe(true);
    // A policy that lists its actions draws no samples: then the children count.
    expect(rule(stats({ samples: 0, children: widths(1) }))).toBe(true);
  });

  test('draws on while no child has a value of at least 0.4', () => {
    expect(rule(stats({ samples: 4, children: [visited(0.1), visited(0.39)] }))).toBe(true);
    expect(rule(stats({ samples: 4, children: [visited(0.1), visited(0.4)] }))).toBe(false);
    const strict = valueWidening({ below: 0.6 });
    expect(strict(stats({ samples: 4, children: [visited(0.59)] }))).toBe(true);
  });

  test('takes the evaluation of a child that was never visited, and the value of any other', () => {
    const judged = stats({ visits: 0, value: 0, rawValue: 0.5 });
    expect(rule(stats({ samples: 4, children: [judged] }))).toBe(false);
    const disappointing = stats({ visits: 3, value: 0.2, rawValue: 0.9 });
    expect(rule(stats({ samples: 4, children: [disappointing] }))).toBe(true);
  });

  test('expects nothing of children that are closed', () => {
    const closed = stats({ visits: 1, value: 0.9, status: 'closed' });
    const failed = stats({ visits: 0, rawValue: 0.9, status: 'failed' });
    expect(rule(stats({ samples: 4, children: [closed, failed] }))).toBe(true);
  });

  test('gives a node up after 3 k samples of which none could be used', () => {
    expect(rule(stats({ samples: 5, children: [] }))).toBe(true);
    expect(rule(stats({ samples: 6, children: [] }))).toBe(false);
    expect(valueWidening({ k: 4 })(stats({ samples: 11, children: [] }))).toBe(true);
    expect(valueWidening({ most: 3 })(stats({ samples: 3, children: [] }))).toBe(false);
  });

  test('stops at the most samples', () => {
    expect(rule(stats({ samples: 99, children: [visited(0)] }))).toBe(true);
    expect(rule(stats({ samples: 100, children: [visited(0)] }))).toBe(false);
  });
});
