import { describe, expect, test } from 'vitest';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { PairRule } from '../../src/data/pairs/pair-rule.ts';
import * as pairScores from '../../src/data/pairs/pair-scores.ts';
import { pairsOf } from '../../src/data/pairs/pairs-of.ts';
import { preferences } from '../../src/data/pairs/preferences.ts';
import type { TreeRecord } from '../../src/data/record.ts';
import { example, type Plan, planted } from './pairs-trees.ts';

const rule: PairRule = {
  name: 'by-value',
  nodes: 'all',
  siblings: 'all-ordered',
  score: ({ value }) => value,
};

/** Children of the root with these values, each visited once; the last one, `e` of four, is never visited. */
function family(...values: readonly number[]): TreeRecord<string, string> {
  const visited = values.map((q, place) => ({ text: 'abcdefgh'[place] ?? '', q, visits: 1 }));
  return planted([...visited, { text: 'abcdefgh'[values.length] ?? '', q: 0 }]);
}

function look(record: TreeRecord<string, string>, changes: Partial<PairRule> = {}) {
  return pairsOf(record, { ...rule, ...changes }).map(
    ({ chosen, rejected, margin }) =>
      `${chosen.action.trim()}>${rejected.action.trim()} ${margin.toFixed(2)}`,
  );
}

describe('pairs', () => {
  const record = family(0.5, 0.9, 0.5, 0.1);

  test('match each sibling with each worse one', () => {
    expect(look(record)).toEqual(['b>a 0.40', 'b>c 0.40', 'b>d 0.80', 'a>d 0.40', 'c>d 0.40']);
  });

  test('match the best with all, with the worst, or with the second', () => {
    expect(look(record, { siblings: 'best-vs-all' })).toEqual(['b>a 0.40', 'b>c 0.40', 'b>d 0.80']);
    expect(look(record, { siblings: 'best-vs-worst' })).toEqual(['b>d 0.80']);
    expect(look(record, { siblings: 'best-vs-second' })).toEqual(['b>a 0.40']);
    // Of two that are best, neither is better than the other.
    expect(look(family(0.9, 0.9, 0.1), { siblings: 'best-vs-second' })).toEqual([]);
  });

  test('match the best with one drawn at random by the seed of the tree', () => {
    const drawn = (seed: number) =>
      look({ ...planted(example, { seed }) }, { siblings: 'best-vs-random', nodes: 'path' });
    const all = Array.from({ length: 40 }, (_, seed) => drawn(seed));

    // At the root a against b or c, at a a1 against a2 or a3.
    expect(new Set(all.map(([first]) => first))).toEqual(new Set(['a>b 0.30', 'a>c 0.70']));
    expect(new Set(all.map(([, second]) => second))).toEqual(new Set(['a1>a2 0.55', 'a1>a3 1.00']));
    expect(all.every((pairs) => pairs.length === 2)).toBe(true);
    expect(Array.from({ length: 40 }, (_, seed) => drawn(seed))).toEqual(all);
  });

  test('draw only from those that make a pair', () => {
    const drawn = (seed: number) =>
      look(planted(example, { seed }), { siblings: 'best-vs-random', minMargin: 0.6 });
    for (let seed = 0; seed < 10; seed++) {
      expect(drawn(seed)).toEqual(['a>c 0.70', 'a1>a3 1.00', 'y>x 0.90']);
    }
  });

  test('match all above a threshold with all below it', () => {
    const above = family(0.5, 0.9, 0.7, 0.1, 0.2);
    expect(look(above, { siblings: 'all-above-below' })).toEqual([
      'b>e 0.70',
      'b>d 0.80',
      'c>e 0.50',
      'c>d 0.60',
    ]);
    expect(look(above, { siblings: 'all-above-below', threshold: 0.8 })).toEqual([
      'b>c 0.20',
      'b>a 0.40',
      'b>e 0.70',
      'b>d 0.80',
    ]);
    expect(look(above, { siblings: 'best-vs-all', threshold: 0.6 })).toEqual([
      'b>a 0.40',
      'b>e 0.70',
      'b>d 0.80',
    ]);
  });
});

