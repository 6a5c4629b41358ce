import { describe, expect, test } from 'vitest';
import { describeValue } from '../../src/base/expect.ts';
import {
  astar,
  bestOfN,
  EspalierError,
  mcts,
  type SearchAlgorithm,
  solved,
  treeToJson,
} from '../../src/index.ts';
import { fromModel, uniform } from '../../src/policies/index.ts';
import { banditTree, syntheticTree } from '../../src/testing/index.ts';
import { calibrated, everyNth, heuristic, judge, withSimulation } from '../../src/values/index.ts';
import { type SearchOf, searchOf, streamSearchOf } from '../support/search-of.ts';

const problem = banditTree();

/** What a caller without types may hand in. */
type Wrong = Readonly<Partial<Record<keyof SearchOf<unknown, unknown>, unknown>>>;

function searchWith(wrong: Wrong): Promise<unknown> {
  return searchOf({ ...problem, ...(wrong as object) });
}

const sequential: SearchAlgorithm = {
  ...mcts(),
  name: 'depth-first',
  concurrency: { serial: 'its order is the point' },
};

const cases: readonly (readonly [Wrong, string])[] = [
  [{ concurrency: 0 }, 'Expected `concurrency` to be an integer from 1 up, got `0`.'],
  [{ concurrency: 1.5 }, 'Expected `concurrency` to be an integer from 1 up, got `1.5`.'],
  [{ concurrency: Number.NaN }, 'Expected `concurrency` to be an integer from 1 up, got `NaN`.'],
  [
    { concurrency: Number.POSITIVE_INFINITY },
    'Expected `concurrency` to be an integer from 1 up, got `Infinity`.',
  ],
  [{ concurrency: '4' }, 'Expected `concurrency` to be an integer from 1 up, got `"4"`.'],
  [
    { concurrency: 2, algorithm: sequential },
    'Expected `concurrency` to be 1 for depth-first (its order is the point), got `2`.',
  ],
  [{ order: 'random' }, "Expected `order` to be 'arrival' or 'issued', got `\"random\"`."],
  [{ discount: 1.5 }, 'Expected `discount` to be a finite number from 0 to 1, got `1.5`.'],
  [{ discount: Number.NaN }, 'Expected `discount` to be a finite number from 0 to 1, got `NaN`.'],
  [{ seed: Number.NaN }, 'Expected `seed` to be a finite number or a text, got `NaN`.'],
  [{ seed: null }, 'Expected `seed` to be a finite number or a text, got `null`.'],
  [
    { signal: 'stop' },
    'Expected `signal` to be an AbortSignal, such as `controller.signal`, got `"stop"`.',
  ],
  [
    { environment: undefined },
    'Expected `environment` to be an object with a method `reset`, got `undefined`.',
  ],
  [
    { environment: { reset: () => ({ state: 0 }) } },
    'Expected `environment` to be an object with a method `step`, got one without it.',
  ],
  [
    { policy: {} },
    'Expected `policy` to be an object with a method `propose`, got one without it.',
  ],
  [
    { evaluator: {} },
    'Expected `evaluator` to be an object with a method `evaluate`, got one without it.',
  ],
  [
    { evaluator: { needs: 'state', evaluate: () => [] } },
    "Expected `evaluator.needs` to be 'proposed' or 'realised', got `\"state\"`.",
  ],
  [
    { algorithm: 'mcts' },
    'Expected `algorithm` to be an object with a method `run`, got `"mcts"`. Write it as a call, as in `algorithm: mcts()`.',
  ],
  [
    { algorithm: { ...mcts(), laws: undefined } },
    'Expected `algorithm.laws` to be an array, got `undefined`.',
  ],
  [
    { algorithm: { ...mcts(), laws: ['visits', 'visit'] } },
    "Expected `algorithm.laws[1]` to be 'visits' or 'values' or 'simulations', got `\"visit\"`. Did you mean 'visits'?",
  ],
  [
    { algorithm: { ...mcts(), name: undefined } },
    'Expected `algorithm.name` to be a text, got `undefined`.',
  ],
  ...[undefined, null, 'serial', { serial: true }].map((concurrency): [Wrong, string] => [
    { algorithm: { ...mcts(), concurrency } },
    `Expected \`algorithm.concurrency\` to be 'any' or { serial: 'the reason' }, got ${describeValue(concurrency)}.`,
  ]),
  [{ policy: null }, 'Expected `policy` to be an object with a method `propose`, got `null`.'],
  [
    { evaluator: null },
    'Expected `evaluator` to be an object with a method `evaluate`, got `null`.',
  ],
  [
    { algorithm: mcts },
    'Expected `algorithm` to be an object with a method `run`, got a function. Call it, as in `algorithm: mcts()`.',
  ],
  [
    { clock: { now: () => 0 } },
    'Expected `clock` to be an object with a method `sleep`, got one without it.',
  ],
  [
    { journal: [] },
    'Expected `journal` to be an object with a method `append`, got an array of 0.',
  ],
  [{ tree: {} }, 'Expected `tree` to be an object with a method `backup`, got one without it.'],
  [{ stopWhen: 'solved' }, 'Expected `stopWhen` to be a function, got `"solved"`.'],
  [{ stopWhen: [solved(), true] }, 'Expected `stopWhen` to be a function, got `true`.'],
  [{ budget: 100 }, 'Expected `budget` to be an object, such as `{ calls: 100 }`, got `100`.'],
  [{ budget: null }, 'Expected `budget` to be an object, got `null`.'],
  [
    { budget: { simulation: 5 } },
    '`budget` has no option `simulation`. Did you mean `simulations`?',
  ],
  [
    { budget: { simulations: -1 } },
    'Expected `budget.simulations` to be an integer from 0 up, got `-1`.',
  ],
  [
    { budget: { simulations: 2.5 } },
    'Expected `budget.simulations` to be an integer from 0 up, got `2.5`.',
  ],
  [{ budget: { nodes: '9' } }, 'Expected `budget.nodes` to be an integer from 0 up, got `"9"`.'],
  [
    { budget: { calls: Number.NaN } },
    'Expected `budget.calls` to be an integer from 0 up, got `NaN`.',
  ],
  [
    { budget: { tokens: null } },
    'Expected `budget.tokens` to be an integer from 0 up, got `null`.',
  ],
  [{ budget: { usd: -0.5 } }, 'Expected `budget.usd` to be a finite number from 0 up, got `-0.5`.'],
  [
    { budget: { ms: Number.NaN } },
    'Expected `budget.ms` to be a finite number from 0 up, got `NaN`.',
  ],
  [{ prices: 3 }, 'Expected `prices` to be an object, got `3`.'],
  [{ prices: { m: 3 } }, "Expected `prices['m']` to be an object, got `3`."],
  [
    { prices: { m: { input: -1, output: 0 } } },
    "Expected `prices['m'].input` to be a finite number from 0 up, got `-1`.",
  ],
  [
    { prices: { m: { input: 1 } } },
    "Expected `prices['m'].output` to be a finite number from 0 up, got `undefined`.",
  ],
];

