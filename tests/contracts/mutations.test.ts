import { describe, expect, test } from 'vitest';
import {
  descend,
  type Environment,
  type Evaluation,
  type Evaluator,
  type Failed,
  mcts,
  type SearchAlgorithm,
  type SearchNode,
  uct,
} from '../../src/index.ts';
import {
  banditTree,
  describeAlgorithm,
  describeEnvironment,
  describeEvaluator,
  type TestRunner,
} from '../../src/testing/index.ts';
import { failuresOf, type Outcome, outcomesOf } from '../support/collecting-runner.ts';
import { type ClassicBug, classicBugs, textbookUct } from '../support/textbook-uct.ts';

describe('the conformance kit', () => {
  test('passes the textbook', async () => {
    expect(await failuresAs(undefined)).toEqual([]);
  });

  const expected: Readonly<Record<ClassicBug, string>> = {
    'select never descends below the root': 'has the visit counts of uct after 5 simulations',
    'value of one child given to another': 'has the values of uct that go with them',
    'backup stops at the parent': 'has the visit counts of uct after 3 simulations',
    'root statistics reused for the next problem': 'carries nothing from one problem to the next',
    'unvisited node picked for ever': 'is not held up by an evaluation that fails',
  };
  for (const bug of classicBugs) {
    test(`fails an algorithm in which: ${bug}`, async () => {
      expect(await failuresAs(bug)).toContain(expected[bug]);
    });
  }

  test('fails the bugs by more than their visit counts', async () => {
    for (const bug of classicBugs) {
      const failures = await failuresAs(bug);
      const others = failures.filter((name) => !name.startsWith('has the'));
      expect(others, bug).not.toEqual([]);
    }
  });

  test('says in a sentence that it needs a runner', () => {
    const noRunner = undefined as unknown as TestRunner;
    expect(() => describeAlgorithm('uct', { create: () => textbookUct() }, noRunner)).toThrow(
      /^Expected `runner` to /,
    );
  });

  test('names the test nearest to one that is exempted and does not exist', async () => {
    const exempt = { 'It need not.': ['does nothing with a budget of nothin'] };
    const define = (runner: TestRunner) =>
      describeAlgorithm('uct', { create: () => textbookUct(), exempt }, runner);
    await expect(outcomesOf(define)).rejects.toThrow(
      "got 'does nothing with a budget of nothin'. The nearest is 'does nothing with a budget of nothing'.",
    );
  });

  test('passes a sound evaluator', async () => {
    expect(await evaluatorFailures(banditTree().evaluator)).toEqual([]);
  });

  test('fails an evaluator that gives the value of one child to another', async () => {
    const failures = await evaluatorFailures(
      changed((verdicts) => [...verdicts.slice(1), ...verdicts.slice(0, 1)]),
    );
    expect(failures).toContain(
      'gives in a batch what it gives one by one, in the order of the nodes',
    );
  });

  test('fails an evaluator that leaves a node out', async () => {
    expect(await evaluatorFailures(changed((verdicts) => verdicts.slice(1)))).toContain(
      'gives one result a node',
    );
  });

  test('fails an evaluator whose batch fails as a whole', async () => {
    const failures = await evaluatorFailures(
      changed((verdicts) =>
        verdicts.find((verdict) => 'failure' in verdict) === undefined
          ? verdicts
          : verdicts.map(() => ({ failure: { kind: 'invalid', message: 'something failed' } })),
      ),
    );
    expect(failures).toContain('lets what it cannot value fail alone');
  });
});

test('the kit says what it expected of the algorithm', async () => {
  const define = (runner: TestRunner) =>
    describeAlgorithm('uct', { create: () => textbookUct(classicBugs[3]) }, runner);
  const messageOf = (outcomes: readonly Outcome[], name: string) =>
    String(outcomes.find((outcome) => outcome.name === name)?.error);
  expect(
    messageOf(await outcomesOf(define), 'carries nothing from one problem to the next'),
  ).toMatch(
    /Expected an algorithm that was used before to grow the tree of a new one: keep no state in it\. They differ first at /,
  );
  const idle: SearchAlgorithm = {
    ...{ name: 'idle', concurrency: 'any', laws: ['simulations'] },
    run: async (_tree, context) => void (await context.simulate(async () => 'continue')),
  };
  const outcomes = await outcomesOf((runner) =>
    describeAlgorithm('idle', { create: () => idle }, runner),
  );
  expect(messageOf(outcomes, 'adds one visit to the root for each simulation')).toContain(
    'Expected each simulation to end with one `backup` of its path, which adds a visit to the root, got 0 visits of the root after 80 simulations',
  );
  expect(messageOf(outcomes, 'plays tic-tac-toe: a row can be completed')).toMatch(
    /Expected a best node with the score 1 from the position `xx\.oo\.\.\.\.`, where x moves, got undefined\. Perhaps not all moves were expanded: expand them, or claim `findsBest: false`\./,
  );
});

