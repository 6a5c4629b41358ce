import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anchorAdvantages,
  globalAdvantage,
  localAdvantage,
  saltAdvantages,
  stepReturns,
  subtreeReturns,
  treeGrpoAdvantages,
  treePoAdvantage,
  treeRlAdvantage,
  zScores,
} from '../../src/data/rl/advantages.ts';
import { property } from '../support/property.ts';

const tiny = 1e-12;

function near(values: readonly number[]): readonly unknown[] {
  return values.map((value) => expect.closeTo(value, 6));
}

describe('estimators, by hand', () => {
  test('z-scores take the deviation of the numbers themselves', () => {
    // μ = 2, σ² = (4 + 0 + 4) / 3 = 8/3, σ = 1.6330; with ε = 0.3670 the divisor is 2.
    expect(zScores([0, 2, 4], 2 - Math.sqrt(8 / 3))).toEqual(near([-1, 0, 1]));
    expect(zScores([0.1, 0.1, 0.1], tiny)).toEqual([0, 0, 0]);
    expect(zScores([5], tiny)).toEqual([0]);
    expect(zScores([], tiny)).toEqual([]);
  });

  test('the value of a node is the mean of the ends below it', () => {
    // 0 → 1, 2; 1 → 3 (R = 1), 4 (R = 0); 2 → 5 (R = 0.5), 6 (no end); 2 is an end itself (R = 0).
    const values = subtreeReturns(
      [0, 0, 0, 1, 1, 2, 2],
      new Map([
        [3, 1],
        [4, 0],
        [5, 0.5],
        [2, 0],
      ]),
    );
    expect(values).toEqual([
      { value: 0.375, leaves: 4 },
      { value: 0.5, leaves: 2 },
      { value: 0.25, leaves: 2 },
      { value: 1, leaves: 1 },
      { value: 0, leaves: 1 },
      { value: 0.5, leaves: 1 },
      undefined,
    ]);
  });

  test('TreeRL adds local and global, and divides by the root of the leaves', () => {
    const step = { value: 0.75, parent: 0.5, root: 0.25, leaves: 4 };
    expect([localAdvantage(step), globalAdvantage(step)]).toEqual([0.25, 0.5]);
    // (1/4 + 1/2) / √4
    expect(treeRlAdvantage(step)).toBe(0.375);
  });

  test('TreePO averages over the groups of a path', () => {
    const groups = [[1, 0, 0, 0], [1, 0], [1]];
    // 1 − 1/4 and 1 − 1/2; the last group has one member: (3/4 + 1/2) / 2; by size (4 · 3/4 + 2 · 1/2) / 6.
    expect(treePoAdvantage(1, groups)).toBe(0.625);
    expect(treePoAdvantage(1, groups, true)).toBeCloseTo(2 / 3, 12);
    // The group of the root counts, however small.
    expect(treePoAdvantage(1, [[1]])).toBe(0);
  });

  test('Tree-GRPO adds the scores within the tree and across trees', () => {
    // Within: ±1 and ±1. Across 0, 1, 0, 3: μ = 1, σ² = (1 + 0 + 1 + 4) / 4 = 1.5, σ = 1.2247.
    expect(
      treeGrpoAdvantages(
        [
          [0, 1],
          [0, 3],
        ],
        tiny,
      ),
    ).toEqual([near([-1.8164966, 1]), near([-1.8164966, 2.6329932])]);
  });
});

describe('estimators that merge states, by hand', () => {
  test('SALT averages over those who take the same step', () => {
    expect(
      saltAdvantages(
        [1, -1, 0.5],
        [
          ['a', 'b'],
          ['a', 'c', 'a'],
          ['d', 'b'],
        ],
      ),
    ).toEqual([
      [0, 0.75],
      [0, -1, 0],
      [0.5, 0.75],
    ]);
  });

  test('GiGPO compares returns from the same state', () => {
    // From the back: 1; 0 + 1/2; 2 + 1/4.
    expect(stepReturns([2, 0, 1], 0.5)).toEqual([2.25, 0.5, 1]);
    // At s: 1, 0, 0.5 with σ² = (1/4 + 1/4) / 3 = 1/6; at t and u one step each.
    const anchors = [['s', 't'], ['s', 's'], ['u']];
    const advantages = anchorAdvantages(anchors, [[1, 9], [0, 0.5], [7]], tiny);
    const [high, low] = [Math.sqrt(1.5), -Math.sqrt(1.5)];
    expect(advantages).toEqual([near([high, 0]), near([low, 0]), near([0])]);
  });
});

/** A tree as parents, and the returns of some of its nodes. */
const trees = fc
  .array(fc.record({ above: fc.nat(1000), end: fc.option(fc.integer({ min: -8, max: 8 })) }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((nodes) => ({
    parents: nodes.map(({ above }, id) => (id === 0 ? 0 : above % id)),
    returns: new Map(
      nodes.flatMap(({ end }, id) => (end === null ? [] : [[id, end / 8] as const])),
    ),
  }));

describe('estimators on random trees', () => {
  property([trees])('V(n) is what a search through all ends finds', ({ parents, returns }) => {
    const values = subtreeReturns(parents, returns);
    const isBelow = (id: number, top: number): boolean =>
      id === top || (id > top && isBelow(parents[id] ?? 0, top));
    for (const id of parents.keys()) {
      const below = [...returns].filter(([end]) => isBelow(end, id)).map(([, value]) => value);
      const sum = below.reduce((total, value) => total + value, 0);
      const own = values[id];
      expect(own?.leaves ?? 0).toBe(below.length);
      // Nothing is lost: V(n) · |leaves(n)| is Σ R. Eighths are added without rounding.
      expect((own?.value ?? 0) * (own?.leaves ?? 0)).toBeCloseTo(sum, 9);
    }
  });

  property([fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 9 }))])(
    'scores sum to 0, over each tree and over all',
    (groups) => {
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      for (const group of groups) expect(sum(zScores(group, 1e-6))).toBeCloseTo(0, 9);
      expect(sum(treeGrpoAdvantages(groups, 1e-6).flat())).toBeCloseTo(0, 9);
    },
  );
});
