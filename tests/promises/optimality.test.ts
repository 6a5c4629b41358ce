import { describe, expect, test } from 'vitest';
import { astar, type Environment, type Policy, search } from '../../src/index.ts';
import { uniform } from '../../src/policies/index.ts';
import { tableMdp } from '../../src/testing/index.ts';
import { claimOf, faultOf, numbers } from '../support/multigraphs.ts';
import { searchOf } from '../support/search-of.ts';

const seeds = Array.from({ length: 80 }, (_, index) => index + 1);

describe('A* on random graphs with parallel edges, dead ends and broken edges', () => {
  test.each([1, 8])('claims what is true and nothing else, %i at once', async (concurrency) => {
    for (const seed of seeds) {
      const { tree: _, ...claim } = await claimOf(seed, concurrency);
      expect(faultOf({ ...claim, tree: '' }), JSON.stringify(claim)).toBeUndefined();
    }
  });

  test('grows the same tree whether it was stopped on the way or not', async () => {
    for (const seed of seeds) {
      const next = numbers(seed);
      const pauses = Array.from({ length: 3 }, () => 1 + Math.floor(next() * 6));
      const whole = await claimOf(seed, 1);
      expect((await claimOf(seed, 1, pauses)).tree, `seed ${seed}`).toBe(whole.tree);
    }
  });
});

describe('A* that goes on', () => {
  const line = tableMdp({
    start: { long: { to: 'a' }, short: { to: 'b' } },
    a: { on: { to: 'end', reward: 1 } },
    b: { on: { to: 'end', reward: 1 } },
  });

  test('takes up children whose steps were cut off by the budget', async () => {
    let bridges = 0;
    const environment: Environment<string, string> = {
      ...line.environment,
      step: (state, action, context) =>
        context.effect('cross', { state, action }, async () => {
          bridges++;
          return line.environment.step(state, action, context);
        }),
    };
    const algorithm = astar({ heuristic: () => 0, admissible: true });
    const first = await searchOf({ ...line, environment, algorithm, budget: { calls: 1 } });
    expect(first.stopReason).toBe('budget');
    const { solved, optimal } = await first.resume({ budget: { calls: 100 } });
    expect({ solved, optimal, bridges }).toEqual({ solved: true, optimal: true, bridges: 4 });
  });

  test('with other costs claims nothing of what the first ones had put aside', async () => {
    const diamond = tableMdp({
      start: { left: { to: 'a' }, right: { to: 'b' } },
      a: { on: { to: 'shared' } },
      b: { on: { to: 'shared' } },
      shared: { end: { to: 'end', reward: 1 } },
    });
    const priced = (dear: string) =>
      astar({
        heuristic: () => 0,
        admissible: true,
        cost: ({ action }) => (action === dear ? 9 : 1),
      });
    const first = await searchOf({ ...diamond, algorithm: priced('left') });
    expect(first).toMatchObject({ actions: ['right', 'on', 'end'], optimal: true });
    const second = await first.resume({ algorithm: priced('right') });
    expect(second.optimal).toBe(false);
  });
});

test('a state without actions hides no path: the claim stands', async () => {
  const policy: Policy<string, string> = {
    propose: ({ state }) =>
      ({ start: ['dead', 'way'], way: ['goal'] })[String(state)]?.map((action) => ({ action })) ??
      [],
  };
  const environment: Environment<string, string> = {
    name: 'dead-end',
    reset: () => ({ state: 'start' }),
    key: (state) => state,
    step: (_, state) => (state === 'goal' ? { state, reward: 1, terminal: true } : { state }),
  };
  const algorithm = astar({ heuristic: () => 0, admissible: true });
  const { actions, optimal } = await search(environment, { policy, algorithm });
  expect({ actions, optimal }).toEqual({ actions: ['way', 'goal'], optimal: true });
});

test('what `maxDepth` leaves unseen may have been cheaper, and then nothing is claimed', async () => {
  // One dear step to the goal, or three cheap ones.
  const environment: Environment<string, string> = {
    name: 'short-cut',
    reset: () => ({ state: '0' }),
    step: (_, action) => ({
      ...{ state: action, cost: action === 'dear' ? 10 : 1 },
      ...(['dear', '3'].includes(action) && { terminal: true, reward: 1 }),
    }),
    key: (state) => state,
  };
  const policy = uniform<string, string>((state) => [
    `${Number(state) + 1}`,
    ...(state === '0' ? ['dear'] : []),
  ]);
  const within = async (maxDepth: number) => {
    const algorithm = astar({ heuristic: () => 0, admissible: true, maxDepth });
    const { actions, optimal } = await search(environment, { policy, algorithm });
    return { actions, optimal };
  };
  expect(await within(3)).toEqual({ actions: ['1', '2', '3'], optimal: true });
  expect(await within(2)).toEqual({ actions: ['dear'], optimal: false });
});
