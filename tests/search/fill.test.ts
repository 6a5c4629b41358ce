import { describe, expect, test } from 'vitest';
import {
  astar,
  beam,
  bestFirst,
  bestOfN,
  depthFirst,
  type Environment,
  lats,
  mcts,
  type Policy,
  type SearchAlgorithm,
  search,
  solved,
  stepwise,
} from '../../src/index.ts';
import { treeFromJson, treeToJson } from '../../src/tree/serialize.ts';

/** Three letters a path, of which only `ddd` is right. */
const letters: Environment<string, string> = {
  name: 'letters',
  reset: () => ({ state: '' }),
  step: (state, action) => {
    const next = state + action;
    return next.length < 3
      ? { state: next }
      : { state: next, terminal: true, reward: next === 'ddd' ? 1 : 0 };
  },
};

/** Samples one letter after the other, and again from the first; every sample is a call. */
const sampling: Policy<string, string> = {
  propose: async (_, { count, offset, context }) => {
    const samples = Array.from({ length: count }, (_, place) => offset + place);
    return Promise.all(
      samples.map(async (sample) => {
        await context.effect('draw', { sample }, async () => null);
        return { action: 'abcd'.charAt(sample % 4) };
      }),
    );
  },
};
/** Every letter is worth the more, the later it comes. */
const evaluator = (node: { readonly state: string }) =>
  [...node.state].reduce((sum, letter) => sum + 'abcd'.indexOf(letter) / 10, 0);

const problem = { policy: sampling, evaluator, budget: { calls: 400 }, stopWhen: solved() };
const algorithms: Readonly<Record<string, () => SearchAlgorithm>> = {
  mcts: () => mcts({ width: 2, evaluate: 'all' }),
  'mcts with leaves evaluated': () => mcts({ width: 2, evaluate: 'leaf' }),
  'mcts that plays on': () => mcts({ width: 2, rollout: true }),
  lats: () => lats({ width: 2 }),
  stepwise: () => stepwise(mcts({ width: 2, evaluate: 'all' }), { simulations: 2000 }),
  beam: () => beam({ width: 2, samples: 2 }),
  'a beam that looks at whole levels': () => beam({ width: 2, samples: 2, batch: 'level' }),
  'best-first': () => bestFirst({ width: 2 }),
  'depth-first': () => depthFirst(),
  astar: () => astar({ width: 2 }),
};

describe.each(Object.entries(algorithms))('%s', (_, create) => {
  const algorithm = create();

  test('ends unsolved without, and goes on until it is solved with it', async () => {
    const plain = await search(letters, { ...problem, algorithm });
    expect(plain).toMatchObject({ solved: false, stopReason: 'exhausted' });
    const filled = await search(letters, { ...problem, algorithm, fill: true });
    expect(filled).toMatchObject({ solved: true, actions: ['d', 'd', 'd'], stopReason: 'solved' });
    expect(filled.spend.calls).toBeGreaterThan(plain.spend.calls);
  });

  test('ends with its budget', async () => {
    const budget = { calls: 30 };
    const result = await search(letters, { ...problem, algorithm, budget, fill: true });
    expect(result).toMatchObject({ solved: false, stopReason: 'budget', exceeded: 'calls' });
    expect(result.spend.calls).toBe(30);
  });

  test('keeps its laws', async () => {
    const options = { ...problem, algorithm, stopWhen: [], fill: true };
    const { tree } = await search(letters, options);
    for (const { visits, children, value, inFlight } of tree.nodes()) {
      expect(inFlight).toBe(0);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
      const below = children.reduce((sum, child) => sum + child.visits, 0);
      if (algorithm.laws.includes('visits')) expect(visits).toBeGreaterThanOrEqual(below);
    }
    if (algorithm.laws.includes('simulations')) {
      // One simulation finds that nothing is left; one whose budget ran out did not end.
      expect(tree.simulations - tree.root.visits).toBeLessThanOrEqual(1);
    }
  });

  test('goes on from a saved tree to the same solution', async () => {
    const options = { ...problem, algorithm, fill: true };
    const first = await search(letters, { ...options, budget: { calls: 30 } });
    const tree = treeFromJson<string, string>(treeToJson(first.tree));
    const saved = await search(letters, { ...options, tree });
    const live = await first.resume({ budget: problem.budget });
    expect(saved).toMatchObject({ solved: true, stopReason: 'solved' });
    const log = treeToJson(saved.tree);
    expect(log).toEqual(treeToJson(live.tree));
  });
});

