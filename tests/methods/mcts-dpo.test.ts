import { describe, expect, test } from 'vitest';
import { mctsDpo } from '../../src/methods/mcts-dpo.ts';
import { search } from '../../src/search/search.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { SearchTree } from '../../src/tree/tree.ts';
import {
  pairsIn,
  round,
  statisticsOf,
  type Words,
  wordsEnvironment,
  wordsPolicy,
  wordsValue,
} from './table.ts';

const words: Words = {
  next: { '': { a: 0.5, b: 0.35 }, a: { a: 0.5, b: 0.5 }, b: { a: 0.5, b: 0.5 } },
  values: { a: 0.6, b: 0.5 },
  rewards: { aa: 0.2, ab: 0.9, ba: 0.4, bb: 0.5 },
};

const unused = scriptedModel({ answer: () => '' });

function grow(simulations: number) {
  const method = mctsDpo({ model: unused });
  const result = search(wordsEnvironment(words), {
    ...{ method, policy: wordsPolicy(words), evaluator: wordsValue(words) },
    budget: { simulations },
  });
  return { method, result };
}

/** Q as the paper has it: what the tree holds, less the value of the parent. */
function paperQ(tree: SearchTree<string, string>, id: number): number {
  const node = tree.node(id);
  const { rawValue: ofParent = 0 } = node.parent ?? {};
  const held = node.visits > 0 ? node.value : (node.rawValue ?? node.reward ?? 0);
  return round(held - ofParent);
}

describe('MCTS-DPO, by hand', () => {
  test('first simulation: Q starts at V(parent) + r, and a path goes to its end', async () => {
    const { tree } = await grow(1).result;

    // N(root) = 0: the children rank by Q alone, a 0.6 before b 0.5, then ab 0.9 before aa 0.2.
    // V(a) = (1 · 0.2 + 1 · 0.9) / 2 = 0.55, V(root) = (1 · 0.55 + 1 · 0.5) / 2 = 0.525.
    expect(statisticsOf(tree)).toEqual({ root: [1, 0.525], a: [1, 0.55], ab: [1, 0.9] });

    const [a, b] = tree.root.children;
    const [aa, ab] = a?.children ?? [];
    // r(aa) = 0.2 − 0.6, r(ab) = 0.9 − 0.6, r(b) = 0.5 − 0; V(parent) was 0 when they were made.
    expect(paperQ(tree, aa?.id ?? -1)).toBe(-0.4);
    expect(paperQ(tree, ab?.id ?? -1)).toBe(0.3);
    expect(paperQ(tree, b?.id ?? -1)).toBe(0.5);
    // Q(a) = r(a) + (1 · (−0.4) + 1 · 0.3) / 2 = 0.6 − 0.05.
    expect(paperQ(tree, a?.id ?? -1)).toBe(0.55);
  });

  test('second simulation: the prior weighs 1 · p · √N / (1 + N)', async () => {
    const { tree } = await grow(2).result;

    // a: 0.55 + 0.5 · √1 / 2 = 0.8; b: 0.5 + 0.35 · √1 / 1 = 0.85. Then bb 0.5 before ba 0.4.
    // V(b) = (0.4 + 0.5) / 2 = 0.45, V(root) = (0.55 + 0.45) / 2 = 0.5.
    expect(statisticsOf(tree)).toEqual({
      root: [2, 0.5],
      a: [1, 0.55],
      ab: [1, 0.9],
      b: [1, 0.45],
      bb: [1, 0.5],
    });
  });

  test('third simulation: visits weigh the values', async () => {
    const { tree } = await grow(3).result;

    // a: 0.55 + 0.5 · √2 / 2 = 0.9036; b: 0.45 + 0.35 · √2 / 2 = 0.6975. aa is what is left below a.
    // V(a) = (1 · 0.2 + 1 · 0.9) / 2 = 0.55, V(root) = (2 · 0.55 + 1 · 0.45) / 3 = 0.5167.
    expect(statisticsOf(tree)).toMatchObject({ root: [3, 0.5167], a: [2, 0.55], aa: [1, 0.2] });
  });

  test('pairs the best sibling with the worst along the committed path', async () => {
    const { method, result } = grow(200);
    const { tree, best } = await result;

    expect(best.state).toBe('ab');
    expect(tree.cursor.state).toBe('ab');
    expect(
      pairsIn(tree, method).map(({ chosen, rejected, margin }) => [chosen, rejected, margin]),
    ).toEqual([
      // All is known then: V(a) = (0.2 + 0.9) / 2, V(b) = (0.4 + 0.5) / 2.
      ['a', 'b', 0.1],
      ['ab', 'aa', 0.7],
    ]);
  });
});

test('asks for the probability of tokens, and takes the prior from it', async () => {
  const model = scriptedModel({
    capabilities: { n: true, logprobs: true },
    answer: ({ messages }, index) => {
      const asksLetter = (messages.at(-1)?.content ?? '').endsWith('`.');
      const token = asksLetter ? (['a', 'b'][index % 2] ?? '') : 'B';
      const logprob = asksLetter ? Math.log([0.5, 0.125][index % 2] ?? 1) : 0;
      return { text: token, logprobs: [{ token, logprob }] };
    },
  });
  const environment = wordsEnvironment(words);
  const { tree } = await search(environment, {
    method: mctsDpo({ model }),
    budget: { simulations: 1 },
  });

  expect(
    tree.root.children.map(({ action, prior, rawValue }) => [action, round(prior), rawValue]),
  ).toEqual([
    ['a', 0.5, 1],
    ['b', 0.125, 1],
  ]);
});
