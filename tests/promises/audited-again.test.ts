import { describe, expect, test } from 'vitest';
import {
  beam,
  bestFirst,
  bestOfN,
  type Environment,
  lats,
  mcts,
  progressiveWidening,
  type SearchAlgorithm,
  type SearchNode,
  type SearchTree,
  search,
  treeFromJson,
  treeToJson,
  type widerOrDeeper,
  withReflection,
} from '../../src/index.ts';
import { uniform } from '../../src/policies/index.ts';
import { abMcts } from '../../src/search/algorithms/ab-mcts.ts';
import { heuristic } from '../../src/values/index.ts';

type Context = Parameters<SearchAlgorithm<string, string>['run']>[1];

/** An algorithm of one's own. */
function algorithm(
  run: (tree: SearchTree<string, string>, context: Context) => Promise<void>,
): SearchAlgorithm<string, string> {
  return { name: 'mine', concurrency: 'any', laws: [], run: run };
}

const words = (length: number): Environment<string, string> => ({
  name: 'words',
  reset: () => ({ state: '' }),
  step: (state, action) => ({
    state: state + action,
    ...(state.length === length - 1 && { terminal: true }),
  }),
});
const ab = () => ['a', 'b'].map((action) => ({ action }));
const stateOf = (node: SearchNode<string, string>) => (node.kind === 'proposed' ? '' : node.state);

describe('a search that goes on', () => {
  test.each<[string, SearchAlgorithm]>([
    ['beam', beam({ width: 2 })],
    ['best-first search', bestFirst()],
  ])('evaluates the ends that a budget cut off, in %s', async (_name, searching) => {
    const values: Record<string, number> = { a: 0.9, b: 0.8, aa: 0.1, ab: 1, ba: 0.3, bb: 0.2 };
    const parts = {
      policy: ab,
      algorithm: searching,
      evaluator: {
        needs: 'realised' as const,
        evaluate: (
          nodes: readonly SearchNode<string, string>[],
          { context }: { readonly context: Pick<Context, 'effect'> },
        ) =>
          Promise.all(
            nodes.map(async (node) => ({
              value: await context.effect('judge', stateOf(node), async () => {
                return values[stateOf(node)] ?? 0;
              }),
            })),
          ),
      },
    };
    for (const calls of [2, 3, 4, 5]) {
      const cut = await search(words(2), { ...parts, budget: { calls } });
      const { best } = await cut.resume({ budget: { calls: 100 } });
      expect(stateOf(best)).toBe('ab');
    }
  });

  test('takes no answer into a beam that was beyond its width', async () => {
    // A and B make the beam. The children of A are worse than those of B: A has nothing left after the second level.
    const values: Record<string, number> = {
      ...{
        A: 0.9,
        B: 0.8,
        X: 0.5,
        Aa: 0.1,
        Ab: 0.1,
        Ba: 0.7,
        Bb: 0.6,
        Baa: 0.4,
        Bba: 0.3,
        Xa: 0.2,
      },
    };
    const actions: Record<string, string> = {
      '': 'ABX',
      A: 'ab',
      B: 'ab',
      Ba: 'a',
      Bb: 'a',
      X: 'a',
    };
    const environment: Environment<string, string> = {
      name: 'answers',
      reset: () => ({ state: '' }),
      step: (state, action) => ({
        state: state + action,
        answer: state + action === 'X',
        terminal: state.length === 2,
      }),
    };
    const parts = {
      policy: ({ state }: { readonly state: string }) =>
        [...(actions[state] ?? '')].map((action) => ({ action })),
      evaluator: ({ state }: { readonly state: string }) => values[state] ?? 0,
      algorithm: beam({ width: 2 }),
    };
    for (const simulations of [1, 2, 3, 4]) {
      const cut = await search(environment, { ...parts, budget: { simulations } });
      const { tree } = await cut.resume({ budget: { simulations: 100 } });
      expect([...tree.nodes()].map(stateOf)).not.toContain('Xa');
    }
  });
});

test('abMcts believes what a discounted path promises', async () => {
  const means = new Set<number>();
  const belief: Parameters<typeof widerOrDeeper>[0] = {
    draw: (_random, { count, mean }) => {
      if (count > 0) means.add(mean);
      return mean;
    },
  };
  await search(words(9), {
    policy: ab,
    evaluator: () => 0.8,
    algorithm: abMcts({ belief }),
    discount: 0.5,
    budget: { simulations: 3 },
  });
  // A child of the root promises γ · 0.8.
  expect([...means][0]).toBeCloseTo(0.4);
  expect(Math.max(...means)).toBeLessThan(0.41);
});

