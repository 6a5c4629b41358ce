import { expect, test } from 'vitest';
import { lats } from '../../src/index.ts';
import { tableMdp } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const fork = tableMdp(
  {
    start: { down: { to: 'inner' }, right: { to: 'middling', reward: 0.5 } },
    inner: { up: { to: 'good', reward: 1 }, low: { to: 'bad', reward: 0 } },
  },
  { values: { inner: 0.6 } },
);

/*
 * 1: `down` (0.6) is better than `right` (0.5), below it `up` (1) than `low` (0): return 1.
 * 2: `down` scores 1 + √(ln 1 / 1) = 1, `right` its reward 0.5; of `down` only `low` is left: return 0.
 * 3: all below `down` is known: `right`, return 0.5.
 */
test.each([
  [1, { down: [1, 1], right: [0, 0], root: [1, 1] }],
  [2, { down: [2, 0.5], right: [0, 0], root: [2, 0.5] }],
  [3, { down: [2, 0.5], right: [1, 0.5], root: [3, 0.5] }],
] as const)(
  'has the visits and values of the formula after %d simulations',
  async (n, expected) => {
    const { tree } = await searchOf({ ...fork, algorithm: lats(), budget: { simulations: n } });
    const [down, right] = tree.root.children.map(({ visits, value }) => [visits, value]);
    expect({ down, right, root: [tree.root.visits, tree.root.value] }).toEqual(expected);
  },
);

test('explores by w √(ln N / n)', async () => {
  const ends = (reward: number) => ({
    w: { to: 'w', reward },
    x: { to: 'x', reward },
    y: { to: 'y', reward },
    z: { to: 'z', reward },
  });
  const two = tableMdp(
    { start: { a: { to: 'a' }, b: { to: 'b' } }, a: ends(0.2), b: ends(0.3) },
    { values: { a: 1, b: 0.3 }, keys: false },
  );
  // a (value 1), b (0.3 against 0.2), b (0.3 + 0.833 w against 0.2 + 0.833 w), and then
  // a: 0.2 + w √(ln 3 / 1) = 0.2 + 1.048 w against b: 0.3 + w √(ln 3 / 2) = 0.3 + 0.741 w.
  const visits = async (c: number) => {
    const { tree } = await searchOf({ ...two, algorithm: lats({ c }), budget: { simulations: 4 } });
    return tree.root.children.map((child) => child.visits);
  };
  expect(await visits(0)).toEqual([1, 3]);
  expect(await visits(1)).toEqual([2, 2]);
});

test('looks back on each path that fell short, and on no other', async () => {
  const seen: (readonly unknown[])[] = [];
  const algorithm = lats({
    reflect: async (path) => void seen.push(path.map(({ action }) => action)),
  });
  await searchOf({ ...fork, algorithm, budget: { simulations: 10 } });
  expect(seen).toEqual([
    [undefined, 'down', 'low'],
    [undefined, 'right'],
  ]);
});

test('asks for `width` actions and goes no deeper than `maxDepth`', async () => {
  const counts: number[] = [];
  const { policy } = fork;
  const { tree } = await searchOf({
    ...fork,
    policy: {
      propose: (node, request) => {
        counts.push(request.count);
        return policy.propose(node, request);
      },
    },
    algorithm: lats({ width: 2, maxDepth: 1 }),
    budget: { simulations: 5 },
  });
  expect(counts).toEqual([2]);
  expect(tree.size).toBe(3);
  expect(tree.root.children[0]?.value).toBe(0.6);
});