test('the kit finds an algorithm that backs up a twin which another simulation still evaluates', async () => {
  const hasty: SearchAlgorithm = {
    ...{ name: 'hasty', concurrency: 'any', laws: ['visits', 'values'] },
    async run(tree, context) {
      await context.simulate(async (simulation) => {
        const leaf = simulation.select(descend(uct()));
        if (leaf === undefined) return 'exhausted';
        await context.realise([leaf]);
        const children = leaf.status === 'open' ? await context.expand(leaf) : [];
        if (children.length > 0) tree.complete(leaf);
        const tries = ({ visits, inFlight }: SearchNode) => visits + inFlight;
        const [child = leaf] = children.toSorted((a, b) => tries(a) - tries(b));
        await context.evaluate([simulation.visit(child)]);
        if (child.status !== 'failed') tree.backup(tree.original(child));
        return 'continue';
      });
    },
  };
  const define = (runner: TestRunner) =>
    describeAlgorithm('hasty', { create: () => hasty }, runner);
  expect(await failuresOf(define)).toContain(
    'is not held up by siblings that lead to the same state',
  );
});

test('the kit says which node broke a law, and what usually does', async () => {
  const summing = mcts({ backup: ({ value }, { target }) => value + target });
  const create = () => ({ ...summing, laws: ['values' as const] });
  const outcomes = await outcomesOf((runner) => describeAlgorithm('sum', { create }, runner));
  const { error } = outcomes.find(({ name }) => name === 'keeps every value in [0, 1]') ?? {};
  expect(String(error)).toMatch(
    /Expected node \d+ to have a value from 0 to 1, .+, got \d+\.?\d*: a backup rule must return a mean or a maximum of returns, and not their sum\./,
  );
});

const known = new Map<ClassicBug | undefined, Promise<readonly string[]>>();

/** The whole suite takes a second, and two tests ask for it. */
function failuresAs(bug: ClassicBug | undefined): Promise<readonly string[]> {
  const failures =
    known.get(bug) ??
    failuresOf((runner) => {
      const create = () => textbookUct(bug);
      describeAlgorithm('uct', { create, visitCounts: 'uct', converges: true }, runner);
    });
  known.set(bug, failures);
  return failures;
}

test('names the step that an environment takes from its end', async () => {
  const environment: Environment<{ readonly rung: number }, number> = {
    name: 'ladder',
    reset: () => ({ state: { rung: 0 } }),
    step: ({ rung }, by) => ({
      state: { rung: rung + by },
      ...(rung + by === 2 && { terminal: true }),
    }),
  };
  const actions = ({ rung }: { readonly rung: number }) => (rung === 2 ? [] : [1]);
  const outcomes = await outcomesOf((runner) =>
    describeEnvironment('ladder', { create: () => environment, actions }, runner),
  );
  const failed = outcomes.filter(({ error }) => error !== undefined);
  expect(failed).toMatchObject([
    {
      name: 'ends where it says so',
      error: {
        message:
          'the step 1 from the terminal state { rung: 2 } gives one that is not terminal: throw there, or mark it as terminal',
      },
    },
  ]);
});

type BanditState = readonly number[];

function evaluatorFailures(evaluator: Evaluator<BanditState, number>): Promise<readonly string[]> {
  return failuresOf((runner) => {
    const { environment, policy } = banditTree();
    // `null` is no list of arms.
    const unfit = null as unknown as BanditState;
    const create = () => evaluator;
    describeEvaluator('bandit', { create, environment, policy, unfit }, runner);
  });
}

function changed(
  change: (verdicts: readonly (Evaluation | Failed)[]) => readonly (Evaluation | Failed)[],
): Evaluator<BanditState, number> {
  const { evaluator } = banditTree();
  return {
    needs: 'realised',
    evaluate: async (nodes, request) => change(await evaluator.evaluate(nodes, request)),
  };
}
