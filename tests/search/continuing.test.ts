import { describe, expect, test } from 'vitest';
import {
  astar,
  bestOfN,
  mcts,
  type Policy,
  pathTo,
  type SearchAlgorithm,
  type SearchContext,
  type SearchResult,
  type SearchTree,
  summarise,
} from '../../src/index.ts';
import {
  banditTree,
  manualClock,
  type SyntheticState,
  scriptedModel,
  syntheticTree,
  tableMdp,
} from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf, streamSearchOf } from '../support/search-of.ts';

const problem = banditTree();
const endless = syntheticTree();
const clock = manualClock({ auto: true });

test('A* goes on from a hasty answer to the best', async () => {
  const graph = tableMdp({
    start: { a: { to: 'a' }, b: { to: 'b' } },
    a: { on: { to: 'end', reward: 1 } },
    b: { on: { to: 'c' } },
    c: { on: { to: 'end', reward: 1 } },
  });
  const costs: Readonly<Record<string, number>> = { a: 9, b: 1, c: 1, on: 1 };
  const cost = ({ action }: { readonly action: unknown }) => costs[String(action)] ?? 1;
  const heuristic = (state: unknown) => (state === 'b' ? 2 : 0);
  const hasty = astar({ heuristic, admissible: true, cost, weight: 50 });
  const first = await searchOf({ ...graph, algorithm: hasty });
  expect(first).toMatchObject({ actions: ['a', 'on'], optimal: false, stopReason: 'solved' });
  const exact = astar({ heuristic, admissible: true, cost });
  const second = await first.resume({ algorithm: exact });
  expect(second).toMatchObject({ actions: ['b', 'on', 'on'], optimal: true });
});

describe('result.resume', () => {
  test('goes on with the same tree under a budget of its own', async () => {
    const first = await searchOf({ ...endless, budget: { simulations: 20 } });
    const second = await first.resume({ budget: { simulations: 30 } });
    expect(second.tree).toBe(first.tree);
    expect(second.spend.simulations).toBe(30);
    expect(second.tree.root.visits).toBe(50);
  });

  test('goes on again and again', async () => {
    let result = await searchOf({ ...endless, budget: { simulations: 10 } });
    for (let round = 0; round < 4; round++) result = await result.resume();
    const whole = await searchOf({ ...endless, budget: { simulations: 50 } });
    expect(summarise(result.tree.root)).toEqual(summarise(whole.tree.root));
  });

  test('may change the algorithm, and makes no call twice', async () => {
    const model = scriptedModel({ answer: hashedAnswer });
    const first = await searchOf({
      ...throughModel(endless, { model }),
      budget: { simulations: 20 },
    });
    await first.resume({ algorithm: bestOfN({ maxDepth: 3 }) });
    await first.resume({ algorithm: astar() });
    const asked = model.requests.map((request) => JSON.stringify(request));
    expect(new Set(asked).size).toBe(asked.length);
  });

  test('offers again what the budget had no room for', async () => {
    const first = await searchOf({ ...problem, budget: { nodes: 8 } });
    expect(first.exceeded).toBe('nodes');
    const second = await first.resume({ budget: { simulations: 500 } });
    expect(second.actions).toEqual(problem.best);
  });

  test('goes on after a budget of nothing', async () => {
    const first = await searchOf({ ...problem, budget: { simulations: 0 } });
    expect(first.best).toBe(first.tree.root);
    expect((await first.resume({ budget: { simulations: 500 } })).actions).toEqual(problem.best);
  });

  test('takes up a call that the deadline had aborted', async () => {
    const model = scriptedModel({ answer: hashedAnswer, latencyMs: 100 });
    const options = { ...throughModel(endless, { model }), clock };
    const first = await searchOf({ ...options, budget: { ms: 250 } });
    expect(model.aborted).toBe(1);
    const second = await first.resume({ budget: { simulations: 10 } });
    expect(second.stopReason).toBe('budget');
    const whole = await searchOf({ ...options, budget: { simulations: second.tree.root.visits } });
    expect(summarise(second.tree.root)).toEqual(summarise(whole.tree.root));
  });
});

