import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import {
  canWiden,
  descend,
  flat,
  isClosed,
  type SelectionRule,
  uct,
} from '../../src/tree/selection.ts';
import { progressiveWidening } from '../../src/tree/widening.ts';
import { grow, noRandom, plant, setStatistics, stats, type WordTree } from './grow.ts';

/** Scores a child by its backed-up value. */
const byValue: SelectionRule = () => (child) => child.value;

/** Two levels: a (0.2), b (0.9) and, below b, ba (0.1) and bb (0.3). */
function family() {
  const tree = plant();
  const a = grow(tree, tree.root, ['a', { value: 0.2 }]);
  const b = grow(tree, tree.root, ['b', { value: 0.9 }]);
  const ba = grow(tree, b, ['ba', { value: 0.1 }]);
  const bb = grow(tree, b, ['bb', { value: 0.3 }]);
  for (const node of [a, b, ba, bb]) {
    setStatistics(tree, node, { visits: 1, value: node.rawValue ?? 0 });
  }
  return { tree, a, b, ba, bb };
}

describe('descend', () => {
  test('follows the highest score down to a node without children', () => {
    const { tree, bb } = family();

    expect(descend(byValue)(tree, noRandom)).toBe(bb);
  });

  test('starts at the cursor', () => {
    const { tree, a } = family();
    tree.advance(a);

    expect(descend(byValue)(tree, noRandom)).toBe(a);
  });

  test('is the root of a tree that is nothing else', () => {
    const tree = plant();

    expect(descend(byValue)(tree, noRandom)).toBe(tree.root);
  });

  test('goes around failed and pruned children', () => {
    const { tree, a, b, ba, bb } = family();
    tree.prune(bb);
    expect(descend(byValue)(tree, noRandom)).toBe(ba);

    tree.fail(b, { kind: 'environment', message: 'It broke.' });
    expect(descend(byValue)(tree, noRandom)).toBe(a);
  });

  test('stops at a node all of whose children are closed, because it may still grow', () => {
    const { tree, b, ba, bb } = family();
    tree.prune(ba);
    tree.prune(bb);

    expect(descend(byValue)(tree, noRandom)).toBe(b);
  });

  test('is undefined when nothing is left to learn below the cursor', () => {
    const { tree, a, b } = family();
    tree.prune(a);
    tree.prune(b);
    tree.complete(tree.root);

    expect(descend(byValue)(tree, noRandom)).toBeUndefined();
    expect(descend(byValue, { revisit: true })(tree, noRandom)).toBe(tree.root);
  });

  test('visits a terminal node once, and again only with `revisit`', () => {
    const tree = plant();
    grow(tree, tree.root, ['open', { value: 0.1 }]);
    const end = grow(tree, tree.root, ['end', { reward: 1, terminal: true }]);
    setStatistics(tree, end, { value: 0.5 });
    expect(descend(byValue)(tree, noRandom)).toBe(end);
    tree.backup(end);
    expect(descend(byValue)(tree, noRandom)).not.toBe(end);
    expect(descend(byValue, { revisit: true })(tree, noRandom)).toBe(end);
  });

  test('stops at a node that its width allows another child', () => {
    const { tree, b } = family();
    setStatistics(tree, tree.root, { visits: 4 });
    setStatistics(tree, b, { visits: 5 });
    const widening = progressiveWidening({ k: 1, alpha: 0.5 });

    // Root: 2 children, 2 < √4 is false; b: 2 children, 2 < √5 is true.
    expect(descend(byValue, { widening })(tree, noRandom)).toBe(b);
  });

  test('never widens a node whose policy has no more to offer', () => {
    const { tree, b, bb } = family();
    tree.complete(b);

    expect(descend(byValue, { widening: () => true })(tree, noRandom)).toBe(tree.root);
    tree.complete(tree.root);
    expect(descend(byValue, { widening: () => true })(tree, noRandom)).toBe(bb);
  });
});

