import { describe, expect, test } from 'vitest';
import { byMinMax, byParentAndSiblings, completedByMixValue } from '../../src/tree/qtransform.ts';
import { stats } from './grow.ts';

describe('byMinMax', () => {
  test('maps the bounds to 0 and 1, and an unvisited child to 0', () => {
    const transform = byMinMax({ min: -2, max: 6 })(stats());

    expect(transform(stats({ visits: 1, value: -2 }))).toBe(0);
    expect(transform(stats({ visits: 1, value: 6 }))).toBe(1);
    // (1 + 2) / 8
    expect(transform(stats({ visits: 1, value: 1 }))).toBe(0.375);
    expect(transform(stats({ value: 5 }))).toBe(0);
  });
});

describe('byParentAndSiblings', () => {
  test('takes the bounds from the visited children and the parent', () => {
    const children = [
      stats({ visits: 1, value: 10 }),
      stats({ visits: 3, value: 30 }),
      stats({ visits: 0, value: 99 }),
    ];
    const transform = byParentAndSiblings(stats({ visits: 4, value: 25, children }));

    // Bounds 10 and 30.
    expect(children.map(transform)).toEqual([0, 1, 0]);
  });

  test('counts the parent where it is the least or the greatest', () => {
    const children = [stats({ visits: 1, value: 6 }), stats({ visits: 1, value: 8 })];

    // Bounds 4 and 8, then 6 and 14.
    expect(children.map(byParentAndSiblings(stats({ value: 4, children })))).toEqual([0.5, 1]);
    expect(children.map(byParentAndSiblings(stats({ value: 14, children })))).toEqual([0, 0.25]);
  });

  test('takes the reward of its own edge off the parent, because its children know nothing of it', () => {
    const children = [stats({ visits: 1, value: 0.2 }), stats({ visits: 1, value: 0.6 })];
    const parent = stats({ visits: 3, value: 0.9, reward: 0.5, children });

    // V(s) = 0.9 − 0.5 = 0.4 lies between 0.2 and 0.6.
    expect(children.map(byParentAndSiblings(parent))).toEqual([0, 1]);
  });

  test('divides by no zero where all values are equal', () => {
    const children = [stats({ visits: 1, value: 0.5 }), stats({ visits: 2, value: 0.5 })];

    expect(children.map(byParentAndSiblings(stats({ value: 0.5, children })))).toEqual([0, 0]);
  });
});

describe('completedByMixValue', () => {
  const children = [
    stats({ visits: 3, value: 0.8, prior: 0.5 }),
    stats({ visits: 1, value: 0.2, prior: 0.25 }),
    stats({ visits: 0, value: 0, prior: 0.25 }),
  ];
  const parent = stats({ visits: 5, rawValue: 0.35, value: 0.6, children });
  // Prior-weighted mean of the visited: (0.5 · 0.8 + 0.25 · 0.2) / 0.75 = 0.6.
  // v_mix = (0.35 + 4 · 0.6) / 5 = 0.55.

  test('completes unvisited children by the mixed value', () => {
    const options = { rescale: false, valueScale: 1, maxVisitInit: 1 };
    const transform = completedByMixValue(options)(parent);

    // The scale is (1 + 3) · 1.
    expect(children.map(transform)).toEqual([
      expect.closeTo(3.2, 14),
      expect.closeTo(0.8, 14),
      expect.closeTo(2.2, 14),
    ]);
  });

  test('rescales within the family and scales by (c_visit + max N) · c_scale', () => {
    const transform = completedByMixValue()(parent);

    // (50 + 3) · 0.1 = 5.3, times 1, 0, and (0.55 − 0.2) / 0.6 = 0.58333…
    expect(children.map(transform)).toEqual([
      expect.closeTo(5.3, 13),
      0,
      expect.closeTo(3.0916666666666663, 13),
    ]);
  });

  test('is the raw value before any visit, which rescales to 0', () => {
    const unvisited = [stats({ prior: 0.5 }), stats({ prior: 0.5 })];
    const fresh = stats({ rawValue: 0.35, children: unvisited });
    const plain = completedByMixValue({ rescale: false, valueScale: 1, maxVisitInit: 2 });

    expect(unvisited.map(plain(fresh))).toEqual([0.7, 0.7]);
    expect(unvisited.map(completedByMixValue()(fresh))).toEqual([0, 0]);
  });

  test('takes the backed-up value of a parent that was never evaluated', () => {
    const fresh = stats({ visits: 1, value: 0.5, children: [stats()] });
    const plain = completedByMixValue({ rescale: false, valueScale: 1, maxVisitInit: 2 });

    expect([stats()].map(plain(fresh))).toEqual([1]);
    expect([stats()].map(plain({ ...fresh, reward: 0.25 }))).toEqual([0.5]);
  });
});
