import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { generate } from '../../src/calls/operations/generate.ts';
import { descend, type LanguageModel, type SearchAlgorithm, uct } from '../../src/index.ts';
import { banditTree, scriptedModel } from '../../src/testing/index.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';

const problem = banditTree();

type Run = SearchAlgorithm<readonly number[], number>['run'];

const searchBy = (run: Run, changes: Partial<SearchOf<readonly number[], number>> = {}) =>
  searchOf({
    ...{ ...problem, budget: { simulations: 30 }, ...changes },
    algorithm: { name: 'own', concurrency: 'any', laws: [], run },
  });

/** A policy and an evaluator that take a while. */
const slow = {
  policy: { propose: () => sleep(5).then(() => [{ action: 0 }]) },
  evaluator: () => sleep(5).then(() => 0.5),
};

/** What no code handles from here on. */
function unhandled(): unknown[] {
  const heard: unknown[] = [];
  const hear = (reason: unknown) => heard.push(reason);
  process.on('unhandledRejection', hear);
  onTestFinished(() => void process.off('unhandledRejection', hear));
  return heard;
}

const asked = { messages: [{ role: 'user', content: 'Hello.' }] } as const;

const late: LanguageModel = {
  ...scriptedModel({ answer: () => 'late' }),
  generate: () => sleep(5).then(() => Promise.reject(new Error('It is late.'))),
};

describe('a call that an algorithm does not await', () => {
  test.each<[string, Run]>([
    ['expand', async (tree, context) => void context.expand(tree.root)],
    ['evaluate', async (tree, context) => void context.evaluate([tree.root])],
    [
      'search',
      async (_, context) => void context.search(problem.environment, { ...slow, share: 1 }),
    ],
    ['effect', async (_, context) => void context.effect('wait', {}, () => sleep(5))],
    ['generate', async (_, context) => void context.generate(late, asked)],
    ['call', async (_, context) => void context.call(generate(late), asked)],
  ])('fails the search in one sentence, and rejects nothing: %s', async (name, run) => {
    const heard = unhandled();
    const { stopReason, failure } = await searchBy(run, slow);
    expect([stopReason, failure?.message]).toEqual([
      'failed',
      `The algorithm \`own\` ended while its call of \`context.${name}\` was under way: put \`await\` before that call.`,
    ]);
    await sleep(20);
    expect(heard).toEqual([]);
  });

  test('rejects nothing where its simulation is handed back', async () => {
    const heard = unhandled();
    const run: Run = async (_, context) => {
      await context.simulate(async (simulation) => {
        const leaf = simulation.select(descend(uct()));
        if (leaf === undefined) return 'exhausted';
        void context.expand(leaf);
        void context.evaluate([leaf]);
        return 'continue';
      });
    };
    await searchBy(run, { ...slow, concurrency: 8 });
    await sleep(20);
    expect(heard).toEqual([]);
  });

  test('rejects nothing where the budget ends the search', async () => {
    const heard = unhandled();
    const { stopReason } = await searchBy(async (tree, context) => {
      await context.expand(tree.root);
      await context.simulate(async () => {
        void context.evaluate(tree.root.children);
        return 'continue';
      });
    }, slow);
    expect(stopReason).toBe('budget');
    await sleep(20);
    expect(heard).toEqual([]);
  });

  test('rejects nothing after the end of the search', async () => {
    const heard = unhandled();
    let late: Promise<unknown> | undefined;
    await searchBy(async (tree, context) => {
      late = sleep(20).then(() => void context.expand(tree.root));
    }, slow);
    await late;
    await sleep(20);
    expect(heard).toEqual([]);
  });

  test('is no failure where its effect is done', async () => {
    const { stopReason, tree } = await searchBy(async (tree, context) => {
      void context.expand(tree.root);
    });
    expect([stopReason, tree.root.children.length]).toEqual(['exhausted', 3]);
  });
});

test('what a simulation asks for that a round leaves behind is awaited', async () => {
  const run: Run = (tree, context) =>
    context.simulate(
      async (simulation) => {
        const leaf = simulation.select(descend(uct()));
        if (leaf === undefined) return 'exhausted';
        const [child = leaf] = await context.expand(leaf);
        tree.complete(leaf);
        await context.realise([simulation.visit(child)]);
        tree.backup(child, { outcome: 0.5 });
        return 'continue';
      },
      { stragglers: 'leave', limit: 12, exhausts: 'round' },
    );
  const policy = {
    propose: async ({ id }: { readonly id: number }) => {
      await sleep(id % 3 === 1 ? 60 : 1);
      return [{ action: 0 }, { action: 1 }, { action: 2 }];
    },
  };
  const outcomes: unknown[] = [];
  for (const concurrency of [2, 3, 4, 8]) {
    const changes = { policy, concurrency, budget: { simulations: 40 } };
    outcomes.push((await searchBy(run, changes)).failure);
  }
  expect(outcomes).toEqual([undefined, undefined, undefined, undefined]);
});

