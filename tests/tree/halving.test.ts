import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { NodeStatistics } from '../../src/contracts/node.ts';
import { explain } from '../../src/tree/explain.ts';
import {
  gumbelChoice,
  halvingLevels,
  halvingPhases,
  improvedPolicy,
  noteLanes,
  noteNoise,
  sequentialHalving,
  visitingAsImproved,
} from '../../src/tree/halving.ts';
import { completedByMixValue, withScore } from '../../src/tree/qtransform.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';
import { grow, noRandom, plant, setStatistics, stats } from './grow.ts';

/** The visits of each action, where a phase gives each of its actions as many as the others, the first ones first. */
function visitsAfter(actions: number, phases: ReturnType<typeof halvingPhases>): readonly number[] {
  const visits = Array.from({ length: actions }, () => 0);
  for (const phase of phases) {
    for (let made = 0; made < phase.simulations; made++) {
      const place = made % phase.actions;
      visits[place] = (visits[place] ?? 0) + 1;
    }
  }
  return visits;
}

// n, m, phases of the notes as [actions, simulations], and the final visits: worked out from mctx's own table.
const table: readonly (readonly [number, number, readonly (readonly number[])[], number[]])[] = [
  [
    16,
    4,
    [
      [4, 8],
      [2, 8],
    ],
    [6, 6, 2, 2],
  ],
  [16, 16, [[16, 16]], Array.from({ length: 16 }, () => 1)],
  [
    50,
    4,
    [
      [4, 24],
      [2, 24],
      [2, 2],
    ],
    [19, 19, 6, 6],
  ],
  [
    50,
    16,
    [
      [16, 16],
      [8, 8],
      [4, 12],
      [2, 12],
      [2, 2],
    ],
    [12, 12, 5, 5, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1],
  ],
  [
    60,
    4,
    [
      [4, 28],
      [2, 30],
      [2, 2],
    ],
    [23, 23, 7, 7],
  ],
  [
    60,
    16,
    [
      [16, 16],
      [8, 8],
      [4, 12],
      [2, 14],
      [2, 10],
    ],
    [17, 17, 5, 5, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1],
  ],
];

describe('sequential halving', () => {
  test.each(table)('shares out %i simulations over %i actions', (n, m, ...[expected, visits]) => {
    const phases = halvingPhases(m, n);
    expect(phases.map((phase) => [phase.actions, phase.simulations])).toEqual(expected);
    expect(visitsAfter(m, phases)).toEqual(visits);
  });

  test('begins at the second phase where each action was seen once, and considers one alone to the end', () => {
    // 44 simulations and 16 first visits are the 60 of the table.
    const part = [
      [8, 8],
      [4, 12],
      [2, 14],
      [2, 10],
    ];
    const phases = halvingPhases(16, 44, 16);
    expect(phases.map((phase) => [phase.actions, phase.simulations])).toEqual(part);
    // 56 and 4: three quarters of the first phase are still to be made.
    expect(halvingPhases(4, 56, 4)[0]).toEqual({ actions: 4, simulations: 24 });
    expect(halvingPhases(1, 9)).toEqual([{ actions: 1, simulations: 9 }]);
  });

  test('has ⌈log₂ m⌉ levels where simulations are not what is counted', () => {
    expect(halvingLevels(16)).toEqual([16, 8, 4, 2]);
    expect(halvingLevels(7)).toEqual([7, 3, 2]);
    expect(halvingLevels(7, 7)).toEqual([3, 2]);
    expect(halvingLevels(2, 2)).toEqual([2]);
    expect(halvingLevels(1)).toEqual([1]);
  });
});

test('the evaluation of a child is its first visit, unless a simulation has ended at it', () => {
  expect(withScore(stats({ rawValue: 0.4 }))).toEqual({ visits: 1, value: 0.4 });
  // Two simulations went on from it: (0.4 + 2 · 0.7) / 3
  const below = [stats({ visits: 2 })];
  const seen = withScore(stats({ rawValue: 0.4, visits: 2, value: 0.7, children: below }));
  expect(seen).toEqual({ visits: 3, value: expect.closeTo(0.6, 14) as number });
  const ended = stats({ rawValue: 0.4, visits: 3, value: 0.6, children: below });
  expect(withScore(ended)).toBe(ended);
  const unseen = stats();
  expect(withScore(unseen)).toBe(unseen);
  expect(withScore(stats({ terminal: true, reward: 1, rawValue: 0.2 })).value).toBe(1);
});