test.each<[string, SearchAlgorithm]>([
  ['mcts', mcts({ width: 2 })],
  ['mcts with roll-outs', mcts({ width: 2, rollout: true })],
  ['lats', lats({ width: 2 })],
])(
  '%s asks a node for its width once, however many simulations wait for its state',
  async (_name, searching) => {
    const { tree } = await search(
      { ...words(6), step: async (state, action) => words(6).step(state, action, {} as never) },
      {
        policy: uniform<string, string>(() => [...'abcdefghij']),
        evaluator: () => 0.5,
        algorithm: searching,
        concurrency: 8,
        budget: { simulations: 60 },
      },
    );
    expect(Math.max(...[...tree.nodes()].map(({ children }) => children.length))).toBe(2);
  },
);

test('a further sample that came to nothing stays lost, also in a search that goes on', async () => {
  const sampling = algorithm(async ({ root }, context) => {
    await context.simulate(async () => {
      await context.evaluate([root], { again: true });
      return 'continue';
    });
  });
  const asked: number[] = [];
  const options = (simulations: number) => ({
    policy: ab,
    algorithm: sampling,
    evaluator: {
      needs: 'realised' as const,
      evaluate: (_: unknown, { offset = 0 }: { readonly offset?: number }) => {
        asked.push(offset);
        return offset === 1 || offset === 2
          ? [{ failure: { kind: 'parse' as const, message: `sample ${offset}` } }]
          : [{ value: offset / 10 }];
      },
    },
    budget: { simulations },
  });
  const first = await search(words(3), options(3));
  const loaded = treeFromJson(treeToJson(first.tree), words(3));
  expect(loaded.root.failedEvaluations).toEqual([{ kind: 'parse', message: 'sample 1', count: 2 }]);
  const { tree, failures } = await search(words(3), { ...options(3), tree: loaded });
  expect(asked).toEqual([0, 1, 2, 3, 4, 5]);
  expect(tree.root.rawValue).toBeCloseTo((0 + 0.3 + 0.4 + 0.5) / 4);
  expect(failures).toMatchObject({ count: 2, kinds: { parse: 2 } });
});

/** The actions a and b lead to one state. */
const twins: Environment<string, string> = {
  name: 'twins',
  reset: () => ({ state: '0' }),
  step: (state, action) => ({
    state: state === '0' ? action.replace('b', 'a') : state + action,
  }),
  key: (state) => state,
};

describe('a sample that turns out to be a sibling', () => {
  test('adds to the prior of that one, whenever it is drawn', async () => {
    const { tree } = await search(twins, {
      policy: {
        propose: (_, { count, offset }) =>
          Array.from({ length: count }, (_item, index) => ({
            action: 'abc'[(offset + index) % 3] ?? '',
          })),
      },
      algorithm: algorithm(async ({ root }, context) => {
        for (let draw = 0; draw < 12; draw++) {
          await context.realise(await context.expand(root, { count: 1, independent: true }));
        }
      }),
    });
    const priors = tree.root.children.map(({ action, prior }) => [action, prior.toFixed(4)]);
    expect(priors).toEqual([
      ['a', (8 / 12).toFixed(4)],
      ['b', (0).toFixed(4)],
      ['c', (4 / 12).toFixed(4)],
    ]);
  });

  test.each(['one', 'all'] as const)(
    'is backed up as that one, where %s is evaluated',
    async (evaluate) => {
      const { tree } = await search(twins, {
        policy: {
          propose: ({ depth }, { offset }) => [
            { action: depth > 0 ? `x${offset}` : offset % 2 === 0 ? 'a' : 'b' },
          ],
        },
        evaluator: heuristic((state) => (state === '0' ? 0 : 1)),
        algorithm: mcts({ width: 1, evaluate, widening: progressiveWidening({ k: 2 }) }),
        budget: { simulations: 12 },
      });
      // All but the root is worth 1, and no simulation ends at the root.
      expect(tree.root.value).toBe(1);
      expect(tree.root.evaluations).toEqual([]);
    },
  );
});

