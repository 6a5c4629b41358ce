import { describe, expect, test } from 'vitest';
import { leastTried, promiseOf } from '../../src/index.ts';
import { bestEnd, goingOnFrom } from '../../src/tree/widening.ts';
import { grow, plant, setStatistics } from './grow.ts';

/** The root has two ends that were visited, of 0.3 and 0.8, and no other child. */
function known() {
  const tree = plant();
  const low = grow(tree, tree.root, ['low', { reward: 0.3, terminal: true }]);
  const high = grow(tree, tree.root, ['high', { reward: 0.8, terminal: true }]);
  for (const end of [low, high]) tree.backup(end);
  return { tree, low, high };
}

describe('where a simulation goes on from a selected node', () => {
  test('from the node itself where it may get another child', () => {
    const { tree } = known();
    expect(goingOnFrom(tree.root, () => true)).toBe(tree.root);
  });

  test('from the node itself where a child is not known yet', () => {
    const { tree } = known();
    grow(tree, tree.root, ['open', { value: 0.1 }]);
    expect(goingOnFrom(tree.root, () => false)).toBe(tree.root);
  });

  test('from the best end where visits will make room for another child', () => {
    const { tree, high } = known();
    expect(goingOnFrom(tree.root, ({ visits }) => visits > 100)).toBe(high);
  });

  test('from nowhere where no child will ever follow', () => {
    const { tree } = known();
    expect(goingOnFrom(tree.root, ({ visits }) => visits < 1)).toBeUndefined();
  });
});

test('the best end is the one on the best way on, however deep', () => {
  const { tree, high } = known();
  const inner = grow(tree, tree.root, ['inner', { value: 0.9 }]);
  const deep = grow(tree, inner, ['deep', { reward: 0.9, terminal: true }]);
  tree.backup(deep);
  tree.complete(inner);
  // 0.9 of `deep` beats 0.8 of `high`.
  expect(bestEnd(tree.root)).toBe(deep);
  expect(bestEnd(high)).toBeUndefined();
});

describe('the least tried node', () => {
  test('is the one with the fewest visits, those under way included', () => {
    const tree = plant();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => grow(tree, tree.root, [name, { value: 0.5 }]));
    if (a === undefined || b === undefined || c === undefined) throw new Error('Not grown.');
    setStatistics(tree, a, { visits: 2 });
    setStatistics(tree, b, { visits: 1, inFlight: 2 });
    setStatistics(tree, c, { visits: 1, inFlight: 0, value: 0.1 });
    expect(leastTried([a, b, c])).toBe(c);
  });

  test('of equal ones is the best, then the likeliest, then the first', () => {
    const tree = plant();
    const low = grow(tree, tree.root, ['low', { value: 0.4, prior: 0.9 }]);
    const first = grow(tree, tree.root, ['first', { value: 0.6, prior: 0.2 }]);
    const likely = grow(tree, tree.root, ['likely', { value: 0.6, prior: 0.3 }]);
    const last = grow(tree, tree.root, ['last', { value: 0.6, prior: 0.3 }]);
    expect(leastTried([low, first, likely, last])).toBe(likely);
  });

  test('is none that has failed or was put aside', () => {
    const tree = plant();
    const failed = grow(tree, tree.root, ['failed', { value: 1 }]);
    const pruned = grow(tree, tree.root, ['pruned', { value: 1 }]);
    tree.fail(failed, { kind: 'call', message: 'Gone.' });
    tree.prune(pruned, 'beam');
    expect(leastTried([failed, pruned])).toBeUndefined();
  });
});

test('a path promises its rewards and, at an open end, the evaluation, each edge but the first discounted', () => {
  const tree = plant();
  const a = grow(tree, tree.root, ['a', { reward: 0.2, value: 0.9 }]);
  const b = grow(tree, a, ['b', { reward: 0.1, value: 0.5 }]);
  const end = grow(tree, b, ['end', { reward: 0.4, value: 0.7, terminal: true }]);
  // 0.2 + γ (0.1 + γ · 0.5), as `backup` has it; at the rewarded end its evaluation says nothing: 0.2 + γ (0.1 + γ · 0.4).
  expect(promiseOf(b, 0.5)).toBeCloseTo(0.2 + 0.5 * (0.1 + 0.5 * 0.5), 12);
  expect(promiseOf(end, 0.5)).toBeCloseTo(0.2 + 0.5 * (0.1 + 0.5 * 0.4), 12);
  expect(promiseOf(end, 1)).toBeCloseTo(0.7, 12);
});
