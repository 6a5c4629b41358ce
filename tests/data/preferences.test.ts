import { describe, expect, test } from 'vitest';
import type { PairFilters } from '../../src/data/pairs/pair-rule.ts';
import * as pairRules from '../../src/data/pairs/pair-rules.ts';
import * as pairScores from '../../src/data/pairs/pair-scores.ts';
import { preferences } from '../../src/data/pairs/preferences.ts';
import type { RowNotation, TreeRecord } from '../../src/data/record.ts';
import type { PreferenceRow, RowRule } from '../../src/data/rows.ts';
import { example, nameIn, paths, planted } from './pairs-trees.ts';

const record = planted(example);

/** The pairs of a rule as `chosen>rejected margin`. */
function look(rule: RowRule<PreferenceRow>, of: TreeRecord<string, string> = record) {
  return [...rule.rows([of])].map(({ provenance: { nodes }, margin }) => {
    const [, chosen, rejected] = nodes.map(nameIn(of));
    return `${chosen}>${rejected} ${margin.toFixed(2)}`;
  });
}

describe('rows', () => {
  test('have the prompt of the parent, a turn on each side, and say where they come from', () => {
    const known = planted(example, {
      id: 'p-1',
      method: 'mcts-dpo',
      models: ['tiny:toy'],
      tools: [{ name: 'look', input: {} }],
      seed: 7,
    });
    const [row] = pairRules.mctsDpo({ minVisits: 1 }).rows([known]);

    expect(row).toEqual({
      kind: 'preference',
      prompt: [{ role: 'user', content: 'So far: ' }],
      chosen: [{ role: 'assistant', content: 'a' }],
      rejected: [{ role: 'assistant', content: 'c' }],
      chosenScore: 0.8,
      rejectedScore: 0.1,
      margin: expect.closeTo(0.7) as number,
      weight: 1,
      labelSmoothing: 0.25,
      chosenRight: true,
      rejectedRight: false,
      chosenEnds: false,
      rejectedEnds: false,
      tools: [{ name: 'look', input: {} }],
      provenance: {
        problem: 'p',
        tree: 'p-1',
        // The root is 0, a is 1 and has five nodes below it, b has two.
        nodes: [0, 1, 10],
        depth: 0,
        visits: [0, 6, 2],
        values: [0, 0.8, 0.1],
        parts: [{}, {}, {}],
        models: ['tiny:toy'],
        method: 'mcts-dpo',
        rule: 'mcts-dpo',
        seed: '7',
        guidance: 'rewarded',
        stamps: [],
      },
    });
  });

  test('say whether a side ends', () => {
    const [, row] = pairRules.mctsDpo({ rejected: 'second' }).rows([record]);

    expect(row?.prompt).toEqual([{ role: 'user', content: 'So far: /a' }]);
    expect([row?.chosenEnds, row?.rejectedEnds]).toEqual([true, false]);
    expect(row?.provenance.depth).toBe(1);
  });
});

describe('pairs for training', () => {
  const deep = planted([
    {
      text: 'a',
      visits: 1,
      q: 0.75,
      below: [
        { text: 'c', visits: 1, q: 1, end: 1 },
        { text: 'd', visits: 1, q: 0.5, end: 0 },
        { text: 'e', visits: 1, q: 0.25, end: 0 },
      ],
    },
    { text: 'b', visits: 1, q: 0.5, below: [{ text: 'f', visits: 1, q: 0.5, end: 0 }] },
    { text: 'g', visits: 1, q: 0.25 },
  ]);
  const rowsWith = (filters: PairFilters) =>
    [
      ...preferences({
        name: 'all',
        nodes: 'all',
        siblings: 'all-ordered',
        score: pairScores.q,
        ...filters,
      }).rows([deep]),
    ].map(({ chosen, rejected }) => `${chosen[0]?.content}>${rejected[0]?.content}`);

  test('are balanced over depths: the largest margins of each depth stay', () => {
    expect(rowsWith({})).toEqual(['a>b', 'a>g', 'b>g', 'c>d', 'c>e', 'd>e']);
    expect(rowsWith({ perDepth: 1 })).toEqual(['a>g', 'c>e']);
    expect(rowsWith({ perDepth: 2 })).toEqual(['a>b', 'a>g', 'c>d', 'c>e']);
    expect(rowsWith({ perDepth: 2, maxPairsPerProblem: 1 })).toEqual(['c>e']);
  });

  test('set no wrong one against a wrong one where a right end is required', () => {
    expect(rowsWith({ requireRight: true })).toEqual(['a>b', 'a>g', 'c>d', 'c>e']);
  });
});

