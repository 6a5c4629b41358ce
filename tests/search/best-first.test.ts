import { describe, expect, test } from 'vitest';
import {
  type BestFirstOptions,
  bestFirst,
  type SearchTree,
  solved,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { tableMdp } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const { environment, policy, evaluator } = tableMdp(
  {
    r: { a: { to: 'a' }, b: { to: 'b' }, c: { to: 'c' } },
    a: { h: { to: 'h' } },
    b: { d: { to: 'd' }, e: { to: 'e' } },
    c: { f: { to: 'f' }, g: { to: 'g' } },
    d: { on: { to: 'end of d', reward: 0 } },
    e: { on: { to: 'end of e', reward: 0.2 } },
    f: { i: { to: 'i' } },
    g: { on: { to: 'end of g', reward: 0 } },
    h: { on: { to: 'end of h', reward: 1 } },
    i: { on: { to: 'end of i', reward: 0 } },
  },
  { values: { a: 0.5, b: 0.8, c: 0.8, d: 0.3, e: 0.8, f: 0.9, g: 0.1, h: 0.95, i: 0.2 } },
);

/** The states in the order in which actions were asked for. */
async function expanded(options: BestFirstOptions, rest: object = {}) {
  const order: string[] = [];
  const result = await searchOf({
    environment,
    evaluator,
    policy: {
      propose: (node, request) => {
        order.push(String(node.state));
        return policy.propose(node, request);
      },
    },
    algorithm: bestFirst(options),
    ...rest,
  });
  return { ...result, order: order.join(' ') };
}

/*
 * Written down before the code. By value: b and c are equal, and b is the first; then c and e are equal, and c lies
 * higher; f 0.9, e 0.8, a 0.5, h 0.95, d 0.3, i 0.2, g 0.1. By depth: b; of its children e before d; then c, f, i below
 * it, g; a, h.
 */
describe('best-first search', () => {
  test('expands the best of all open nodes, of equal ones the shallowest and then the first', async () => {
    const { order, actions, stopReason } = await expanded({});
    expect(order).toBe('r b c f e a h d i g');
    expect(actions).toEqual(['a', 'h', 'on']);
    expect(stopReason).toBe('exhausted');
  });

  test('ends with the first solution where it is told to', async () => {
    const { order, spend } = await expanded({}, { stopWhen: solved() });
    expect(order).toBe('r b c f e a h');
    expect(spend.simulations).toBe(7);
  });

  test('by depth is depth-first, the best child first', async () => {
    expect((await expanded({ order: 'depth' })).order).toBe('r b e d c f i g a h');
  });

  test('puts aside what promises no more than the threshold', async () => {
    const { order, tree } = await expanded({ order: 'depth', threshold: 0.3 });
    expect(order).toBe('r b e c f a h');
    const pruned = [...tree.nodes()].filter(({ status }) => status === 'pruned');
    expect(pruned.map(({ state, pruned: reason }) => [state, reason])).toEqual([
      ['d', 'hopeless'],
      ['g', 'hopeless'],
      ['i', 'hopeless'],
    ]);
  });

  test('asks for `width` actions and goes no deeper than `maxDepth`', async () => {
    const { tree } = await expanded({ width: 2, maxDepth: 2 });
    expect(tree.root.children).toHaveLength(2);
    expect(Math.max(...[...tree.nodes()].map(({ depth }) => depth))).toBe(2);
  });

  test('has the most promising node for an answer while there is no end', async () => {
    const { actions } = await expanded({}, { budget: { simulations: 3 } });
    expect(actions).toEqual(['c', 'f']);
  });

  test('goes on in a saved tree as if it had not been interrupted', async () => {
    for (let simulations = 1; simulations < 10; simulations++) {
      const first = await expanded({}, { budget: { simulations } });
      const tree: SearchTree<string, string> = treeFromJson(JSON.stringify(treeToJson(first.tree)));
      const second = await expanded({}, { tree });
      expect(`${first.order} ${second.order}`).toBe('r b c f e a h d i g');
    }
  });

  test('expands different nodes side by side', async () => {
    const { order } = await expanded({}, { concurrency: 3 });
    expect(order.split(' ').toSorted().join('')).toBe('abcdefghir');
  });
});