test('an option that is undefined is one that was left out, also for strict compilers', async () => {
  const asked = { ...problem, budget: { simulations: 20 } };
  const without = await searchOf(asked);
  const undef = undefined;
  const signal: AbortSignal | undefined = undef;
  const withNothing = await searchOf({
    ...{ ...asked, signal, method: undef, outcome: undef, algorithm: undef, discount: undef },
    ...{ pool: undef, batches: undef, stopWhen: undef, order: undef, seed: undef, prices: undef },
    ...{ journal: undef, retryFailed: undef, fill: undef, tree: undef, clock: undef },
    concurrency: undef,
  });
  expect(treeToJson(withNothing.tree)).toEqual(treeToJson(without.tree));
});

describe('search refuses', () => {
  for (const [wrong, sentence] of cases) {
    test(sentence, async () => {
      const error: unknown = await searchWith(wrong).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(EspalierError);
      expect(error).toMatchObject({ code: 'usage', message: sentence });
    });
  }

  test.each([
    ['policy', { fromModel, uniform }],
    ['evaluator', { judge, heuristic, calibrated, everyNth, withSimulation }],
  ] as const)('a function in the place of the %s that it makes', async (option, makers) => {
    for (const [name, maker] of Object.entries(makers)) {
      await expect(searchWith({ [option]: maker }), name).rejects.toThrow(
        /^Expected `\w+` to be an? \w+, got a function that makes one\. Call it, as in /,
      );
    }
  });

  test('nothing that a function of its own could not take', async () => {
    const error = new EspalierError('usage', '`mine` has no option `id`.');
    const policy = () => {
      throw error;
    };
    await expect(searchWith({ policy })).rejects.toBe(error);
  });

  test('the same in a stream, when it is first read', async () => {
    const events = streamSearchOf({ ...problem, concurrency: 0 });
    await expect(events.next()).rejects.toThrow(
      'Expected `concurrency` to be an integer from 1 up',
    );
  });

  test('a tree of another environment', async () => {
    const { tree } = await searchOf({ ...syntheticTree(), budget: { simulations: 3 } });
    await expect(searchWith({ tree })).rejects.toThrow(
      'Expected `tree` to be a tree of the environment \'bandit-tree\', got `"synthetic-tree"`.',
    );
  });

  test('an algorithm that comes to a state without a value, where there is no evaluator', async () => {
    const { evaluator: _, ...rest } = problem;
    await expect(searchOf(rest)).rejects.toThrow(
      'Expected an evaluator, because the algorithm reached a state without a reward.',
    );
  });
});

