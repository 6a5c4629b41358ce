import { describe, expect, test } from 'vitest';
import { beam, type SearchNode, seededRandom } from '../../src/index.ts';
import { type MdpTable, tableMdp } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const budget = { simulations: 10_000 };

function wordsOf(nodes: Iterable<SearchNode<string, string>>, status: string): readonly string[] {
  return [...nodes].filter((node) => node.status === status).map(({ state }) => String(state));
}

describe('a beam', () => {
  const problem = tableMdp(
    {
      start: { left: { to: 'a' }, right: { to: 'b' } },
      a: { on: { to: 'poor', reward: 0.2 } },
      b: { on: { to: 'rich', reward: 1 } },
    },
    { values: { a: 0.6, b: 0.5 } },
  );

  test('of one goes on from the best of a level and puts the others aside', async () => {
    const { actions, tree, stopReason } = await searchOf({
      ...problem,
      algorithm: beam({ width: 1 }),
      budget,
    });
    expect({ actions, stopReason }).toEqual({ actions: ['left', 'on'], stopReason: 'exhausted' });
    expect(wordsOf(tree.nodes(), 'pruned')).toEqual(['b']);
    expect(tree.root.children[1]?.pruned).toBe('beam');
    // The start and `a`: one simulation a node.
    expect(tree.simulations).toBe(2);
  });

  test('of two sees what the first level hid', async () => {
    const { actions } = await searchOf({ ...problem, algorithm: beam({ width: 2 }), budget });
    expect(actions).toEqual(['right', 'on']);
  });

  test('ranks by the rewards on the way and the value of the state', async () => {
    // 0.3 + 0.1 against 0 + 0.35; with γ = 0.5 the rewards of the first step count in full.
    const rewarded = tableMdp(
      {
        start: { left: { to: 'a', reward: 0.3 }, right: { to: 'b' } },
        a: { on: { to: 'c' } },
        b: { on: { to: 'd' } },
        c: { on: { to: 'end of c', reward: 0 } },
        d: { on: { to: 'end of d', reward: 1 } },
      },
      { values: { a: 0.1, b: 0.35 } },
    );
    const { actions } = await searchOf({ ...rewarded, algorithm: beam({ width: 1 }), budget });
    expect(actions).toEqual(['left', 'on', 'on']);
  });

  test('goes no deeper than its bound', async () => {
    const { tree } = await searchOf({ ...problem, algorithm: beam({ maxDepth: 1 }), budget });
    expect(tree.size).toBe(3);
  });

  test('that is stopped in a level repeats none of it', async () => {
    const algorithm = beam({ width: 2 });
    const whole = await searchOf({ ...problem, algorithm, budget });
    const first = await searchOf({ ...problem, algorithm, budget: { simulations: 2 } });
    expect(first.stopReason).toBe('budget');
    const second = await first.resume({ budget: { simulations: 1 } });
    expect(second.actions).toEqual(whole.actions);
    expect(second.tree.simulations).toBe(whole.tree.simulations);
  });
});

/** A random tree: its table, the best return there is, and how many states can be reached. */
function randomTree(seed: number): { table: MdpTable; best: number; states: number } {
  const random = seededRandom(seed);
  const table: Record<string, Record<string, { to: string; reward?: number }>> = {};
  let states = 0;
  function grow(state: string, depth: number): number {
    states++;
    const actions = Array.from({ length: 1 + random.integer(3) }, (_, place) => `${place}`);
    let best = Number.NEGATIVE_INFINITY;
    const row: Record<string, { to: string; reward?: number }> = {};
    table[state] = row;
    for (const action of actions) {
      const isEnd = depth === 3 || random.next() < 0.2;
      const reward = random.integer(5) / 20;
      row[action] = { to: `${state}${action}`, reward };
      if (isEnd) states++;
      best = Math.max(best, reward + (isEnd ? 0 : grow(`${state}${action}`, depth + 1)));
    }
    return best;
  }
  const best = grow('s', 0);
  return { table, best, states };
}

test('an infinite beam is an exhaustive search', async () => {
  for (let seed = 0; seed < 60; seed++) {
    const { table, best, states } = randomTree(seed);
    const algorithm = beam({ width: Number.POSITIVE_INFINITY });
    const found = await searchOf({ ...tableMdp(table, { keys: false }), algorithm, budget });
    expect(found.tree.size).toBe(states);
    expect(found.tree.score(found.best)).toBeCloseTo(best, 12);
  }
});

