import { describe, expect, test } from 'vitest';
import {
  abMcts,
  beam,
  bestOfN,
  descend,
  gumbel,
  lats,
  mcts,
  type Policy,
  puct,
  robustOrSolvedChild,
  type SearchAlgorithm,
  type SearchOptions,
  stepwise,
  unobserved,
} from '../../src/index.ts';
import { manualClock, type SyntheticState, syntheticTree } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const latencyMs = 50;

type Way = 'alone' | 'as a call';

/** A search of 100 simulations, one of whose expansions never settles: the second that is not of the root. */
function search(algorithm: SearchAlgorithm, way: Way, options = {}) {
  const { environment, policy, evaluator } = syntheticTree({ depth: 40, branching: 4 });
  let hung: number | undefined;
  const never = () => new Promise<never>(() => {});
  const holding: Policy<SyntheticState, number> = {
    async propose(node, request) {
      const { context, offset } = request;
      const effect = { name: 'propose', repeatable: true };
      if (node.depth === 1) hung ??= node.id;
      const hangs = node.id === hung && offset === 0;
      if (hangs && way === 'alone') return never();
      await context.effect(effect, [node.id, offset], (call) =>
        hangs ? never() : call.clock.sleep(latencyMs, call.signal).then(() => null),
      );
      return policy.propose(node, request);
    },
  };
  return searchOf({
    ...{ environment, policy: holding, evaluator, algorithm },
    ...{ budget: { simulations: 100, ms: 60_000 }, concurrency: 4 },
    clock: manualClock({ auto: true }),
    ...options,
  });
}

const algorithms: Readonly<Record<string, SearchAlgorithm>> = {
  'mcts()': mcts(),
  "mcts({ evaluate: 'all' })": mcts({ evaluate: 'all' }),
  "mcts({ evaluate: 'leaf' })": mcts({ evaluate: 'leaf' }),
  'mcts({ rollout: true })': mcts({ rollout: true, maxDepth: 8 }),
  'mcts() with unobserved simulations': mcts({
    selection: descend(puct({ inFlight: unobserved })),
    evaluate: 'all',
  }),
  'gumbel()': gumbel(),
  'lats()': lats({ maxDepth: 12 }),
  'bestOfN()': bestOfN({ maxDepth: 6 }),
  'abMcts()': abMcts(),
};

describe.each(Object.entries(algorithms))('an expansion that never settles, in %s,', (name, by) => {
  test.each(['alone', 'as a call'] as const)('holds up one simulation, %s', async (way) => {
    const { tree, spend, exceeded, stopReason } = await search(by, way);
    expect(spend.simulations).toBe(100);
    expect([...tree.log]).toHaveLength(100);
    // A phase of a halving leaves what is slow; what else is paid for is waited for until the time is up.
    const leaves = name === 'gumbel()';
    expect({ stopReason, exceeded }).toEqual({
      stopReason: 'budget',
      exceeded: leaves ? 'simulations' : 'ms',
    });
    for (const node of tree.nodes()) expect(node.inFlight).toBe(0);
  });

  test('is left by an abort', async () => {
    const controller = new AbortController();
    const clock = manualClock({ auto: true });
    void clock.sleep(30_000).then(() => controller.abort(new Error('enough')));
    const searching = search(by, 'alone', {
      ...{ clock, signal: controller.signal, budget: { simulations: 100 } },
    });
    await expect(searching).rejects.toThrow('enough');
  });
});

test('a level of a beam waits for all of its nodes, and the others are worked on', async () => {
  const { tree } = await search(beam({ width: 30, maxDepth: 4 }), 'alone');
  expect(tree.root.children.filter(({ children }) => children.length > 0)).toHaveLength(3);
});

test.each([
  ["mcts({ evaluate: 'all' })", 16],
  ["mcts({ evaluate: 'all' })", 64],
  ['gumbel()', 16],
  ['gumbel()', 64],
  ['lats()', 2],
  ['lats()', 16],
  ['lats()', 64],
] as const)('%s makes all its simulations with %i slots', async (name, concurrency) => {
  const { spend } = await search(algorithms[name] ?? mcts(), 'as a call', { concurrency });
  expect(spend.simulations).toBe(100);
});

/** A tree of a few nodes, of which one takes so long to expand. */
function slow(
  { depth, ms, at }: { readonly depth: number; readonly ms: number; readonly at: number },
  options: Pick<SearchOptions<SyntheticState, number>, 'algorithm' | 'budget' | 'concurrency'>,
) {
  const { environment, policy, evaluator } = syntheticTree({ depth, branching: 3 });
  const holding: Policy<SyntheticState, number> = {
    async propose(node, request) {
      const { context, offset } = request;
      await context.effect({ name: 'propose', repeatable: true }, [node.id, offset], (call) =>
        call.clock.sleep(node.id === at ? ms : 10 + node.id, call.signal).then(() => null),
      );
      return policy.propose(node, request);
    },
  };
  const clock = manualClock({ auto: true });
  return searchOf({ ...{ environment, policy: holding, evaluator, clock }, ...options });
}

describe('stepwise()', () => {
  test.each([2, 4, 8, 16, 64])(
    'takes all of its steps while an expansion never settles, with %i slots',
    async (concurrency) => {
      for (const inner of [mcts(), mcts({ evaluate: 'all' })]) {
        for (const at of [1, 2, 3]) {
          const algorithm = stepwise(inner, { simulations: 10 });
          const { tree } = await slow(
            { depth: 6, ms: 1e9, at },
            { algorithm, concurrency, budget: { simulations: 200, ms: 60_000 } },
          );
          expect([at, tree.cursor.depth]).toEqual([at, 6]);
        }
      }
    },
  );

  test('waits where the world has come to a node that a step before it still expands', async () => {
    const algorithm = stepwise(mcts({ evaluate: 'all' }), {
      simulations: 8,
      choice: (children, discount) =>
        children[0]?.depth === 1 ? children[0] : robustOrSolvedChild(children, discount),
    });
    const { tree, spend } = await slow(
      { depth: 3, ms: 5_000, at: 1 },
      { algorithm, concurrency: 4, budget: { simulations: 100 } },
    );

    expect(tree.cursor.depth).toBe(3);
    expect(spend.ms).toBeGreaterThanOrEqual(5_000);
  });
});
