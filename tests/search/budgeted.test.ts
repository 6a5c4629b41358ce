import { describe, expect, test } from 'vitest';
import {
  budgeted,
  descend,
  mcts,
  puct,
  type SearchAlgorithm,
  search,
  seededRandom,
  treeToJson,
  valueWidening,
} from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { spendingDown } from '../../src/tree/bg-mcts.ts';
import { explain } from '../../src/tree/explain.ts';
import {
  answersLeft,
  canAfford,
  canAffordSibling,
  explorationLeft,
  shareLeft,
  toAnswer,
} from '../../src/tree/funds.ts';
import { grow, noRandom, plant, type WordTree } from '../tree/grow.ts';

describe('what is left', () => {
  const funds = { left: 600, whole: 1000, step: 40, depth: 4, simulation: 150, reserve: 100 };

  test('buys answers: T̂(d) = 40 · (4 − d), E = (600 − 100) / 160', () => {
    expect([0, 1, 3, 4, 9].map((depth) => toAnswer(funds, depth))).toEqual([160, 120, 40, 40, 40]);
    expect(answersLeft(funds, 0)).toBe(3.125);
    expect(shareLeft(funds)).toBe(0.6);
    expect(answersLeft({ ...funds, step: 0 }, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  test('pays for simulations and for those in flight beside them: 160 · 3 ≤ 500 < 160 · 4', () => {
    expect([0, 2, 3].map((inFlight) => canAfford(funds, 0, inFlight))).toEqual([true, true, false]);
    // Deep down the simulation is the dearer: 150 · 3 ≤ 500.
    expect([2, 3].map((inFlight) => canAfford(funds, 4, inFlight))).toEqual([true, false]);
  });

  test('pays for a sibling while there are two answers, and half of it is enough for its own', () => {
    expect(canAffordSibling(funds, 1)).toBe(true);
    // E = (410 − 100) / 160 < 2
    expect(canAffordSibling({ ...funds, left: 410 }, 1)).toBe(false);
    // E = 2, and T̂(0) = 160 is more than half of 310.
    expect(canAffordSibling({ ...funds, left: 310, reserve: -10 }, 0)).toBe(false);
  });

  test('shrinks exploration by √(E / E₀)', () => {
    expect([0, 2, 8, 32].map((answers) => explorationLeft(answers, 8))).toEqual([0, 0.5, 1, 1]);
  });
});

test('without a limit on money it is PUCT, choice by choice, on random trees', async () => {
  for (let seed = 0; seed < 40; seed++) {
    const random = seededRandom('trees').split(seed);
    const growing = {
      evaluate: (['one', 'all', 'leaf'] as const)[seed % 3] ?? 'one',
      width: 1 + random.integer(3),
      ...(seed % 2 === 0 && { widening: valueWidening() }),
    };
    const c = random.next();
    const of = async (algorithm: SearchAlgorithm) => {
      const problem = syntheticTree({ branching: 2 + (seed % 3), depth: 6, seed });
      const model = scriptedModel({ answer: hashedAnswer });
      const { environment, ...guides } = throughModel(problem, { model });
      const budget = { simulations: 80 };
      const { tree } = await search(environment, {
        ...guides,
        algorithm,
        budget,
        seed,
        concurrency: [1, 4][seed % 2] ?? 1,
        clock: manualClock({ auto: true }),
      });
      return JSON.stringify(treeToJson(tree));
    };
    const plain = await of(mcts({ ...growing, selection: descend(puct({ cInit: c })) }));
    expect(await of(budgeted({ ...growing, c }))).toBe(plain);
  }
});

test('an answer stays affordable: wherever a budget is worth four, there is one', async () => {
  const depth = 6;
  const share = { budgeted: 0, mcts: 0, of: 0 };
  for (let seed = 0; seed < 60; seed++) {
    const random = seededRandom('purse').split(seed);
    const answered = async (algorithm: SearchAlgorithm) => {
      const problem = syntheticTree({ branching: 4, depth, seed });
      const model = scriptedModel({ answer: hashedAnswer });
      const { environment, ...guides } = throughModel(problem, { model, asks: 'policy' });
      const { evaluator } = problem;
      const budget = { calls: 2 * depth + seededRandom(seed).integer(4 * depth) };
      const { tree, spend } = await search(environment, {
        ...{ ...guides, evaluator, algorithm, budget },
        seed: random.integer(1000),
      });
      expect(spend.calls).toBeLessThanOrEqual(budget.calls);
      return Number(tree.bestTerminal !== undefined);
    };
    share.of += 1;
    const growing = { evaluate: 'all', width: 1, widening: valueWidening({ k: 3 }) } as const;
    share.budgeted += await answered(budgeted(growing));
    share.mcts += await answered(mcts(growing));
  }
  expect(share.budgeted).toBe(share.of);
  expect(share.mcts).toBeLessThan(share.of);
});

/** Values of states that depend on nothing but the path. */
function worthOf(path: string): number {
  const hash = [...path].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 101, 7);
  return Math.round((hash / 101) * 1e6) / 1e6;
}

/** Ends lie at depth 4; before there is one, the greatest depth so far. */
function meanDepth(tree: WordTree): number {
  const nodes = [...tree.nodes()];
  if (nodes.some(({ terminal }) => terminal)) return 4;
  return Math.max(...nodes.map(({ depth }) => depth));
}

describe('BG-MCTS', () => {
  test('has S = mean [v + κ · u · d / D̂] + √2 · (1 − u) · π · √(ln N(p) / N(c))', () => {
    const tree = plant();
    const parent = grow(tree, tree.root, ['p', { value: 0.5 }]);
    const a = grow(tree, parent, ['a', { value: 0.2 }]);
    const b = grow(tree, parent, ['b', { value: 0.6 }]);
    const end = grow(tree, a, ['e', { value: 0.8, terminal: true }]);
    for (const node of [parent, a, b, end]) tree.backup(node);
    tree.rule = spendingDown({ spent: 0.25, depth: 4 }).spec;
    const [forA, forB] = explain(tree, parent);
    // An end has the depth 0: ((0.2 + 0.25 · 2 / 4) + 0.8) / 2; π(a) = e^0.2 / (e^0.2 + e^0.6); N(p) = 4, N(a) = 2.
    const share = Math.exp(0.2) / (Math.exp(0.2) + Math.exp(0.6));
    expect(forA?.terms).toEqual({
      value: expect.closeTo(0.5, 12) as number,
      depth: expect.closeTo(0.0625, 12) as number,
      explore: expect.closeTo(Math.SQRT2 * 0.75 * share * Math.sqrt(Math.log(4) / 2), 12) as number,
    });
    expect(forB?.terms['explore']).toBeCloseTo(
      Math.SQRT2 * 0.75 * (1 - share) * Math.sqrt(Math.log(4)),
      12,
    );
    // The visits of the root are never counted.
    expect(explain(tree, tree.root)[0]?.terms['explore']).toBe(0);
  });

  test('makes the first thirty selections that its formulas give, worked out apart', () => {
    // In Python, from the formulas alone: ends at depth 4, and a budget of 60 samples.
    const expected =
      '. b bb ba bab baa bbb bab bab bab baa bab ba bac bac bac bac bac bac bac bac bac bac bac bac bac bac bac bac bac';
    const tree = plant();
    const order: string[] = [];
    for (let drawn = 0; order.length < 30; ) {
      const node = spendingDown({ spent: drawn / 60, depth: meanDepth(tree) })(tree, noRandom);
      if (node === undefined) throw new Error('Nothing was left to select.');
      order.push(node.action ?? '.');
      for (let left = node.children.length === 0 ? 2 : 1; left > 0; left--, drawn++) {
        const path = (node.action ?? '') + 'abcdefghijklmnopqrstuvwxyz'[node.children.length];
        const spec = { value: worthOf(path), terminal: path.length === 4 };
        tree.backup(grow(tree, node, [path, spec]));
      }
    }
    expect(order.join(' ')).toBe(expected);
  });
});