describe('nodes', () => {
  const record = family(0.5, 0.9, 0.5, 0.1);

  test('need a margin above the least one', () => {
    expect(look(family(0.75, 0.5, 0.25), { minMargin: 0.25 })).toEqual(['a>c 0.50']);
  });

  test('need so many visits on both sides', () => {
    expect(look(record, { minVisits: 2 })).toEqual([]);
    expect(look(record, { minVisits: 0, siblings: 'best-vs-worst' })).toEqual(['b>e 0.90']);
  });

  test('leave out what has no score, has failed or is a duplicate', () => {
    const odd = family(0.5, 0.9, 0.5, 0.1);
    const [a, b] = odd.tree.root.children as readonly SearchNode<string, string>[];
    odd.tree.fail(b as SearchNode<string, string>, { kind: 'call', message: 'It broke.' });
    odd.tree.merge(a as SearchNode<string, string>, odd.tree.node(3));

    expect(look(odd)).toEqual(['c>d 0.40']);
    expect(look(odd, { score: ({ action }) => (action === 'd' ? undefined : 1) })).toEqual([]);
    expect(look(odd, { score: ({ action }) => (action === 'd' ? Number.NaN : 1) })).toEqual([]);
  });

  test('are made on the nodes that are asked for', () => {
    const at = (nodes: PairRule['nodes'], correctFrom = 1) =>
      look(planted(example, { correctFrom }), { nodes, siblings: 'best-vs-worst' });

    expect(at('all')).toEqual(['a>c 0.70', 'a1>a3 1.00', 'y>x 0.90', 'b1>b2 0.40']);
    // The best end is a1.
    expect(at('path')).toEqual(['a>c 0.70', 'a1>a3 1.00']);
    expect(at('right-path')).toEqual(['a>c 0.70', 'a1>a3 1.00']);
    expect(at('right-path', 2)).toEqual([]);
    expect(at('success-path')).toEqual(['a>c 0.70', 'a1>a3 1.00', 'y>x 0.90']);
    expect(at('success-path', 2)).toEqual([]);
  });
});

describe('equal texts', () => {
  const twins: readonly Plan[] = [
    { text: 'go', visits: 1, q: 0.9, below: [{ text: 'good', visits: 1, q: 1, end: 1 }] },
    { text: 'stay', visits: 2, q: 0.2, below: [{ text: 'bad', visits: 2, q: 0, end: 0 }] },
    { text: ' go\n', visits: 3, q: 0.4 },
    { text: ' ', visits: 9, q: 1 },
  ];

  test('count once, as the most visited one, and none is empty', () => {
    expect(look(planted(twins))).toEqual(['go>stay 0.20']);
    expect(pairsOf(planted(twins), rule)[0]?.chosen.visits).toBe(3);
  });

  test('share their ends', () => {
    // The one with three visits has no end of its own.
    expect(look(planted(twins), { requireMixedOutcome: true })).toEqual(['go>stay 0.20']);
    expect(look(planted(twins), { score: pairScores.hardOutcome })).toEqual(['go>stay 1.00']);
    const merged = planted(twins);
    merged.tree.merge(merged.tree.node(1), merged.tree.node(5));
    expect(look(merged, { requireMixedOutcome: true })).toEqual(['go>stay 0.20']);
  });
});

