import { describe, expect, test } from 'vitest';
import {
  beam,
  bestOfN,
  depthFirst,
  type Environment,
  lats,
  mcts,
  type Operation,
  search,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { searchOf } from '../support/search-of.ts';

/** Two actions of three lead to one state, and so do paths of different actions. */
function merging(seed: number) {
  const hash = (text: string) => {
    let a = seed + 7;
    for (const c of text) a = Math.imul(a ^ c.charCodeAt(0), 16777619);
    a ^= a >>> 13;
    a = Math.imul(a, 0x5bd1e995);
    return ((a ^ (a >>> 15)) >>> 0) / 2 ** 32;
  };
  const environment: Environment<string, string> = {
    name: 'merging',
    reset: () => ({ state: '' }),
    async step(state, action, context) {
      await context.effect('go', [state, action], async () => 1);
      const next = state + Math.floor(hash(state + action) * 2);
      return { state: next, ...(next.length > 5 && { terminal: true }) };
    },
    key: (state) => state,
  };
  return {
    environment,
    policy: () => ['a', 'b', 'c'].map((action) => ({ action })),
    evaluator: ({ state }: { readonly state: string }) => hash(`v${state}`),
  };
}

describe('siblings of equal state', () => {
  test('do not end LATS, wherever its budget cut it off', async () => {
    for (let calls = 1; calls < 30; calls += 3) {
      const { environment, ...parts } = merging(calls);
      const first = await search(environment, { ...parts, algorithm: lats(), budget: { calls } });
      const { tree } = await first.resume({ budget: { calls: 30 } });
      expect(tree.root.visits).toBeGreaterThan(0);
    }
  });

  test('are merged where the search goes on as where it did not stop', async () => {
    const environment: Environment<string, string> = {
      name: 'one state',
      reset: () => ({ state: '' }),
      step: (state) => ({ state: `${state}x`, ...(state.length > 3 && { terminal: true }) }),
      key: (state) => state,
    };
    const options = (simulations: number) => ({
      policy: () => [1, 2, 3, 4].map((n) => ({ action: `a${n}`, prior: n / 10 })),
      evaluator: ({ state }: { readonly state: string }) => state.length / 10,
      algorithm: mcts(),
      budget: { simulations },
    });
    const whole = await search(environment, options(6));
    const first = await search(environment, options(1));
    const loaded = treeFromJson<string, string>(treeToJson(first.tree));
    const parts = await search(environment, { ...options(5), tree: loaded });
    const open = (tree: typeof whole.tree) =>
      tree.root.children.filter(({ status }) => status !== 'pruned').map(({ action }) => action);
    expect(open(parts.tree)).toEqual(open(whole.tree));
    expect(parts.tree.size).toBe(whole.tree.size);
  });
});

describe('a beam', () => {
  const walk = (steps: Record<string, object>, values: Record<string, number>) => ({
    environment: {
      name: 'walk',
      reset: () => ({ state: 's' }),
      step: (_state: string, action: string) => ({ state: action, ...steps[action] }),
    } satisfies Environment<string, string>,
    policy: ({ state }: { readonly state: string }) =>
      (({ s: ['A', 'B', 'C'], A: ['a'], B: ['b'] })[state] ?? []).map((action) => ({ action })),
    evaluator: ({ state }: { readonly state: string }) => values[state] ?? 0,
  });

  test('discounts what is hoped for as much as what is earned', async () => {
    // γ = 0.5: A promises 0.4 + 0.5 · 0.5 = 0.65, B 0.5 · 1.
    const steps = { A: { reward: 0.4 }, a: { terminal: true }, b: { terminal: true } };
    const { tree } = await searchOf({
      ...walk(steps, { A: 0.5, B: 1, a: 0.1, b: 0.1 }),
      algorithm: beam({ width: 1 }),
      discount: 0.5,
    });
    expect(tree.root.children.map(({ pruned }) => pruned)).toEqual([undefined, 'beam', 'beam']);
  });

  test('keeps a complete answer for which it has no room', async () => {
    const { best } = await searchOf({
      ...walk({ C: { answer: true } }, { A: 0.9, B: 0.9, C: 0.8 }),
      algorithm: beam({ width: 2 }),
    });
    expect([best.action, best.answer]).toEqual(['C', true]);
  });

  const bits: Environment<string, string> = {
    name: 'bits',
    reset: () => ({ state: '' }),
    step: (state, action) => ({ state: state + action, terminal: state.length > 10 }),
  };
  const towards = {
    policy: () => ['0', '1'].map((action) => ({ action })),
    evaluator: ({ state }: { readonly state: string }) => state.replaceAll('0', '').length / 12,
  };

  test('that its budget cuts off tells how far it came, as does a depth-first search', async () => {
    const options = { ...towards, algorithm: beam({ width: 2 }), budget: { simulations: 9 } };
    const { actions } = await search(bits, options);
    expect(actions).toEqual(['1', '1', '1', '1', '1']);
    const deep = await search(bits, {
      policy: towards.policy,
      algorithm: depthFirst(),
      budget: { simulations: 4 },
    });
    expect(deep.actions).toHaveLength(4);
  });
});

test('an evaluator that is deaf to the end leaves no marks, and its tree is the loaded one', async () => {
  let asked = 0;
  let isDeaf = true;
  const options = {
    policy: () => ['a', 'b', 'c'].map((action) => ({ action })),
    evaluator: async ({ state }: { readonly state: string }) => {
      if (isDeaf && asked++ === 5) await new Promise(() => {});
      return state.length / 100;
    },
    algorithm: mcts(),
  };
  const environment: Environment<string, string> = {
    name: 'words',
    reset: () => ({ state: '' }),
    step: (state, action) => ({ state: state + action }),
  };
  const budget = { simulations: 30, ms: 100 };
  const { tree } = await search(environment, { ...options, concurrency: 4, budget });
  expect([...tree.nodes()].filter(({ inFlight }) => inFlight > 0)).toEqual([]);
  isDeaf = false;
  const loaded = treeFromJson<string, string>(treeToJson(tree));
  const further = { ...options, budget: { simulations: 60 } };
  const [live, read] = [
    await search(environment, { ...further, tree }),
    await search(environment, { ...further, tree: loaded }),
  ];
  expect(treeToJson(read.tree)).toEqual(treeToJson(live.tree));
});

test.each([
  { calls: -1 },
  { calls: 0.5 },
  { calls: Number.NaN },
  { calls: '1' as never },
  { inputTokens: -1000 },
  { outputTokens: Number.POSITIVE_INFINITY },
])('an operation that reserves %j is refused before it runs', async (worstCase) => {
  let runs = 0;
  const look: Operation<string, number> = {
    kind: 'look',
    name: 'up',
    repeatable: true,
    address: (request) => request,
    worstCase: () => worstCase,
    run: async () => ++runs,
  };
  const environment: Environment<string, string> = {
    name: 'looking',
    reset: () => ({ state: '' }),
    step: async (state, action, context) => {
      await context.call(look, state + action);
      return { state: state + action };
    },
  };
  const searching = search(environment, {
    policy: () => [{ action: 'a' }],
    evaluator: () => 0.5,
    budget: { simulations: 20, calls: 10 },
  });
  await expect(searching).rejects.toThrow('Expected `worstCase.');
  expect(runs).toBe(0);
});

test('a start that the budget does not allow says so', async () => {
  const environment: Environment<string, string> = {
    name: 'dear',
    reset: async (context) => ({ state: await context.effect('open', {}, async () => 'open') }),
    step: (state) => ({ state }),
  };
  const options = { policy: () => [], evaluator: () => 0, budget: { calls: 0 } };
  await expect(search(environment, options)).rejects.toMatchObject({ code: 'budget' });
});

test('weights that are too large to be added up are still compared', async () => {
  const { tree, actions } = await searchOf({
    environment: {
      name: 'rich',
      reset: () => ({ state: 0 }),
      step: (_state, action) => ({ state: action, terminal: true, reward: action }),
      answer: (state) => state,
    } satisfies Environment<number, number>,
    policy: () => [1e308, 1.5e308].map((action) => ({ action })),
    algorithm: bestOfN({ n: 4, choose: 'weighted' }),
  });
  expect(actions).toEqual([1.5e308]);
  expect(tree.conclusion?.shares?.[0]?.share).toBeCloseTo(0.6, 1);
});