describe('σ in real units', () => {
  const siblings = [0.5, 0.52, 0.48].map((value) => stats({ visits: 1, value, prior: 1 / 3 }));
  const parent = stats({ visits: 4, rawValue: 0.5, children: siblings });

  test('leaves a range below r₀ as small as it is', () => {
    // (50 + 1) · 0.1 · (q − 0.48) / 0.2
    const sigma = completedByMixValue({ leastRange: 0.2 })(parent);
    expect(siblings.map(sigma)).toEqual([expect.closeTo(0.51, 12), expect.closeTo(1.02, 12), 0]);
    // The reference code maps best to worst to 5.1 whatever the gap.
    expect(siblings.map(completedByMixValue()(parent))[1]).toBeCloseTo(5.1, 12);
  });
});

/** Visits by a rule where each action always returns the same. */
function visitsBy(
  rule: ReturnType<typeof visitingAsImproved>,
  arms: readonly (readonly [prior: number, value: number])[],
  [simulations, rawValue]: readonly [number, number],
): string {
  const children = arms.map(([prior]) => ({ ...stats({ prior }) }));
  let order = '';
  for (let made = 0; made < simulations; made++) {
    const rate = rule(stats({ visits: made + 1, rawValue, children }), noRandom);
    const scores = children.map((child) => rate(child));
    const place = scores.indexOf(Math.max(...scores));
    order += 'abcd'[place];
    Object.assign(children[place] ?? {}, {
      visits: (children[place]?.visits ?? 0) + 1,
      value: arms[place]?.[1],
    });
  }
  return order;
}

describe('below the root, visits follow softmax(ln P + σ(q̂))', () => {
  // Thirty selections each, from the formulas of the reference code in Python with the same priors and returns.
  const arms = [
    [0.5, 0.3],
    [0.3, 0.5],
    [0.2, 0.45],
  ] as const;
  test.each([
    [{}, 'abbbbbbbbbbbbbbbbbbbbbbbbbbbbb'],
    [{ valueScale: 0.02 }, 'abcbabcbabcbabcbbacbbacbbcbabb'],
    [{ valueScale: 0.02, leastRange: 1 }, 'abcabacbaabcababacabcababacbac'],
  ])('%o', (options, order) => {
    expect(visitsBy(visitingAsImproved(options), arms, [30, 0.4])).toBe(order);
  });

  test('where siblings differ by less than the noise, all are visited alike', () => {
    const noisy = [
      [0.25, 0.5],
      [0.25, 0.501],
      [0.25, 0.499],
      [0.25, 0.5],
    ] as const;
    const counts = (options: object) => {
      const order = visitsBy(visitingAsImproved(options), noisy, [40, 0.5]);
      return [...'abcd'].map((arm) => order.split(arm).length - 1);
    };
    for (const count of counts({ leastRange: 0.2 })) expect(Math.abs(count - 10)).toBeLessThan(2);
    expect(Math.max(...counts({}))).toBeGreaterThan(25);
  });
});

/** A family of siblings with priors, visits and values drawn at random. */
function drawnFamily(seed: number): NodeStatistics {
  const random = seededRandom('bandit').split(seed);
  const weights = Array.from({ length: 2 + random.integer(7) }, () => random.next() ** 2 + 0.01);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const children = weights.map((weight) =>
    stats({ prior: weight / sum, value: random.next(), visits: 1 + random.integer(30) }),
  );
  return stats({ visits: 99, rawValue: 0.5, children });
}

const valueUnder = (weights: readonly number[], { children }: NodeStatistics) =>
  children.reduce((sum, { value }, place) => sum + (weights[place] ?? 0) * value, 0);

