import { describe, expect, test } from 'vitest';
import {
  type BackupRule,
  maxBackup,
  meanBackup,
  tdBackup,
  visitWeighted,
} from '../../src/tree/backup.ts';
import { grow, plant, stats } from './grow.ts';

/**
 * Four simulations with γ = ½, and Q of root, a, aa, ab, b after each:
 *
 * 1. a (r = 0.1) is evaluated 0.8: G(a) = 0.1 + ½ · 0.8 = 0.5.
 * 2. aa below a (r = 0.2) is evaluated 0.4: G(aa) = 0.2 + ½ · 0.4 = 0.4, G(a) = 0.1 + ½ · 0.4 = 0.3.
 * 3. b (no reward) is evaluated 0.6: G(b) = ½ · 0.6 = 0.3.
 * 4. ab below a is terminal with r = 1: G(ab) = 1, G(a) = 0.1 + ½ · 1 = 0.6.
 */
function fourSimulations(rule: BackupRule): readonly (readonly number[])[] {
  const tree = plant();
  const options = { rule, discount: 0.5 };
  const a = grow(tree, tree.root, ['a', { reward: 0.1, value: 0.8 }]);
  const aa = grow(tree, a, ['aa', { reward: 0.2, value: 0.4 }]);
  const ab = grow(tree, a, ['ab', { reward: 1, terminal: true }]);
  const b = grow(tree, tree.root, ['b', { value: 0.6 }]);
  return [a, aa, b, ab].map((leaf) => {
    tree.backup(leaf, options);
    return [tree.root, a, aa, ab, b].map(({ value }) => value);
  });
}

function expectRows(rows: readonly (readonly number[])[], expected: number[][]): void {
  for (const [index, row] of expected.entries()) {
    for (const [column, value] of row.entries()) {
      expect(rows[index]?.[column], `simulation ${index + 1}, column ${column}`).toBeCloseTo(
        value,
        14,
      );
    }
  }
}

test('meanBackup keeps the mean of the returns through each node', () => {
  expectRows(fourSimulations(meanBackup), [
    [0.5, 0.5, 0, 0, 0],
    // (0.5 + 0.3) / 2
    [0.4, 0.4, 0.4, 0, 0],
    // (0.5 + 0.3 + 0.3) / 3
    [0.36666666666666664, 0.4, 0.4, 0, 0.3],
    // (0.5 + 0.3 + 0.3 + 0.6) / 4 and (0.5 + 0.3 + 0.6) / 3
    [0.425, 0.4666666666666667, 0.4, 1, 0.3],
  ]);
});

test('maxBackup takes the best visited child and forgets the own evaluation', () => {
  expectRows(fourSimulations(maxBackup), [
    [0.5, 0.5, 0, 0, 0],
    // 0.1 + ½ · 0.4
    [0.3, 0.3, 0.4, 0, 0],
    [0.3, 0.3, 0.4, 0, 0.3],
    // 0.1 + ½ · max(0.4, 1)
    [0.6, 0.6, 0.4, 1, 0.3],
  ]);
});

test('visitWeighted takes the mean of the children, weighted by their visits', () => {
  expectRows(fourSimulations(visitWeighted()), [
    [0.5, 0.5, 0, 0, 0],
    [0.3, 0.3, 0.4, 0, 0],
    // (2 · 0.3 + 1 · 0.3) / 3
    [0.3, 0.3, 0.4, 0, 0.3],
    // 0.1 + ½ · (0.4 + 1) / 2, and (3 · 0.45 + 1 · 0.3) / 4
    [0.4125, 0.45, 0.4, 1, 0.3],
  ]);
});

test('tdBackup moves halfway to what the next node is now worth', () => {
  expectRows(fourSimulations(tdBackup()), [
    [0.5, 0.5, 0, 0, 0],
    // a: 0.5 + ½ · (0.1 + ½ · 0.4 − 0.5); root: 0.5 + ½ · (0.4 − 0.5)
    [0.45, 0.4, 0.4, 0, 0],
    // 0.45 + ½ · (0.3 − 0.45)
    [0.375, 0.4, 0.4, 0, 0.3],
    // a: 0.4 + ½ · (0.1 + ½ · 1 − 0.4); root: 0.375 + ½ · (0.5 − 0.375)
    [0.4375, 0.5, 0.4, 1, 0.3],
  ]);
});

test('tdBackup takes its step size', () => {
  expectRows(fourSimulations(tdBackup({ stepSize: 0.1 })), [
    [0.5, 0.5, 0, 0, 0],
    // a: 0.5 + 0.1 · (0.3 − 0.5); root: 0.5 + 0.1 · (0.48 − 0.5)
    [0.498, 0.48, 0.4, 0, 0],
  ]);
});

