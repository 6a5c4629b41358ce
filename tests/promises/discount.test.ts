import { expect, test } from 'vitest';
import {
  descend,
  mcts,
  robustOrSolvedChild,
  stepwise,
  treeFromJson,
  treeToJson,
  uct,
} from '../../src/index.ts';
import { tableMdp } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

/** With γ = ½ the near reward is worth 0.4, and the far one ¼ · 1. Without, the far one is worth more. */
const problem = tableMdp({
  start: { near: { to: 'near end', reward: 0.4 }, far: { to: 'a', reward: 0 } },
  a: { on: { to: 'b', reward: 0 } },
  b: { on: { to: 'far end', reward: 1 } },
});
const budget = { simulations: 60 };

test('the discounted return decides which end is the best', async () => {
  const far = await searchOf({ ...problem, budget });
  expect(far.actions).toEqual(['far', 'on', 'on']);
  expect(far.tree.score(far.best)).toBe(1);

  const near = await searchOf({ ...problem, discount: 0.5, budget });
  expect(near.actions).toEqual(['near']);
  expect(near.tree.score(near.best)).toBe(0.4);
  const end = [...near.tree.nodes()].find(({ state }) => state === 'far end');
  expect(end && near.tree.score(end)).toBe(0.25);
});

test('the discounted return decides which action is taken', async () => {
  for (const [discount, actions] of [
    [1, ['far', 'on', 'on']],
    [0.5, ['near']],
  ] as const) {
    const algorithm = stepwise(mcts(), { simulations: 20 });
    const { tree, best } = await searchOf({ ...problem, algorithm, discount, budget });
    expect(tree.cursor).toBe(best);
    expect((await searchOf({ ...problem, algorithm, discount, budget })).actions).toEqual(actions);
    expect(robustOrSolvedChild(tree.root.children, discount)?.action).toBe(actions[0]);
  }
});

test('the score is what was backed up', async () => {
  const rules = { algorithm: mcts({ selection: descend(uct()) }), discount: 0.7 };
  const chain = tableMdp({
    start: { on: { to: 'a', reward: 0.2 } },
    a: { on: { to: 'b' } },
    b: { on: { to: 'end', reward: 0.5 } },
  });
  const { tree, best } = await searchOf({ ...chain, ...rules, budget: { simulations: 3 } });
  // 0.2 + 0.7 · (0 + 0.7 · 0.5)
  expect(tree.score(best)).toBeCloseTo(0.445, 12);
  const unrewarded = tableMdp({ start: { on: { to: 'end' } } }, { values: { end: 0.6 } });
  const { tree: other } = await searchOf({ ...unrewarded, ...rules, budget: { simulations: 1 } });
  expect(other.score(other.best)).toBeCloseTo(0.7 * 0.6, 12);
  expect(other.root.value).toBeCloseTo(0.7 * 0.6, 12);
});

test('a solution stays one however late it comes', async () => {
  const { solved } = await searchOf({
    ...tableMdp({ start: { on: { to: 'a' } }, a: { on: { to: 'end', reward: 1 } } }),
    discount: 0.5,
    budget,
  });
  expect(solved).toBe(true);
});

test('a tree keeps its discount on disk and in a copy', async () => {
  const { tree } = await searchOf({ ...problem, discount: 0.5, budget });
  for (const copy of [treeFromJson(JSON.stringify(treeToJson(tree))), tree.fork()]) {
    expect(copy.discount).toBe(0.5);
    expect(copy.best.action).toBe('near');
  }
  const far = await searchOf({ ...problem, budget });
  expect(treeToJson(far.tree)).not.toHaveProperty('discount');
});