test('the improved policy is worth at least as much as the prior, on 1,000 random bandits', () => {
  for (const options of [{}, { leastRange: 0.2 }, { valueScale: 0.01, maxVisitInit: 1 }]) {
    let gain = 0;
    for (let seed = 0; seed < 1000; seed++) {
      const family = drawnFamily(seed);
      const improved = family.children.map(improvedPolicy(options)(family));
      expect(improved.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
      const before = valueUnder(
        family.children.map(({ prior }) => prior),
        family,
      );
      const after = valueUnder(improved, family);
      expect(after, `seed ${seed}`).toBeGreaterThanOrEqual(before - 1e-12);
      gain += after - before;
    }
    expect(gain / 1000).toBeGreaterThan(0.001);
  }
});

/** A root with actions of these priors and values, each seen once. */
function rootWith(arms: readonly (readonly [prior: number, value: number])[]) {
  const tree = plant();
  for (const [place, [prior, value]] of arms.entries()) {
    grow(tree, tree.root, [`${place}`, { prior, value }]);
  }
  return tree;
}

test('without search the Gumbel maximum is a draw from the priors: the top actions, without replacement', () => {
  const priors = [0.5, 0.3, 0.15, 0.05];
  const first = [0, 0, 0, 0];
  const among = [0, 0, 0, 0];
  for (let seed = 0; seed < 4000; seed++) {
    const tree = rootWith(priors.map((prior) => [prior, 0.5]));
    noteNoise(tree, seededRandom(seed), 1);
    noteLanes(tree, { actions: 2, isFirst: true }, {});
    const { lanes } = tree.root.notes['halving'] as { lanes: readonly { id: number }[] };
    for (const [rank, { id }] of lanes.entries()) {
      if (rank === 0) first[id - 1] = (first[id - 1] ?? 0) + 1;
      among[id - 1] = (among[id - 1] ?? 0) + 1;
    }
  }
  // In the first two by Plackett and Luce: P(i) + Σ over others P(j) · P(i) / (1 − P(j)).
  for (const [place, p] of priors.entries()) {
    const second = priors.reduce(
      (sum, other, at) => (at === place ? sum : sum + (other * p) / (1 - other)),
      0,
    );
    expect(Math.abs((first[place] ?? 0) / 4000 - p)).toBeLessThan(0.03);
    expect(Math.abs((among[place] ?? 0) / 4000 - p - second)).toBeLessThan(0.03);
  }
});

test('siblings that are equal but for noise are settled on equally often', () => {
  const chosen = [0, 0, 0, 0];
  for (let seed = 0; seed < 4000; seed++) {
    const random = seededRandom('noise').split(seed);
    const tree = rootWith([0, 1, 2, 3].map(() => [0.25, 0.4 + 0.2 * random.next()]));
    noteNoise(tree, random, 0);
    const place = (gumbelChoice(tree.root, { scored: true, leastRange: 0.2 })?.id ?? 0) - 1;
    chosen[place] = (chosen[place] ?? 0) + 1;
  }
  const chi = chosen.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  // 99.9 % of χ² with three degrees of freedom.
  expect(chi).toBeLessThan(16.27);
});

describe('what Gumbel search settles on', () => {
  test('is the best rated of the most visited, and of what is known in full', () => {
    const tree = rootWith([
      [0.4, 0.2],
      [0.3, 0.5],
      [0.2, 0.9],
      [0.1, 0.4],
    ]);
    const [a, b, c] = tree.root.children;
    if (!a || !b || !c) throw new Error('a child is missing');
    for (const [node, visits, value] of [
      [a, 5, 0.2],
      [b, 5, 0.5],
      [c, 1, 0.9],
    ] as const) {
      setStatistics(tree, node, { visits, value });
    }
    expect(gumbelChoice(tree.root)).toBe(b);
    tree.complete(c);
    expect(gumbelChoice(tree.root)).toBe(c);
  });

  test('is explained by noise, prior and value, in a saved tree too', () => {
    const tree = rootWith([
      [0.4, 0.2],
      [0.3, 0.5],
    ]);
    tree.rule = sequentialHalving({ scored: true, leastRange: 0.6 }).spec;
    noteNoise(tree, seededRandom(1), 1);
    noteLanes(tree, { actions: 2, isFirst: true }, { scored: true, leastRange: 0.6 });
    const saved = treeFromJson(JSON.stringify(treeToJson(tree)));
    const [a, b] = explain(saved, saved.root);
    // 5.1 · (0.5 − 0.2) / 0.6
    expect(b?.terms).toEqual({
      ...(tree.root.children[1]?.notes['gumbel'] as { readonly gumbel: number }),
      prior: expect.closeTo(Math.log(0.75), 12) as number,
      value: expect.closeTo(2.55, 12) as number,
    });
    expect(a?.terms['prior']).toBe(0);
    expect(a?.terms['value']).toBe(0);
    expect(a?.total).toBe(a?.terms['gumbel']);
  });
});