describe('an algorithm of one’s own', () => {
  test('may work in rounds within a simulation, and always ends', async () => {
    const { stopReason, spend } = await search(words(9), {
      policy: ab,
      algorithm: algorithm(async (tree, context) => {
        await context.simulate(async () => {
          const children = await context.expand(tree.root);
          await context.round('level', children, (node) => context.expand(node));
          await context.simulate(async () => 'exhausted');
          return 'continue';
        });
      }),
      budget: { simulations: 5 },
    });
    expect([stopReason, spend.simulations]).toEqual(['budget', 5]);
  });

  test('hears of a refusal as a rejection, so that nothing beside it is forgotten', async () => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    process.on('unhandledRejection', hear);
    const slow = () => new Promise((resolve) => setTimeout(resolve, 20));
    const { stopReason } = await search(words(9), {
      policy: async () => {
        await slow();
        return ab();
      },
      algorithm: algorithm(async (tree, context) => {
        const level = await context.expand(tree.root, { count: 2 });
        const counts = [2, 3];
        await Promise.all(
          counts.flatMap((count) =>
            level.map((node) => context.expand(node, { count, independent: count === 3 })),
          ),
        );
      }),
      budget: { nodes: 4 },
    });
    await slow();
    await slow();
    process.off('unhandledRejection', hear);
    expect(stopReason).toBe('budget');
    expect(unheard).toEqual([]);
  });

  test('leaves no marks where it wakes up after the end', async () => {
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const { tree } = await search(words(9), {
      policy: ab,
      evaluator: () => 0.5,
      algorithm: algorithm(async (grown, context) => {
        const [child] = await context.expand(grown.root);
        await context.simulate(async (simulation) => {
          await wait(60);
          if (child !== undefined) simulation.visit(child);
          return 'continue';
        });
      }),
      concurrency: 2,
      budget: { ms: 20 },
    });
    await wait(80);
    expect([...tree.nodes()].map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
    expect(tree.log.size).toBe(tree.simulations);
  });
});

test('a node that is named twice is evaluated once', async () => {
  let asked = 0;
  const { tree } = await search(words(9), {
    policy: ab,
    evaluator: {
      needs: 'realised',
      evaluate: (nodes) => {
        asked += nodes.length;
        return nodes.map(() => ({ value: 0.5 }));
      },
    },
    algorithm: algorithm(({ root }, context) => context.evaluate([root, root])),
  });
  expect([asked, tree.root.evaluations.length]).toEqual([1, 1]);
});

test.each<[string, SearchAlgorithm]>([
  ['lats', lats({ reflect: (_path, { context }) => context.effect('reflect', 1, busy) })],
  [
    'withReflection',
    withReflection(mcts(), { reflect: (_path, { context }) => context.effect('reflect', 1, busy) }),
  ],
])(
  'a reflection that fails loses a lesson and not the search, in %s',
  async (_name, reflecting) => {
    const { stopReason, failures } = await search(words(3), {
      policy: ab,
      evaluator: () => 0.5,
      algorithm: reflecting,
    });
    expect(stopReason).toBe('exhausted');
    expect(failures.first[0]?.message).toContain('busy');
  },
);

async function busy(): Promise<number> {
  throw new Error('busy');
}

test('what has failed has no vote, and keeps its failure', async () => {
  const environment = { ...words(2), answer: (state: string) => state.length };
  const { tree, stopReason } = await search(environment, {
    policy: ab,
    algorithm: algorithm(async (grown, context) => {
      const children = await context.expand(grown.root);
      await context.realise(children);
      for (const node of children)
        grown.fail(node, { kind: 'call', message: 'gone', transient: true });
      context.conclude({ votes: children.map((node) => ({ node })) });
    }),
  });
  expect(stopReason).not.toBe('solved');
  expect(tree.conclusion).toBeUndefined();
  expect(tree.root.children.map(({ failure }) => failure?.message)).toEqual(['gone', 'gone']);
});

test('a hole among the proposals is a failed one', async () => {
  const sparse: { action: string; prior: number }[] = [];
  sparse[1] = { action: 'a', prior: 1 };
  const { tree } = await search(words(2), {
    policy: () => sparse,
    evaluator: () => 0.5,
    algorithm: bestOfN({ n: 1 }),
  });
  expect(tree.root.children.map(({ action }) => action)).toEqual(['a']);
  expect(tree.root.failedProposals[0]?.kind).toBe('invalid');
});