describe('ties', () => {
  function tied(): WordTree {
    const tree = plant();
    for (const [action, prior] of [
      ['low', 0.2],
      ['high', 0.3],
      ['as high', 0.3],
      ['lower', 0.2],
    ] as const) {
      grow(tree, tree.root, [action, { prior, value: 0.5 }]);
    }
    return tree;
  }

  test('go to the highest prior, and then to the first', () => {
    expect(descend(uct())(tied(), noRandom)?.action).toBe('high');
  });

  test('are broken fairly by chance', () => {
    const tree = tied();
    const random = seededRandom('ties');
    const selection = descend(uct(), { ties: 'random' });
    const wins = new Map<string | undefined, number>();
    for (let draw = 0; draw < 8_000; draw++) {
      const action = selection(tree, random)?.action;
      wins.set(action, (wins.get(action) ?? 0) + 1);
    }

    // Each of the four is expected 2 000 times, with a standard deviation of √1 500 ≈ 39.
    for (const action of ['low', 'high', 'as high', 'lower']) {
      expect(Math.abs((wins.get(action) ?? 0) - 2_000)).toBeLessThan(195);
    }
  });

  test('score each child once', () => {
    const tree = tied();
    const scored: number[] = [];
    const rule: SelectionRule = () => (child) => {
      scored.push(child.id);
      return 1;
    };
    descend(rule)(tree, noRandom);

    expect(scored).toEqual([1, 2, 3, 4]);
  });
});

describe('flat', () => {
  test('takes the best node without children, whatever its path', () => {
    const { tree, bb } = family();
    setStatistics(tree, bb, { value: 0.15 });

    expect(flat((node) => node.value)(tree, noRandom)?.action).toBe('a');
  });

  test('looks only below the cursor', () => {
    const { tree, b, bb } = family();
    tree.advance(b);

    expect(flat((node) => -node.id)(tree, noRandom)?.action).toBe('ba');
    expect(flat((node) => node.id)(tree, noRandom)).toBe(bb);
  });

  test('goes through the nodes parents first, so that the first wins a tie', () => {
    const { tree } = family();
    const seen: number[] = [];
    flat(({ id }) => seen.push(id) * 0, { widening: () => true })(tree, noRandom);

    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  test('leaves out what is closed, and nodes with children that may not widen', () => {
    const { tree, a, ba, bb } = family();
    tree.prune(a);
    tree.fail(ba, { kind: 'call', message: 'It broke.' });
    const seen: number[] = [];
    flat(({ id }) => seen.push(id) * 0)(tree, noRandom);
    expect(seen).toEqual([bb.id]);

    tree.prune(bb);
    expect(flat(() => 0)(tree, noRandom)).toBeUndefined();
  });

  test('offers a node with children again where it may widen', () => {
    const { tree, b } = family();
    const widening = ({ id }: { readonly id: number }) => id === b.id;

    expect(flat((node) => node.value, { widening })(tree, noRandom)).toBe(b);
  });
});

test('a node is closed when another visit can teach nothing', () => {
  expect(isClosed(stats())).toBe(false);
  expect(isClosed(stats({ status: 'failed' }), true)).toBe(true);
  expect(isClosed(stats({ status: 'pruned' }), true)).toBe(true);
  expect(isClosed(stats({ status: 'closed' }))).toBe(true);
  expect(isClosed(stats({ status: 'closed' }), true)).toBe(false);
  expect(isClosed(stats({ status: 'terminal', visits: 0 }))).toBe(false);
  expect(isClosed(stats({ status: 'terminal', visits: 1 }))).toBe(true);
  expect(isClosed(stats({ status: 'terminal', visits: 1 }), true)).toBe(false);
});

test('a node can widen where a rule allows it and the policy has more to offer', () => {
  const open = { ...stats({ visits: 4 }), complete: false };

  expect(canWiden(open, undefined)).toBe(false);
  expect(canWiden(open, () => true)).toBe(true);
  expect(canWiden(open, () => false)).toBe(false);
  expect(canWiden({ ...open, complete: true }, () => true)).toBe(false);
});
