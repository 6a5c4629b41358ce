import { describe, expect, test } from 'vitest';
import { actionsTo, pathTo, summarise } from '../../src/tree/summary.ts';
import { grow, plant, setStatistics, type WordTree } from './grow.ts';

/** Children a, b, c … with these visits and priors; child k has the value k / 10. */
function withCounts(counts: readonly number[], priors: readonly number[] = []): WordTree {
  const tree = plant();
  for (const [index, visits] of counts.entries()) {
    const prior = priors[index] ?? 1;
    const child = grow(tree, tree.root, ['abcdef'[index] ?? '?', { prior }]);
    setStatistics(tree, child, { visits, value: index / 10 });
  }
  return tree;
}

describe('summarise', () => {
  test('tells counts, shares and values in the order of the children', () => {
    const tree = withCounts([6, 0, 2]);
    setStatistics(tree, tree.root, { visits: 9, value: 0.375 });

    expect(summarise(tree.root)).toEqual({
      actions: ['a', 'b', 'c'],
      visitCounts: [6, 0, 2],
      visitProbs: [0.75, 0, 0.25],
      qvalues: [0, undefined, 0.2],
      actionWeights: [0.75, 0, 0.25],
      value: 0.375,
    });
  });

  test('squares the counts at temperature ½', () => {
    // 36 / (36 + 4), 4 / 40
    const { actionWeights } = summarise(withCounts([6, 2]).root, { temperature: 0.5 });

    expect(actionWeights[0]).toBeCloseTo(0.9, 15);
    expect(actionWeights[1]).toBeCloseTo(0.1, 15);
  });

  test('takes square roots of the counts at temperature 2', () => {
    // 3 / (3 + 1), 1 / 4
    expect(summarise(withCounts([9, 1]).root, { temperature: 2 }).actionWeights).toEqual([
      expect.closeTo(0.75, 15),
      expect.closeTo(0.25, 15),
    ]);
  });

  test('puts all weight on the most visited at temperature 0, and shares it among equals', () => {
    const weights = (counts: readonly number[]) =>
      summarise(withCounts(counts).root, { temperature: 0 }).actionWeights;

    expect(weights([3, 5, 1])).toEqual([0, 1, 0]);
    expect(weights([5, 5, 1])).toEqual([0.5, 0.5, 0]);
  });

  test('comes to the same for the least temperature that there is', () => {
    expect(summarise(withCounts([3, 5, 1]).root, { temperature: 5e-324 }).actionWeights).toEqual([
      0, 1, 0,
    ]);
  });

  test('falls back on the priors before any visit, at any temperature', () => {
    const tree = withCounts([0, 0], [0.2, 0.6]);

    for (const temperature of [0, 0.5, 1]) {
      const { actionWeights, visitProbs, qvalues } = summarise(tree.root, { temperature });
      expect(actionWeights[0]).toBeCloseTo(0.25, 15);
      expect(actionWeights[1]).toBeCloseTo(0.75, 15);
      expect(visitProbs).toEqual([0, 0]);
      expect(qvalues).toEqual([undefined, undefined]);
    }
  });

  test('gives no weight where every prior is 0, instead of dividing by it', () => {
    expect(summarise(withCounts([0, 0], [0, 0]).root).actionWeights).toEqual([0, 0]);
  });

  test('does not overflow for huge counts and low temperatures', () => {
    const tree = withCounts([2_000_000_000, 1_000_000_000, 0]);

    // (2⁻¹)^1000 is 9.3e−302: the numbers themselves to the power 1000 would be infinite.
    const { actionWeights } = summarise(tree.root, { temperature: 0.001 });
    expect(actionWeights[0]).toBe(1);
    expect(actionWeights[1]).toBeCloseTo(0, 15);
    expect(actionWeights[2]).toBe(0);
  });

  test('says nothing of a node without children', () => {
    const { actions, actionWeights } = summarise(plant().root);

    expect(actions).toEqual([]);
    expect(actionWeights).toEqual([]);
  });

  test.each([-1, Number.NaN])('refuses the temperature %d', (temperature) => {
    expect(() => summarise(plant().root, { temperature })).toThrow(
      `Expected \`temperature\` to be a number from 0 up, got \`${temperature}\`.`,
    );
  });
});

describe('a path', () => {
  test('leads from the root to the node, both included, and names the actions on it', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, a, ['b', {}]);

    expect(pathTo(b)).toEqual([tree.root, a, b]);
    expect(actionsTo(b)).toEqual(['a', 'b']);
    expect(pathTo(tree.root)).toEqual([tree.root]);
    expect(actionsTo(tree.root)).toEqual([]);
  });
});