test.each([2, 4, 16])('solves at concurrency %i', async (concurrency) => {
  for (const [name, create] of Object.entries(algorithms)) {
    const algorithm = create();
    if (algorithm.concurrency !== 'any') continue;
    const result = await search(letters, { ...problem, algorithm, concurrency, fill: true });
    expect([name, result.solved]).toEqual([name, true]);
  }
});

describe('a policy that lists what there is', () => {
  test('is asked three times more for each node, and the search is exhausted', async () => {
    let asked = 0;
    const policy: Policy<string, string> = {
      propose: (_, { offset, count }) => {
        asked++;
        return ['a', 'b'].slice(offset, offset + count).map((action) => ({ action }));
      },
    };
    for (const [name, create] of Object.entries(algorithms)) {
      // It leaves the siblings of an end out, which are new when they are asked for.
      if (name === 'depth-first') continue;
      asked = 0;
      const options = { ...problem, policy, algorithm: create(), budget: { simulations: 500 } };
      const plain = await search(letters, options);
      const before = asked;
      const filled = await search(letters, { ...options, fill: true });
      expect(filled).toMatchObject({ solved: false, stopReason: 'exhausted' });
      expect(filled.tree.size).toBe(plain.tree.size);
      expect(asked - before).toBeLessThanOrEqual(before + 3 * plain.tree.size);
    }
  });
});

test('no more trajectories are drawn than were asked for', async () => {
  const options = { ...problem, algorithm: bestOfN({ n: 3 }) };
  const plain = await search(letters, options);
  const filled = await search(letters, { ...options, fill: true });
  expect(treeToJson(filled.tree)).toEqual(treeToJson(plain.tree));
});

test('A* proves what it finds among all that was proposed', async () => {
  const heuristic = (state: string) => 3 - state.length;
  const algorithm = astar({ heuristic, admissible: true, width: 2 });
  const result = await search(letters, { ...problem, algorithm, fill: true });
  expect(result).toMatchObject({ solved: true, optimal: true, actions: ['d', 'd', 'd'] });
});

test('what a beam put aside stays so', async () => {
  const algorithm = beam({ width: 1, samples: 4 });
  const plain = await search(letters, { ...problem, algorithm });
  const dropped = [...plain.tree.nodes()].filter(({ pruned }) => pruned === 'beam');
  expect(dropped.length).toBeGreaterThan(0);
  const filled = await search(letters, { ...problem, algorithm, fill: true });
  expect(filled.solved).toBe(true);
  for (const { id } of dropped) expect(filled.tree.node(id)).toMatchObject({ pruned: 'beam' });
});

test('of `fill` anything but true or false is refused', async () => {
  const options = { ...problem, fill: 'yes' as unknown as boolean };
  await expect(search(letters, options)).rejects.toThrow(
    'Expected `fill` to be true or false, got `"yes"`.',
  );
});

test('an algorithm that makes nothing of new nodes is not given them for ever', async () => {
  let drawn = 0;
  const policy: Policy<string, string> = { propose: () => [{ action: String(drawn++) }] };
  const algorithm: SearchAlgorithm<string, string> = {
    name: 'once',
    concurrency: 'any',
    laws: [],
    async run(tree, context) {
      if (tree.size === 1) await context.expand(tree.root, { count: 1 });
      tree.complete(tree.root);
    },
  };
  const result = await search(letters, { policy, algorithm, fill: true });
  expect(result.stopReason).toBe('exhausted');
});