describe('tree.fork', () => {
  test('leaves the tree that it came from as it was', async () => {
    const { tree, resume } = await searchOf({ ...endless, budget: { simulations: 30 } });
    const before = summarise(tree.root);
    const copy = tree.fork();
    await searchOf({ ...endless, tree: copy, budget: { simulations: 30 } });
    expect(summarise(tree.root)).toEqual(before);
    expect(copy.root.visits).toBe(60);
    await resume();
    expect(summarise(tree.root)).toEqual(summarise(copy.root));
  });

  test('at a node starts from there', async () => {
    const { tree } = await searchOf({ ...endless, budget: { simulations: 40 } });
    const child = tree.root.children.find(({ kind }) => kind === 'realised') ?? tree.root;
    const copy = tree.fork(child);
    const before = copy.node(child.id).visits;
    await searchOf({ ...endless, tree: copy, budget: { simulations: 25 } });
    expect(copy.cursor.id).toBe(child.id);
    expect(copy.node(child.id).visits).toBe(before + 25);
  });
});

describe('advance', () => {
  /** Takes three real steps, thinking anew before each. */
  const stepwise: SearchAlgorithm = {
    ...mcts(),
    name: 'stepwise',
    async run<State, Action>(
      tree: SearchTree<State, Action>,
      context: SearchContext<State, Action>,
    ): Promise<void> {
      for (let step = 0; step < 3 && !context.stopped; step++) {
        await context.simulate(
          async (simulation) => {
            let node = tree.cursor;
            while (node.children.length > 0) {
              const { children } = node;
              node = children[simulation.random.integer(children.length)] ?? node;
            }
            simulation.visit(node);
            await context.realise([node]);
            if (node.status === 'open') await context.expand(node);
            await context.evaluate([node]);
            tree.backup(node);
            return 'continue';
          },
          { limit: 10 },
        );
        const [next] = tree.cursor.children.toSorted((a, b) => b.value - a.value);
        if (next !== undefined) {
          await context.realise([next]);
          context.advance(next);
        }
      }
    },
  };

  test('keeps the subtree, and the siblings for the pairs', async () => {
    const depths: number[] = [];
    let result: SearchResult<SyntheticState, number> | undefined;
    for await (const event of streamSearchOf({ ...endless, algorithm: stepwise })) {
      if (event.type === 'cursor-advanced') depths.push(event.node.depth);
      if (event.type === 'search-end') result = event.result;
    }
    expect(depths).toEqual([1, 2, 3]);
    expect(result?.tree.cursor.depth).toBe(3);
    expect(result?.tree.root.children).toHaveLength(4);
    expect(result?.tree.cursor.parent?.children).toHaveLength(4);
    expect(result?.stopReason).toBe('exhausted');
  });
});

describe('after an advance', () => {
  test('the next search starts at the cursor', async () => {
    const first = await searchOf({ ...endless, budget: { simulations: 30 } });
    const { tree } = first;
    const child = tree.root.children.find(({ visits }) => visits > 0) ?? tree.root;
    const before = tree.root.visits - child.visits;
    tree.advance(child);
    await first.resume({ budget: { simulations: 20 } });
    expect(tree.root.visits - child.visits).toBe(before);
  });

  test('A* stays below the cursor', async () => {
    const options = { ...endless, algorithm: astar({ heuristic: () => 1 }) };
    const first = await searchOf({ ...options, budget: { simulations: 30 } });
    const { tree } = first;
    const child = tree.root.children.find(({ children }) => children.length > 0) ?? tree.root;
    tree.advance(child);
    const before = tree.size;
    const { optimal } = await first.resume({ budget: { simulations: 30 } });
    expect(tree.size).toBeGreaterThan(before);
    expect(optimal).toBe(false);
    for (const node of [...tree.nodes()].slice(before)) expect(pathTo(node)).toContain(child);
  });

  test('what was best elsewhere is left behind', async () => {
    const first = await searchOf({ ...problem, budget: { simulations: 500 } });
    const { tree } = first;
    const other = tree.root.children.find(({ action }) => action !== problem.best[0]) ?? tree.root;
    tree.advance(other);
    const { best } = await first.resume({ budget: { simulations: 50 } });
    expect(pathTo(best)).toContain(other);
  });

  test('a node that is not below the cursor is refused', async () => {
    const { tree } = await searchOf({ ...endless, budget: { simulations: 30 } });
    const [first, second] = tree.root.children.filter(({ kind }) => kind === 'realised');
    if (first === undefined || second === undefined) throw new Error('too small a tree');
    tree.advance(first);
    expect(() => tree.advance(second)).toThrow(
      `Expected \`node\` to be a realised node below the cursor ${first.id}, got node ${second.id}.`,
    );
  });
});

