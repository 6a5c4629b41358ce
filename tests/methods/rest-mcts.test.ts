import { describe, expect, test } from 'vitest';
import { type RestMctsOptions, restMcts } from '../../src/methods/rest-mcts.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { statisticsOf, type Words, wordsEnvironment, wordsPolicy, wordsValue } from './table.ts';

const words: Words = {
  next: { '': 'abc', a: 'xyz', b: 'x', ax: 'u', bx: 'y', bxy: 'z' },
  values: {
    a: 0.4,
    b: 0.6,
    c: 0.2,
    ax: 0.5,
    ay: 0.3,
    az: 0.1,
    axu: 0.2,
    bx: 0.8,
    bxy: 0.5,
    bxyz: 0.7,
  },
};

function grow(
  simulations: number,
  options: Partial<RestMctsOptions<string, string>> = {},
  environment = wordsEnvironment(words),
) {
  const method = restMcts({
    model: scriptedModel({ answer: () => '' }),
    policy: wordsPolicy(words),
    value: wordsValue(words),
    ...options,
  });
  return search(environment, { method, budget: { simulations } });
}

describe('ReST-MCTS*, by hand', () => {
  test('mixes the best of a roll-out into the value of the best new node', async () => {
    const { tree } = await grow(1);

    // b is best. Two steps: bx 0.8, bxy 0.5. V(b) = 0.5 · 0.6 + 0.5 · 0.8.
    expect(statisticsOf(tree)).toEqual({ root: [1, 0.7], b: [1, 0.7] });
    expect(tree.root.children.map(({ rawValue }) => rawValue)).toEqual([0.4, 0.6, 0.2]);
  });

  test('takes α from its options, and leaves V as it is where nothing can be rolled out', async () => {
    // 0.75 · 0.6 + 0.25 · 0.8
    expect(statisticsOf((await grow(1, { alpha: 0.25 })).tree)).toMatchObject({ b: [1, 0.65] });

    const stuck = { ...words, next: { '': 'abc' } };
    const { tree } = await grow(1, { policy: wordsPolicy(stuck) });
    expect(statisticsOf(tree)).toMatchObject({ b: [1, 0.6] });
  });

  test('carries values up, weighted by visits', async () => {
    const { tree } = await grow(2);

    // a: 0.4 + 0.8 is above b: 0.7 + 0.4 · √(2 ln 1 / 1) = 0.7 and c: 0.2 + 0.8.
    // V(ax) = 0.5 · 0.5 + 0.5 · 0.2 = 0.35 = V(a); V(root) = (1 · 0.7 + 1 · 0.35) / 2.
    expect(statisticsOf(tree)).toEqual({
      root: [2, 0.525],
      a: [1, 0.35],
      b: [1, 0.7],
      ax: [1, 0.35],
    });
  });

  test('explores by √(2 ln N / n)', async () => {
    const { tree } = await grow(4, { unvisitedBonus: 0, c: 0.1 });

    // After b (0.7): a 0.4 and c 0.2 stay behind b 0.7 + 0.1 · √(2 ln 1 / 1) = 0.7: on to bx.
    // V(bx) = 0.5 · 0.8 + 0.5 · max(0.5, 0.7) = 0.75 = V(b). Then bxy: 0.5 · 0.5 + 0.5 · 0.7 = 0.6.
    expect(statisticsOf(tree)).toMatchObject({
      b: [4, expect.any(Number)],
      bx: [3, expect.any(Number)],
    });
    expect((await grow(2, { unvisitedBonus: 0, c: 0.1 })).tree.root.value).toBeCloseTo(0.75, 14);
  });

  test('ends at an end worth at least the gate', async () => {
    const ends = { ...words, rewards: { a: 0.85, b: 0.92, c: 0.1 } };
    const environment = wordsEnvironment(ends);
    const { stopReason, best, spend } = await grow(50, {}, environment);

    expect([stopReason, best.state, spend.simulations]).toEqual(['solved', 'b', 1]);
    expect((await grow(50, { gate: 0.95 }, environment)).stopReason).toBe('exhausted');
  });
});
