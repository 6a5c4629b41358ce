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

  test('of the next action at a node is that of one never tried, with the mix of the node as its judgement', () => {
    // 0.75 / 16 + 0.3 · 15 / 16 + 2 · √(ln 3 / 0.2) = 0.328125 + 4.6874562156
    const node = stats({ visits: 3, value: 0.3, rawValue: 0.75, children: [stats()] });
    expect(score(node, undefined, noRandom)).toBeCloseTo(0.328125 + 4.687456215620813, 12);
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

test('an action is tried before the next one is proposed, and its reward outweighs the judgement', async () => {
  const method = iMcts({
    model: scriptedModel({ answer: () => '' }),
    policy: wordsPolicy(words),
    value: wordsValue(words),
  });
  const after = async (simulations: number) =>
    statisticsOf((await search(wordsEnvironment(words), { method, budget: { simulations } })).tree);

  expect(await after(1)).toEqual({ root: [1, 0.2], a: [1, 0.2] });
  // ln 1 = 0: H(a) = 0.9 / 6 + 0.2 · 5 / 6 = 0.3167 is above what the next action at the root is thought to be
  // worth, H(root) = 0.2.
  expect(await after(2)).toEqual({ root: [2, 0.2], a: [2, 0.2], ax: [1, 0.2] });
  // The next at a: 0.9 / 11 + 0.2 · 10 / 11 + 2 · √(ln 2 / 0.2) is above the next at the root, whose H is 0.2. There
  // is none: a is played from again, and then nothing is left there.
  expect(await after(3)).toEqual({ root: [3, 0.2], a: [3, 0.2], ax: [1, 0.2] });
  expect(await after(4)).toEqual({ root: [4, 0.35], a: [3, 0.2], ax: [1, 0.2], b: [1, 0.8] });
});
