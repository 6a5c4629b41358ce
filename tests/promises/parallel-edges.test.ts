import { describe, expect, test } from 'vitest';
import {
  astar,
  descend,
  mcts,
  type SearchNode,
  search,
  treeFromJson,
  treeToJson,
  uct,
} from '../../src/index.ts';
import { tableMdp } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

/** S –dear 5→ X, S –cheap 1→ X, X –on 1→ G. */
const roads = tableMdp({
  S: { dear: { to: 'X' }, cheap: { to: 'X' } },
  X: { on: { to: 'G', reward: 1 } },
});
const prices: Readonly<Record<string, number>> = { dear: 5, cheap: 1, on: 1 };
const cost = ({ action }: { readonly action: unknown }) => prices[String(action)] ?? 0;

/** S –walk, 0→ X, S –taxi, .5→ X, X –.5→ G. */
const rides = tableMdp({
  S: { walk: { to: 'X', reward: 0 }, taxi: { to: 'X', reward: 0.5 } },
  X: { on: { to: 'G', reward: 0.5 } },
});

describe('two edges to one state', () => {
  test('of different costs are two ways for A*, and the cheap one is found', async () => {
    const exact = astar({ heuristic: () => 0, admissible: true, cost });
    for (const concurrency of [1, 8]) {
      const { actions, optimal } = await searchOf({ ...roads, algorithm: exact, concurrency });
      expect({ actions, optimal }).toEqual({ actions: ['cheap', 'on'], optimal: true });
    }
  });

  test('of costs that the environment tells are two ways, also after saving', async () => {
    // dear, on: 5 + 1; cheap, far, on: 1 + 3 + 1.
    const told = tableMdp({
      S: { dear: { to: 'X', cost: 5 }, same: { to: 'X', cost: 6 }, cheap: { to: 'Y', cost: 1 } },
      Y: { far: { to: 'X', cost: 3 } },
      X: { on: { to: 'G', reward: 1 } },
    });
    const algorithm = astar({ heuristic: () => 0, admissible: true });
    const { actions, optimal, best } = await searchOf({ ...told, algorithm });
    expect({ actions, optimal }).toEqual({ actions: ['cheap', 'far', 'on'], optimal: true });
    expect(best.notes).toMatchObject({ astar: { g: 5 } });

    const cut = await searchOf({ ...told, algorithm, budget: { simulations: 2 } });
    const loaded = treeFromJson(treeToJson(cut.tree), told.environment);
    expect(loaded.root.children.map(({ cost }) => cost)).toEqual([5, 6, 1]);
    const { environment, ...parts } = told;
    const after = await search(environment, { ...parts, algorithm, tree: loaded });
    expect({ actions: after.actions, optimal: after.optimal }).toEqual({ actions, optimal });
  });

  test('are two ways for A* in a tree that another search has grown', async () => {
    const first = await searchOf({ ...roads, budget: { simulations: 2 } });
    const exact = astar({ heuristic: () => 0, admissible: true, cost });
    const { actions, optimal } = await first.resume({ algorithm: exact, budget: {} });
    expect({ actions, optimal }).toEqual({ actions: ['cheap', 'on'], optimal: true });
  });

  test('of different rewards are two children for MCTS, and no reward is lost', async () => {
    const { actions, best, tree } = await searchOf({ ...rides, budget: { simulations: 40 } });
    expect(actions).toEqual(['taxi', 'on']);
    expect(tree.score(best)).toBe(1);
    expect(tree.root.children.map(({ status }) => status)).toEqual(['closed', 'closed']);
  });

  test('of equal reward are one child, and the first keeps its place and both priors', async () => {
    const twins = tableMdp({
      S: { one: { to: 'X', prior: 0.3 }, two: { to: 'X', prior: 0.2 }, three: { to: 'Y' } },
      X: { on: { to: 'G', reward: 1 } },
      Y: { on: { to: 'G', reward: 0 } },
    });
    const { tree } = await searchOf({
      ...twins,
      algorithm: mcts({ evaluate: 'all' }),
      budget: { simulations: 1 },
    });
    const [one, two] = tree.root.children;
    expect(one).toMatchObject({ status: 'open', prior: 0.5 });
    expect(two).toMatchObject({
      status: 'pruned',
      prior: 0,
      duplicateOf: one?.id,
    });
  });
});

describe('the best node', () => {
  /** The second way to the goal is cheaper, and is found later; both are rewarded alike. */
  const ways = tableMdp({
    S: { far: { to: 'G', reward: 1 }, near: { to: 'X' } },
    X: { on: { to: 'G', reward: 1 } },
  });

  test('is never one that was put aside', async () => {
    const costs: Readonly<Record<string, number>> = { far: 9, near: 1, on: 1 };
    const algorithm = astar({
      heuristic: () => 0,
      cost: ({ action }) => costs[String(action)] ?? 0,
    });
    for (let simulations = 1; simulations < 6; simulations++) {
      const { best } = await searchOf({ ...ways, algorithm, budget: { simulations } });
      expect(best.status).not.toBe('pruned');
    }
  });

  test('is never a duplicate, whichever of two steps comes back first', async () => {
    const problem = tableMdp({ S: { slow: { to: 'G', reward: 1 }, fast: { to: 'G', reward: 1 } } });
    const { environment } = problem;
    const late: typeof environment = {
      ...environment,
      async step(state, action, context) {
        for (let turn = 0; turn < (action === 'slow' ? 50 : 0); turn++) await Promise.resolve();
        return environment.step(state, action, context);
      },
    };
    const { best } = await searchOf({
      ...problem,
      environment: late,
      algorithm: mcts({ evaluate: 'all', selection: descend(uct()) }),
      budget: { simulations: 5 },
    });
    expect(best.status).not.toBe('pruned');
    expect(best.action).toBe('fast');
  });

  test('stays where it was put aside after the search had preferred or visited it', async () => {
    const first = await searchOf({ ...ways, algorithm: mcts(), budget: { simulations: 2 } });
    const { tree } = first;
    const ends = [...tree.nodes()].filter(({ terminal }) => terminal);
    for (const end of ends) tree.prune(end);
    const statuses: SearchNode['status'][] = [tree.best.status];
    expect(statuses).not.toContain('pruned');
  });
});