describe('paths to one prompt that disagree', () => {
  const rule = { name: 'n', nodes: 'all', siblings: 'all-ordered', score: pairScores.q } as const;
  /** Two ways to one state, in which `a` and `b` have these values. */
  const ways = (...values: readonly (readonly [number, number])[]) =>
    planted(
      values.map(([a, b], place) => ({
        text: `way ${place}`,
        below: [
          { text: 'a', visits: 1, q: a },
          { text: 'b', visits: 1, q: b },
        ],
      })),
      {
        notation: {
          format: String,
          // What was done first is not to be seen.
          prompt: (state) => [{ role: 'user', content: state === '' ? 'start' : 'Go on.' }],
        },
      },
    );
  const sides = (...records: readonly ReturnType<typeof ways>[]) =>
    [...preferences(rule).rows(records)].map(({ chosen, rejected, margin }) => [
      chosen[0]?.content,
      rejected[0]?.content,
      margin,
    ]);

  test('make the pair with the larger margin', () => {
    expect(sides(ways([1, 0.5], [0, 0.25]))).toEqual([['a', 'b', 0.5]]);
    expect(sides(ways([1, 0.75], [0, 0.5]))).toEqual([['b', 'a', 0.5]]);
    expect(sides(ways([1, 0.5]), ways([0, 0.25]))).toEqual([['a', 'b', 0.5]]);
  });

  test('make none where the margins are equal', () => {
    expect(sides(ways([1, 0], [0, 1]))).toEqual([]);
    expect(sides(ways([1, 0], [0, 1], [1, 0]))).toEqual([]);
  });

  test('tell of each row that they leave out', () => {
    const leftOut = (...records: readonly ReturnType<typeof ways>[]) => {
      const reasons: string[] = [];
      const rows = [...preferences(rule).rows(records, (reason) => reasons.push(reason))];
      return [rows.length, ...reasons];
    };
    const reason = 'Another row of the problem says the opposite, with a margin at least as large.';
    expect(leftOut(ways([1, 0.5], [0, 0.25]))).toEqual([1, reason]);
    expect(leftOut(ways([1, 0], [0, 1]))).toEqual([0, reason, reason]);
    expect(leftOut(ways([1, 0]))).toEqual([1]);
  });
});

describe('filters', () => {
  const record = planted(example);

  test('ask for a right end below the chosen, and a wrong one below the rejected', () => {
    // No end below b, c and d is right.
    expect(look(record, { requireRight: true, minVisits: 0, score: pairScores.q })).toEqual([
      'a>b 0.30',
      'a>c 0.70',
      'a1>a2 0.55',
      'a1>a3 1.00',
      'a2>a3 0.45',
      'y>x 0.90',
    ]);
    const unsure = planted([
      { text: 'one', visits: 1, q: 1, end: 1 },
      { text: 'two', visits: 1, q: 0.5 },
      { text: 'three', visits: 1, q: 0, end: 0 },
    ]);
    expect(look(unsure, { requireRight: true })).toEqual(['one>two 0.50', 'one>three 1.00']);
    expect(look(unsure, { requireMixedOutcome: true })).toEqual(['one>three 1.00']);
  });

  test('ask for texts that differ enough, and not too much in length', () => {
    const texts = planted([
      { text: 'kitten', visits: 1, q: 1 },
      { text: 'sitting', visits: 1, q: 0.5 },
      { text: 'kit', visits: 1, q: 0.2 },
    ]);
    // kitten–sitting 3, kitten–kit 3, sitting–kit: s→k, drop 4: 5.
    expect(look(texts, { minEditDistance: 3 })).toHaveLength(3);
    expect(look(texts, { minEditDistance: 4 })).toEqual(['sitting>kit 0.30']);
    expect(look(texts, { minEditDistance: 6 })).toEqual([]);
    // 7/6, 6/3 and 7/3.
    expect(look(texts, { maxLengthRatio: 2 })).toEqual(['kitten>sitting 0.50', 'kitten>kit 0.80']);
    expect(look(texts, { maxLengthRatio: 1.5 })).toEqual(['kitten>sitting 0.50']);
  });

  test('keep the largest margins of a node and of a tree, of equal ones the first', () => {
    const equal = family(0.5, 0.9, 0.5, 0.1);
    expect(look(equal, { maxPairsPerNode: 2 })).toEqual(['b>a 0.40', 'b>d 0.80']);
    expect(look(record, { maxPairsPerNode: 1 })).toEqual([
      'a>c 0.70',
      'a1>a3 1.00',
      'y>x 0.90',
      'b1>b2 0.40',
    ]);
    expect(look(record, { maxPairsPerTree: 2 })).toEqual(['a1>a3 1.00', 'y>x 0.90']);
  });

  test('match ends among themselves where that is asked for', () => {
    // At a: the ends a1 and a3, the step a2 alone. At b: the end b1 and the step b2, each alone.
    expect(look(record, { ends: 'best-vs-worst' })).toEqual([
      'a>b 0.30',
      'a>c 0.70',
      'b>c 0.40',
      'a1>a3 1.00',
      'y>x 0.90',
    ]);
  });
});