describe('no rows', () => {
  test('of one problem are equal: the one with the larger margin stays', () => {
    const one = planted([
      { text: 'a', visits: 1, q: 0.875 },
      { text: 'b', visits: 1, q: 0.5 },
      { text: 'c', visits: 1, q: 0.375 },
    ]);
    const other = planted([
      { text: 'b', visits: 1, q: 0.25 },
      { text: 'c', visits: 1, q: 0.125 },
      { text: 'a', visits: 1, q: 0.875 },
    ]);
    const rule = preferences({
      name: 'all',
      nodes: 'all',
      siblings: 'all-ordered',
      score: pairScores.q,
    });
    const rows = (limit = Number.POSITIVE_INFINITY) =>
      [...preferences({ ...rule.pairs, maxPairsPerProblem: limit }).rows([one, other])].map(
        ({ chosen, rejected, margin }) => `${chosen[0]?.content}>${rejected[0]?.content} ${margin}`,
      );

    // One: a>b .375, a>c .5, b>c .125. Other: a>b .625, a>c .75, b>c .125; of the equal b>c the first stays.
    expect(rows()).toEqual(['b>c 0.125', 'a>b 0.625', 'a>c 0.75']);
    expect(rows(2)).toEqual(['a>b 0.625', 'a>c 0.75']);
  });

  test('are made of two sides that are one turn, and no prompt is empty', () => {
    const rule = pairRules.toolPreference();
    const calls: RowNotation<string, string> = {
      ...paths,
      turn: (action) => ({ role: 'assistant', content: action.slice(0, 1) }),
    };
    // a1, a2 and a3 are one turn then.
    expect(look(rule, planted(example, { notation: calls }))).toEqual([
      'a>b 1.00',
      'a>c 1.00',
      'a>d 1.00',
      'y>x 1.00',
    ]);
    const silent = planted(example, { notation: { ...paths, prompt: () => [] } });
    expect(() => look(rule, silent)).toThrow(
      'Expected `notation.prompt(state)` to be at least one message, got an array of 0.',
    );
  });
});

describe('MCTS-DPO', () => {
  test('best against worst on the committed path, smoothed by visits', () => {
    // d was never visited and counts with its evaluation: 1 / (1 + 2 / max(1, 0)) = 1/3, so ε is capped at 0.5.
    expect(look(pairRules.mctsDpo())).toEqual(['d>c 0.80', 'a1>a3 1.00']);
    expect([...pairRules.mctsDpo().rows([record])].map((row) => row.labelSmoothing)).toEqual([
      0.5, 0.25,
    ]);
    expect(look(pairRules.mctsDpo({ rejected: 'second' }))).toEqual(['d>a 0.10', 'a1>a2 0.55']);
  });

  test('only trees that end right, where asked for', () => {
    const wrong = planted(example, { correctFrom: 2 });
    expect(look(pairRules.mctsDpo({ rightOnly: true }))).toHaveLength(2);
    expect(look(pairRules.mctsDpo({ rightOnly: true }), wrong)).toEqual([]);
    expect(look(pairRules.mctsDpo(), wrong)).toHaveLength(2);
  });

  test('at most eight pairs a tree', () => {
    type Chain = Parameters<typeof planted>[0];
    const chain = (depth: number): Chain => [
      {
        text: `left ${depth}`,
        visits: 2,
        q: 0.5 + depth / 100,
        below: depth > 0 ? chain(depth - 1) : [],
      },
      { text: `right ${depth}`, visits: 1, q: 0.4 },
    ];
    const rows = look(pairRules.mctsDpo(), planted(chain(9)));
    // Ten margins, from 0.19 down to 0.10: the two smallest go.
    expect(rows.at(0)).toBe('left 9>right 9 0.19');
    expect(rows.at(-1)).toBe('left 2>right 2 0.12');
    expect(rows).toHaveLength(8);
  });
});

describe('Agent Q', () => {
  test('each two actions whose mixed values differ by more than θ', () => {
    // Nothing visited was evaluated: the values stand alone.
    expect(look(pairRules.agentQ({ minMargin: 0.4 }))).toEqual([
      'a>c 0.70',
      'a1>a2 0.55',
      'a1>a3 1.00',
      'a2>a3 0.45',
      'y>x 0.90',
    ]);
  });

  test('tells what was mixed', () => {
    const mixed = planted([
      { text: 'a', visits: 2, q: 0.8, evaluation: { value: 0.4, parts: { rank: 2 } } },
      { text: 'b', visits: 1, q: 0.2, evaluation: { value: 0.6 } },
    ]);
    const [row] = pairRules.agentQ({ alpha: 0.75 }).rows([mixed]);

    // 0.75 · 0.8 + 0.25 · 0.4 and 0.75 · 0.2 + 0.25 · 0.6
    expect(row?.chosenScore).toBeCloseTo(0.7);
    expect(row?.rejectedScore).toBeCloseTo(0.3);
    expect(row?.provenance.parts).toEqual([
      {},
      { rank: 2, search: 0.8, critic: 0.4 },
      { search: 0.2, critic: 0.6 },
    ]);
  });
});