test('a beam expands at most so many nodes a level, the most promising ones', async () => {
  for (let seed = 0; seed < 60; seed++) {
    const { table } = randomTree(seed);
    const { tree } = await searchOf({
      ...tableMdp(table, { keys: false }),
      algorithm: beam({ width: 2 }),
      budget,
    });
    const rewardsTo = (node: SearchNode): number =>
      node.parent === undefined ? 0 : rewardsTo(node.parent) + (node.reward ?? 0);
    for (let depth = 1; depth < 4; depth++) {
      const level = [...tree.nodes()].filter((node) => node.depth === depth && !node.terminal);
      const kept = level.filter(({ children }) => children.length > 0);
      expect(kept.length).toBe(Math.min(2, level.length));
      const worstKept = Math.min(...kept.map(rewardsTo));
      for (const node of level) {
        if (!kept.includes(node)) expect(rewardsTo(node)).toBeLessThanOrEqual(worstKept + 1e-12);
      }
    }
  }
});

describe('a beam that samples', () => {
  const values = { a: 0.6, b: 0.3, c: 0.1, d: 0 };
  const { environment, evaluator, policy } = tableMdp(
    {
      start: { a: { to: 'a' }, b: { to: 'b' }, c: { to: 'c' }, d: { to: 'd' } },
      ...Object.fromEntries(Object.keys(values).map((state) => [state, { on: { to: 'end' } }])),
    },
    { values, keys: false },
  );
  const keptWith = async (seed: number, width: number) => {
    const algorithm = beam({ width, select: 'sample', maxDepth: 1 });
    const { tree } = await searchOf({ environment, policy, evaluator, algorithm, seed });
    return wordsOf(tree.root.children, 'open').join('');
  };
  const shares = async (width: number) => {
    const counts: Record<string, number> = {};
    for (let seed = 0; seed < 2000; seed++) {
      const kept = await keptWith(seed, width);
      counts[kept] = (counts[kept] ?? 0) + 1 / 2000;
    }
    return counts;
  };

  test('of one keeps each node as often as its share of the values', async () => {
    const { a = 0, b = 0, c = 0, d = 0 } = await shares(1);
    // Four standard deviations: 4 · √(0.6 · 0.4 / 2000) = 0.044.
    expect(Math.abs(a - 0.6)).toBeLessThan(0.044);
    expect(Math.abs(b - 0.3)).toBeLessThan(0.041);
    expect(Math.abs(c - 0.1)).toBeLessThan(0.027);
    expect(d).toBe(0);
  });

  test('of two draws the second from those that are left', async () => {
    const { ab = 0, ac = 0, bc = 0 } = await shares(2);
    // ab: 0.6 · 3/4 + 0.3 · 6/7; ac: 0.6 · 1/4 + 0.1 · 6/9; bc: 0.3 · 1/7 + 0.1 · 3/9.
    expect(Math.abs(ab - (0.45 + 1.8 / 7))).toBeLessThan(0.041);
    expect(Math.abs(ac - 0.2167)).toBeLessThan(0.037);
    expect(Math.abs(bc - 0.0762)).toBeLessThan(0.024);
    expect(ab + ac + bc).toBeCloseTo(1, 9);
  });

  test('keeps as many as there is room for', async () => {
    expect(await keptWith(0, 9)).toBe('abcd');
  });
});

test('a beam that evaluates by the level shows the evaluator all children of it at once', async () => {
  const { environment, policy } = tableMdp(
    {
      start: { left: { to: 'a' }, right: { to: 'b' } },
      a: { x: { to: 'ax' }, y: { to: 'ay' } },
      b: { x: { to: 'bx' }, y: { to: 'by' } },
    },
    { keys: false },
  );
  const batches: string[] = [];
  const grown = (simulations: number, tree?: Awaited<ReturnType<typeof searchOf>>['tree']) =>
    searchOf({
      environment,
      policy,
      evaluator: {
        needs: 'realised',
        evaluate: (nodes) => {
          batches.push(nodes.map(({ state }) => state).join(' '));
          return nodes.map((_, place) => ({ value: place / nodes.length }));
        },
      },
      algorithm: beam({ width: 2, batch: 'level' }),
      budget: { simulations },
      ...(tree !== undefined && { tree: tree as never }),
    });
  const { tree, actions } = await grown(100);
  // The greater of two values is that of b, which goes first.
  expect(batches).toEqual(['a b', 'bx by ax ay']);
  expect(actions).toEqual(['left', 'y']);
  // Three nodes, and a judgement of each level.
  expect(tree.simulations).toBe(5);

  batches.length = 0;
  for (const simulations of [1, 2, 3, 4]) await grown(100, (await grown(simulations)).tree);
  expect(batches.filter((batch) => batch === 'bx by ax ay')).toHaveLength(4);
});
