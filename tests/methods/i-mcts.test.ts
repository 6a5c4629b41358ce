import { describe, expect, test } from 'vitest';
import { iMcts, introspectiveScore } from '../../src/methods/i-mcts.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { noRandom, stats } from '../tree/grow.ts';
import { statisticsOf, type Words, wordsEnvironment, wordsPolicy, wordsValue } from './table.ts';

describe('the score of I-MCTS, by hand', () => {
  const score = introspectiveScore({ c: 2, cv: 0.2 });
  const parent = stats({ visits: 3 });

  test('before the first visit is the judgement of the model', () => {
    // 0.75 + 2 · √(ln 3 / 0.2) = 0.75 + 2 · √5.493061443340549
    expect(score(stats({ rawValue: 0.75 }), parent, noRandom)).toBeCloseTo(5.437456215620813, 12);
  });

  test('after one visit has one sixth of it', () => {
    // 0.75 / 6 + 0.3 · 5 / 6 + 2 · √(ln 3) = 0.375 + 2 · 1.0481470739682051
    expect(score(stats({ visits: 1, value: 0.3, rawValue: 0.75 }), parent, noRandom)).toBeCloseTo(
      2.47129414793641,
      12,
    );
  });

  test('after two visits has one eleventh of it', () => {
    // 0.75 / 11 + 0.3 · 10 / 11 + 2 · √(ln 3 / 2) = 0.3409090909 + 1.4823038074
    expect(score(stats({ visits: 2, value: 0.3, rawValue: 0.75 }), parent, noRandom)).toBeCloseTo(
      1.8232128982766,
      12,
    );
  });

  test('has no logarithm below 0', () => {
    expect(score(stats({ rawValue: 0.75 }), stats(), noRandom)).toBe(0.75);
    expect(score(stats({ rawValue: 0.75 }), undefined, noRandom)).toBe(0.75);
  });
});

const words: Words = {
  next: { '': 'ab', a: 'x', b: 'y' },
  values: { a: 0.9, b: 0.5 },
  rewards: { ax: 0.2, by: 0.8 },
};

test('a simulation plays from the best new node, and its reward outweighs the judgement', async () => {
  const method = iMcts({
    model: scriptedModel({ answer: () => '' }),
    environment: wordsEnvironment(words),
    policy: wordsPolicy(words),
    evaluator: wordsValue(words),
  });
  const one = await search({ ...method, budget: { simulations: 1 } });
  const two = await search({ ...method, budget: { simulations: 2 } });

  expect(statisticsOf(one.tree)).toEqual({ root: [1, 0.2], a: [1, 0.2] });
  expect(one.tree.root.children.map(({ rawValue }) => rawValue)).toEqual([0.9, 0.5]);
  // ln N(root) = ln 1 = 0: H(a) = 0.9 / 6 + 0.2 · 5 / 6 = 0.3167 is below H(b) = 0.5.
  expect(statisticsOf(two.tree)).toEqual({
    root: [2, 0.5],
    a: [1, 0.2],
    b: [1, 0.8],
    by: [1, 0.8],
  });
});