test('labels are smoothed by visits, and weighed by the pairs of a node', () => {
  const made = pairsOf(planted(example), {
    ...rule,
    nodes: 'path',
    smoothing: 'visits',
    weight: 'share-of-node',
  }).map(({ chosen, rejected, labelSmoothing, weight }) => [
    `${chosen.action}>${rejected.action}`,
    labelSmoothing,
    weight,
  ]);

  // c = 1 / (1 + N_l / N_w): 6/9, 6/8, 3/5; 3/5, 3/4, 2/3. Two are chosen and two rejected at either node.
  expect(made).toEqual([
    ['a>b', expect.closeTo(1 / 3), 0.25],
    ['a>c', 0.25, 0.25],
    ['b>c', expect.closeTo(0.4), 0.25],
    ['a1>a2', expect.closeTo(0.4), 0.25],
    ['a1>a3', 0.25, 0.25],
    ['a2>a3', expect.closeTo(1 / 3), 0.25],
  ]);
});

test('scores are Q, a mix, the advantage, or the outcome', () => {
  const { tree } = planted([
    {
      text: 'a',
      visits: 2,
      q: 0.6,
      evaluation: { value: 0.2 },
      below: [
        { text: 'b', visits: 1, q: 0.9, end: 1 },
        { text: 'c', evaluation: { value: 0.3 }, proposed: true },
        { text: 'd', proposed: true },
      ],
    },
  ]);
  const none = { right: 0, wrong: 0 };
  const [a, b, c, d] = [1, 2, 3, 4].map((id) => tree.node(id));
  if (a === undefined || b === undefined || c === undefined || d === undefined) expect.fail();

  expect([a, b, c, d].map((node) => pairScores.q(node))).toEqual([0.6, 0.9, 0.3, undefined]);
  // 0.25 · 0.6 + 0.75 · 0.2; what only one of the two is known of stands alone.
  expect(pairScores.mixed(0.25)(a, none)).toBeCloseTo(0.3);
  expect(pairScores.mixed(0.25)(c, none)).toBe(0.3);
  // The root was never visited and has no evaluation.
  expect(pairScores.advantage(a)).toBeUndefined();
  expect(pairScores.advantage(b)).toBeCloseTo(0.3);
  expect(pairScores.advantage(c)).toBeCloseTo(-0.3);
  // V(s) is without the reward on the way to s.
  tree.mutable(1).reward = 0.5;
  expect(pairScores.advantage(b)).toBeCloseTo(0.8);
  expect(pairScores.hardOutcome(a, { right: 2, wrong: 5 })).toBe(1);
  expect(pairScores.hardOutcome(a, { right: 0, wrong: 5 })).toBe(0);
  expect(pairScores.hardOutcome(a, none)).toBeUndefined();
});

test.each([
  [{ minMargin: -1 }, 'Expected `minMargin` to be a finite number from 0 up, got `-1`.'],
  [{ minVisits: 0.5 }, '`minVisits`'],
  [{ threshold: Number.NaN }, '`threshold`'],
  [{ minEditDistance: -2 }, '`minEditDistance`'],
  [{ maxLengthRatio: 0.9 }, 'Expected `maxLengthRatio` to be a number from 1 up, got `0.9`.'],
  [{ maxPairsPerNode: 0 }, '`maxPairsPerNode`'],
  [{ maxPairsPerTree: 1.5 }, '`maxPairsPerTree`'],
  [{ maxPairsPerProblem: -1 }, '`maxPairsPerProblem`'],
  [{ nodes: 'some' as 'all' }, '`nodes`'],
  [{ siblings: 'some' as 'all-ordered' }, '`siblings`'],
  [{ ends: 'some' as 'all-ordered' }, '`ends`'],
])('a rule that is none is refused: %j', (changes, message) => {
  expect(() => look(planted(example), changes)).toThrow(message);
});