test('Step-APO: steps across the threshold, of ends only the extremes', () => {
  const rule = pairRules.stepApo();
  // At the root a above, c below, b neither. Ends: 0.5 + 0.3 · (Q − 0.5), so 0.65, 0.62 and 0.35.
  expect(look(rule)).toEqual(['a>c 0.70', 'a1>a3 0.30', 'y>x 0.27']);
  const [, ends] = rule.rows([record]);
  expect(ends?.chosenScore).toBeCloseTo(0.65);
  expect(ends?.rejectedScore).toBeCloseTo(0.35);
  expect(look(pairRules.stepApo({ endScale: 1, threshold: 0.3 }))).toEqual([
    'a>c 0.70',
    'b>c 0.40',
    'a1>a3 1.00',
    'y>x 0.90',
  ]);
});

test('TP-LLaMA: what leads to a right end against all that does not', () => {
  expect(look(pairRules.toolPreference())).toEqual([
    'a>b 1.00',
    'a>c 1.00',
    'a>d 1.00',
    'a1>a3 1.00',
    'a2>a3 1.00',
    'y>x 1.00',
  ]);
  expect(look(pairRules.toolPreference({ minVisits: 1 }))).not.toContain('a>d 1.00');
});

test('step-level Q: the action of the best trajectory against its siblings', () => {
  expect(look(pairRules.stepQ())).toEqual(['a>c 0.70', 'a1>a3 1.00']);
  // d is better than a, and a is still the action that was taken.
  expect(look(pairRules.stepQ({ rejected: 'all', minVisits: 0 }))).toEqual([
    'a>b 0.30',
    'a>c 0.70',
    'a1>a2 0.55',
    'a1>a3 1.00',
  ]);
});

test('Step-DPO: right steps against first wrong ones', () => {
  // b and c lead to wrong ends only, d to none. b1 and b2 come behind a wrong step.
  expect(look(pairRules.stepDpo())).toEqual([
    'a>b 1.00',
    'a>c 1.00',
    'a1>a3 1.00',
    'a2>a3 1.00',
    'y>x 1.00',
  ]);
});

describe('rStar-Math', () => {
  test('two right against two wrong, four where the other side has one, breadth first', () => {
    const rule = pairRules.rStarMath({ minEditDistance: 0 });
    // Root: a against c, b and itself. a: a1 and a2 against a3 and a2. a2: y against x. b leads to wrong ends only.
    expect(look(rule)).toEqual([
      'a>c 0.70',
      'a>b 0.30',
      'a1>a3 1.00',
      'a1>a2 0.55',
      'a2>a3 0.45',
      'y>x 0.90',
    ]);
    // One chosen and two rejected, two and two, one and one.
    expect([...rule.rows([record])].map(({ weight }) => weight)).toEqual([
      0.5, 0.5, 0.25, 0.25, 0.25, 1,
    ]);
    expect(look(pairRules.rStarMath())).toEqual([]);
    expect(look(pairRules.rStarMath({ minEditDistance: 0, minMargin: 0.75 }))).toEqual([
      'a1>a3 1.00',
      'y>x 0.90',
    ]);
  });

  test('what is chosen goes on better', () => {
    const misleading = planted([
      // (0.9 + 0) / 2 against (0.5 + 0.6) / 2.
      {
        text: 'promising',
        visits: 2,
        q: 0.9,
        below: [
          { text: 'right', visits: 1, q: 0, end: 1 },
          { text: 'unseen', q: 1, end: 1 },
        ],
      },
      { text: 'dull', visits: 2, q: 0.5, below: [{ text: 'wrong', visits: 1, q: 0.6, end: 0 }] },
    ]);
    expect(look(pairRules.rStarMath({ minEditDistance: 0 }), misleading)).toEqual([]);
  });

  test('no more than two on a side, the best and the worst', () => {
    const child = (text: string, q: number, end: number) => ({ text, visits: 1, q, end });
    const wide = planted([
      child('r1', 0.9, 1),
      child('r2', 0.8, 1),
      child('r3', 0.85, 1),
      child('w1', 0.1, 0),
      child('w2', 0.3, 0),
      child('w3', 0.2, 0),
    ]);
    const pairs = (width: number) =>
      look(pairRules.rStarMath({ minEditDistance: 0, width }), wide).map((pair) =>
        pair.slice(0, 5),
      );
    expect(pairs(2)).toEqual(['r1>w1', 'r1>w3', 'r3>w1', 'r3>w3']);
    expect(pairs(1)).toEqual(['r1>w1']);
    expect(() => pairRules.rStarMath({ width: 0 })).toThrow('`width`');
  });
});