describe('algorithms refuse', () => {
  const refusals: readonly (readonly [() => unknown, string])[] = [
    [() => mcts({ width: 0 }), 'Expected `width` to be an integer from 1 up, got `0`.'],
    [() => mcts({ maxDepth: -1 }), 'Expected `maxDepth` to be an integer from 1 up, got `-1`.'],
    [
      () => mcts({ evaluate: 'some' as 'one' }),
      "Expected `evaluate` to be 'one' or 'all' or 'leaf', got `\"some\"`.",
    ],
    [
      () => mcts({ selection: 'uct' as never }),
      'Expected `selection` to be a function, got `"uct"`.',
    ],
    [() => mcts({ backup: null as never }), 'Expected `backup` to be a function, got `null`.'],
    [() => mcts({ widening: 2 as never }), 'Expected `widening` to be a function, got `2`.'],
    [() => bestOfN({ n: 0 }), 'Expected `n` to be an integer from 1 up, got `0`.'],
    [
      () => bestOfN({ maxDepth: 0.5 }),
      'Expected `maxDepth` to be an integer from 1 up, got `0.5`.',
    ],
    [() => astar({ heuristic: 3 as never }), 'Expected `heuristic` to be a function, got `3`.'],
    [() => astar({ cost: 1 as never }), 'Expected `cost` to be a function, got `1`.'],
    [() => astar({ goal: true as never }), 'Expected `goal` to be a function, got `true`.'],
    [() => astar({ weight: -1 }), 'Expected `weight` to be a finite number from 0 up, got `-1`.'],
    [() => astar({ width: 0 }), 'Expected `width` to be an integer from 1 up, got `0`.'],
    [
      () => astar({ admissible: true }),
      'Expected `admissible` to be false without a heuristic, got `true`.',
    ],
    [() => solved({ score: Number.NaN }), 'Expected `score` to be a finite number, got `NaN`.'],
  ];
  for (const [make, sentence] of refusals) {
    test(sentence, () => {
      expect(make).toThrow(new EspalierError('usage', sentence));
    });
  }

  test('a heuristic that returns no number', async () => {
    const algorithm = astar({ heuristic: () => Number.NaN });
    await expect(searchWith({ algorithm })).rejects.toThrow(
      'Expected `heuristic` to be a function that returns numbers from 0 up, got `NaN`.',
    );
  });

  test('a cost below 0', async () => {
    const algorithm = astar({ heuristic: () => 0, cost: () => -1 });
    await expect(searchWith({ algorithm })).rejects.toThrow(
      'Expected `cost` to be a function that returns numbers from 0 up, got `-1`.',
    );
  });
});

test('a search takes no oracle as its evaluator', async () => {
  const oracle = { label: () => ({ correct: true }) };
  await expect(
    // @ts-expect-error an oracle is no evaluator
    searchOf({ ...problem, evaluator: oracle }),
  ).rejects.toThrow('got an oracle: gold answers must not guide a search.');
});