describe('SearchTree.backup', () => {
  test('discounts each edge once, and the root not at all', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', {}]);
    const b = grow(tree, a, ['b', {}]);
    const c = grow(tree, b, ['c', { value: 1 }]);
    tree.backup(c, { discount: 0.5 });

    expect([c, b, a, tree.root].map(({ value }) => value)).toEqual([0.5, 0.25, 0.125, 0.125]);
  });

  test('adds the reward of every edge, discounted by the edges above it', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { reward: 1 }]);
    const b = grow(tree, a, ['b', { reward: 2 }]);
    const c = grow(tree, b, ['c', { reward: 4, value: 8 }]);
    tree.backup(c, { discount: 0.5 });

    // c: 4 + ½ · 8; b: 2 + ½ · 8; a: 1 + ½ · 6; the root has no edge of its own.
    expect([c, b, a, tree.root].map(({ value }) => value)).toEqual([8, 6, 4, 4]);
  });

  test('gives the root its own evaluation undiscounted', () => {
    const tree = plant();
    tree.addEvaluation(tree.root, { value: 0.75 });
    tree.backup(tree.root, { discount: 0.5 });

    expect(tree.root).toMatchObject({ visits: 1, value: 0.75 });
  });

  test('counts nothing beyond the reward of a terminal leaf, whatever an evaluator said', () => {
    const tree = plant();
    const end = grow(tree, tree.root, ['end', { reward: 0.25, value: 0.9, terminal: true }]);
    tree.backup(end);

    expect(end.value).toBe(0.25);
    expect(tree.root.value).toBe(0.25);
  });

  test('uses the evaluation of a terminal leaf that brought no reward', () => {
    const tree = plant();
    const end = grow(tree, tree.root, ['end', { value: 0.9, terminal: true }]);
    tree.backup(end, { discount: 0.5 });

    expect(end.value).toBe(0.45);
  });

  test('takes a reward of 0 at a terminal leaf for what it is', () => {
    const tree = plant();
    const end = grow(tree, tree.root, ['end', { reward: 0, terminal: true }]);
    tree.backup(end);

    expect(end).toMatchObject({ visits: 1, value: 0 });
  });

  test('refuses a leaf without a value, and leaves the tree as it was', () => {
    const tree = plant();
    const leaf = grow(tree, tree.root, ['a', { reward: 1 }]);

    expect(() => tree.backup(leaf)).toThrow(
      'Expected node 1 to be evaluated before its value is backed up.',
    );
    expect(leaf.visits).toBe(0);
    expect(tree.root.visits).toBe(0);
  });

  test('counts every simulation at the leaf and everywhere above it, and nowhere else', () => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { value: 0.1 }]);
    const aa = grow(tree, a, ['aa', { value: 0.2 }]);
    const b = grow(tree, tree.root, ['b', { value: 0.3 }]);
    for (const leaf of [a, aa, aa, b]) tree.backup(leaf);

    expect([tree.root, a, aa, b].map(({ visits }) => visits)).toEqual([4, 3, 2, 1]);
  });
});

describe('a rule on its own', () => {
  const sample = { target: 0.7, bootstrap: 0.6, reward: 0.2, discount: 0.5 };

  test('falls back on the return where no child was visited', () => {
    const node = stats({ visits: 1, children: [stats({ value: 0.9 })] });

    expect(maxBackup(node, sample)).toBe(0.7);
    expect(visitWeighted()(node, sample)).toBe(0.7);
  });

  test('finds the greatest of values below zero', () => {
    const children = [stats({ visits: 1, value: -4 }), stats({ visits: 1, value: -2 })];

    // 0.2 + ½ · −2
    expect(maxBackup(stats({ visits: 3, children }), sample)).toBe(-0.8);
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, '1', null])(
  'an outcome or a value of a rule that is no finite number is refused, as no file could hold it: %s',
  (wrong) => {
    const tree = plant();
    const a = grow(tree, tree.root, ['a', { value: 0.5 }]);
    tree.backup(a);
    const numbers = () => [tree.root, a].map(({ visits, value }) => [visits, value]);
    const before = numbers();
    expect(() => tree.backup(a, { outcome: wrong as number })).toThrow(
      /^Expected `outcome` to be a finite number, got /,
    );
    expect(() => tree.backup(a, { rule: () => wrong as number })).toThrow(
      /^Expected `rule\(node, sample\)` to be a finite number, got /,
    );
    expect(numbers()).toEqual(before);
  },
);