describe('context.search', () => {
  function nesting(
    share: number,
    nested: { readonly budget?: object } = {},
  ): { readonly algorithm: SearchAlgorithm; readonly results: SearchResult<unknown, unknown>[] } {
    const results: SearchResult<unknown, unknown>[] = [];
    const algorithm: SearchAlgorithm = {
      ...mcts(),
      name: 'nesting',
      async run(_tree, context) {
        await context.simulate(async () => {
          const { environment, ...guides } = throughModel(problem, { model });
          const options = { ...guides, ...nested, share };
          const result = await context.search(environment, options);
          results.push(result as SearchResult<unknown, unknown>);
          return 'continue';
        });
      },
    };
    return { algorithm, results };
  }
  const model = scriptedModel({ answer: hashedAnswer });

  test('spends from the ledger of the search around it', async () => {
    const { algorithm, results } = nesting(0.5);
    const { spend, stopReason } = await searchOf({
      ...endless,
      algorithm,
      budget: { calls: 40, simulations: 1000 },
    });
    expect(results[0]?.spend.calls).toBeLessThanOrEqual(20);
    const nestedCalls = results.reduce((sum, result) => sum + result.spend.calls, 0);
    expect(spend.calls).toBe(nestedCalls);
    expect(spend.calls).toBeLessThanOrEqual(40);
    expect(stopReason).toBe('budget');
  });

  test('keeps to a smaller budget of its own', async () => {
    const { algorithm, results } = nesting(1, { budget: { simulations: 3 } });
    await searchOf({ ...endless, algorithm, budget: { simulations: 10 } });
    expect(results[0]?.spend.simulations).toBe(3);
  });

  test('starts with a tree of its own', async () => {
    const { algorithm, results } = nesting(0.3);
    const { tree } = await searchOf({ ...endless, algorithm, budget: { simulations: 30 } });
    expect(results[0]?.tree).not.toBe(tree);
    expect(tree.size).toBe(1);
  });

  test('refuses a share that is none', async () => {
    for (const share of [0, 1.5, Number.NaN]) {
      const { algorithm } = nesting(share);
      await expect(searchOf({ ...endless, algorithm })).rejects.toThrow(
        `Expected \`share\` to be a number above 0 and up to 1, got \`${share}\`.`,
      );
    }
  });

  test('refuses a deadline of its own', async () => {
    const { algorithm } = nesting(0.5, { budget: { ms: 5 } });
    await expect(searchOf({ ...endless, algorithm })).rejects.toThrow(
      'Expected `budget.ms` to be left to the surrounding search, got `5`.',
    );
  });
});

describe('states with equal keys', () => {
  const counted = (): { readonly policy: Policy<string, string>; readonly asked: string[] } => {
    const asked: string[] = [];
    return {
      asked,
      policy: {
        propose(node, request) {
          asked.push(String(node.state));
          return diamond.policy.propose(node, request);
        },
      },
    };
  };
  const diamond = tableMdp(
    {
      start: { left: { to: 'a' }, right: { to: 'b' } },
      a: { on: { to: 'shared' } },
      b: { on: { to: 'shared' } },
      shared: { win: { to: 'good', reward: 1 }, lose: { to: 'bad', reward: 0 } },
    },
    { values: { a: 0.5, b: 0.5, shared: 0.5 } },
  );

  test('across the tree share their calls', async () => {
    const model = scriptedModel({ answer: hashedAnswer });
    const { spend, tree } = await searchOf({
      ...throughModel(diamond, { model }),
      budget: { simulations: 40 },
    });
    const shared = [...tree.nodes()].filter(({ state }) => state === 'shared');
    expect(shared).toHaveLength(2);
    const asked = model.requests.map(({ messages }) => messages[0]?.content);
    expect(asked.filter((text) => text === 'propose shared')).toHaveLength(1);
    expect(asked.filter((text) => text === 'value shared')).toHaveLength(1);
    expect(spend.calls).toBe(model.requests.length);
  });

  test('never share their statistics', async () => {
    const { policy, asked } = counted();
    const { tree } = await searchOf({ ...diamond, policy, budget: { simulations: 5 } });
    const [one, other] = [...tree.nodes()].filter(({ state }) => state === 'shared');
    expect(asked).toContain('shared');
    expect(one?.visits).not.toBe(other?.visits);
  });
});