describe('an algorithm that starts no simulation', () => {
  const forever: readonly [string, Run][] = [
    [
      'expand',
      async (tree, context) => {
        while (!context.stopped) await context.expand(tree.root);
      },
    ],
    [
      'realise and evaluate',
      async (tree, context) => {
        while (!context.stopped) {
          await context.realise(tree.root.children);
          await context.evaluate(tree.root.children);
        }
      },
    ],
    [
      'graft',
      async (tree, context) => {
        while (!context.stopped) await context.graft(tree.root, []);
      },
    ],
    [
      'a simulation that goes on and on',
      (tree, context) =>
        context.simulate(async () => {
          while (!context.stopped) await context.expand(tree.root);
          return 'continue';
        }),
    ],
  ];
  test.each(forever)('ends at the deadline: %s', async (_, run) => {
    const { stopReason, exceeded } = await searchBy(run, { budget: { ms: 50 } });
    expect([stopReason, exceeded]).toEqual(['budget', 'ms']);
  });

  test('ends when it is aborted', async () => {
    const signal = AbortSignal.timeout(50);
    const run: Run = async (tree, context) => {
      while (!context.stopped) await context.expand(tree.root);
    };
    await expect(searchBy(run, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

/** What a caller without types may hand in. */
type Loose = Readonly<Record<string, (...given: unknown[]) => unknown>>;

test.each<[string, unknown[], string]>([
  ['round', ['level', null, async () => {}], '`nodes` to be an array, got `null`'],
  ['round', ['level', []], '`run` to be a function, got `undefined`'],
  ['realise', [{ id: 0 }], '`nodes` to be an array, got an object'],
  [
    'realise',
    [[undefined]],
    '`nodes[0]` to be a node of a tree, such as `tree.root`, got `undefined`',
  ],
  ['evaluate', [[null]], '`nodes[0]` to be a node of a tree, such as `tree.root`, got `null`'],
  ['graft', [null, []], '`node` to be a node of a tree, such as `tree.root`, got `null`'],
  ['graft', [{ id: 0 }], '`proposals` to be an array, got `undefined`'],
  ['outcome', [null], '`node` to be a node of a tree, such as `tree.root`, got `null`'],
  ['key', [null], '`node` to be a node of a tree, such as `tree.root`, got `null`'],
  ['conclude', [null], '`conclusion` to be an object, got `null`'],
  [
    'conclude',
    [{}],
    '`conclusion.node` to be a node of a tree, such as `tree.root`, got `undefined`',
  ],
  [
    'conclude',
    [{ votes: [{}] }],
    '`node` to be a node of a tree, such as `tree.root`, got `undefined`',
  ],
])('context.%s refuses %j in one sentence', async (method, given, expected) => {
  const environment = { ...problem.environment, answer: () => 1 };
  const run: Run = async (_, context) => {
    await (context as unknown as Loose)[method]?.(...given);
  };
  await expect(searchBy(run, { environment })).rejects.toMatchObject({
    name: 'EspalierError',
    message: `Expected ${expected}.`,
  });
});

describe('what no tree can hold is refused in one sentence:', () => {
  const told = async (run: Run): Promise<string> => {
    return searchBy(run).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
  };
  const wrong = (value: unknown) => value as never;

  test.each<[string, Run, string | RegExp]>([
    [
      'a visit of no node',
      (_, context) =>
        context.simulate(async ({ visit }) => {
          visit(wrong({ id: 99 }));
          return 'continue';
        }),
      /^Expected `node` to belong to this tree|no node 99/,
    ],
    [
      'a rule that selects no node',
      (_, context) =>
        context.simulate(async ({ select }) => {
          select(wrong(() => 1));
          return 'continue';
        }),
      'Expected `node` to be a node of a tree, such as `tree.root`, got `1`.',
    ],
    [
      'a reason of one`s own for pruning',
      async (tree) => tree.prune(tree.root, wrong('too long')),
      /^Expected `why` to be 'beam' or .*, got `"too long"`\.$/,
    ],
    [
      'a count beyond all counts',
      async (tree, context) => void (await context.expand(tree.root, { count: 1e308 })),
      /^Expected `count` to be an integer up to 9007199254740991, got `1e\+308`\.$/,
    ],
  ])('%s', async (_, run, sentence) => {
    expect(await told(run)).toMatch(sentence);
  });
});
