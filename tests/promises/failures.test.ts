import { describe, expect, test } from 'vitest';
import {
  astar,
  bestOfN,
  type Environment,
  type Evaluation,
  type Evaluator,
  type Failed,
  ModelCallError,
  mcts,
  type Policy,
  type SearchAlgorithm,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { tableMdp } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

const problem = tableMdp({
  start: { left: { to: 'a' }, right: { to: 'poor', reward: 0.1 } },
  a: { on: { to: 'rich', reward: 1 } },
});

type Kind = 'network' | 'bad-request';

/** An outage: until it is over, steps to `a` fail. */
function outage(kind: Kind | 'none') {
  const world = { over: false, steps: 0 };
  const environment: Environment<string, string> = {
    ...problem.environment,
    step(state, action, context) {
      world.steps++;
      if (action === 'left' && !world.over) {
        const cause =
          kind === 'none' ? undefined : new ModelCallError({ kind, message: 'The line is dead.' });
        throw new Error('The world could not be reached.', { cause });
      }
      return problem.environment.step(state, action, context);
    },
  };
  return { world, environment };
}

const algorithms: Readonly<Record<string, SearchAlgorithm>> = {
  mcts: mcts(),
  'best of n': bestOfN(),
  'A*': astar({
    heuristic: () => 0,
    admissible: true,
    goal: ({ state }) => state === 'rich',
  }),
};

describe('what failed is asked for again by resume', () => {
  for (const [name, algorithm] of Object.entries(algorithms)) {
    test(`where the reason may have passed: ${name}`, async () => {
      const { world, environment } = outage('network');
      const first = await searchOf({ ...problem, environment, algorithm });
      expect(first.solved).toBe(false);
      expect(first.failures.kinds).toEqual({ environment: 1 });
      world.over = true;
      const second = await first.resume();
      expect(second).toMatchObject({ solved: true, actions: ['left', 'on'] });
      expect(second.failures.count).toBe(0);
    });

    test.each(['bad-request', 'none'] as const)(
      `where it is told to: ${name}, %s`,
      async (kind) => {
        const { world, environment } = outage(kind);
        const first = await searchOf({ ...problem, environment, algorithm });
        world.over = true;
        const before = world.steps;
        const second = await first.resume();
        expect(second.solved).toBe(false);
        expect(world.steps).toBe(before);
        const third = await second.resume({ retryFailed: true });
        expect(third).toMatchObject({ solved: true, actions: ['left', 'on'] });
      },
    );
  }

  test('in a tree that was saved and loaded between', async () => {
    const { world, environment } = outage('network');
    const first = await searchOf({ ...problem, environment });
    world.over = true;
    const saved = JSON.stringify(treeToJson(first.tree));
    const options = { ...problem, environment, budget: { simulations: 0 } };
    const loaded = await searchOf({ ...options, tree: treeFromJson<string, string>(saved) });
    expect(loaded.failures).toEqual(first.failures);
    expect((await loaded.resume({ budget: { simulations: 20 } })).solved).toBe(true);
  });

  test('at the root, whose policy could not be asked', async () => {
    let down = true;
    const offsets: number[] = [];
    const policy: Policy<string, string> = {
      propose(node, request) {
        offsets.push(request.offset);
        if (down) throw new ModelCallError({ kind: 'overloaded', message: 'Busy.' });
        return problem.policy.propose(node, request);
      },
    };
    const first = await searchOf({ ...problem, policy, algorithm: mcts({ width: 2 }) });
    expect(first).toMatchObject({ stopReason: 'failed', failure: { message: /: Busy\.$/ } });
    expect(first.failures).toMatchObject({ count: 1, kinds: { call: 1 } });
    down = false;
    expect((await first.resume()).solved).toBe(true);
    // No sample was drawn: the first one is still to come.
    expect(offsets.slice(0, 2)).toEqual([0, 0]);
  });

  test('in an evaluation', async () => {
    let down = true;
    const evaluator: Evaluator<string, string> = {
      needs: 'realised',
      evaluate(nodes) {
        if (down) throw new ModelCallError({ kind: 'timeout', message: 'Too late.' });
        return nodes.map(() => ({ value: 0.5 }));
      },
    };
    const first = await searchOf({ ...problem, evaluator });
    expect(first.solved).toBe(false);
    down = false;
    expect((await first.resume()).solved).toBe(true);
  });
});

describe('result.failures', () => {
  test('tells of what an exhausted search has lost', async () => {
    const { environment } = outage('none');
    const { stopReason, failures } = await searchOf({ ...problem, environment });
    expect(stopReason).toBe('exhausted');
    expect(failures).toEqual({
      count: 1,
      kinds: { environment: 1 },
      first: [{ kind: 'environment', message: 'The world could not be reached.' }],
    });
  });

  test('counts proposals of each kind, and the first of each', async () => {
    const policy: Policy<string, string> = {
      propose: () => [
        { action: 'right' },
        { failure: { kind: 'parse', message: 'A poem.' } },
        { failure: { kind: 'parse', message: 'A song.' } },
        { failure: { kind: 'call', message: 'Refused.' } },
      ],
    };
    const { failures } = await searchOf({ ...problem, policy });
    expect(failures).toEqual({
      count: 3,
      kinds: { parse: 2, call: 1 },
      first: [
        { kind: 'parse', message: 'A poem.' },
        { kind: 'call', message: 'Refused.' },
      ],
    });
  });

  test('is empty where nothing failed', async () => {
    const { failures } = await searchOf(problem);
    expect(failures).toEqual({ count: 0, kinds: {}, first: [] });
  });
});

test('that all children failed names the cause, however far below', async () => {
  const deep = tableMdp({
    start: { on: { to: 'a' } },
    a: { on: { to: 'b' } },
    b: { on: { to: 'end' } },
  });
  const { failure, stopReason, failures } = await searchOf({
    ...deep,
    environment: {
      ...deep.environment,
      step(state, action, context) {
        if (state === 'b') throw new Error('The last bridge is out.');
        return deep.environment.step(state, action, context);
      },
    },
  });
  expect(stopReason).toBe('failed');
  expect(failure?.message).toBe(
    'All continuations failed, the first with: The last bridge is out.',
  );
  expect(failures.count).toBe(1);
});

describe('an evaluator none of whose answers can be used', () => {
  const wide = tableMdp({
    start: Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`to ${index}`, { to: `s${index}` }]),
    ),
    ...Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`s${index}`, { on: { to: `end ${index}` } }]),
    ),
  });

  test.each<[string, () => Evaluation | Failed]>([
    ['a value that is none', () => ({ value: Number.NaN })],
    ['a reply that cannot be read', () => ({ failure: { kind: 'parse', message: 'Got a poem.' } })],
  ])('ends the search with a sentence: %s', async (_, answer) => {
    let asked = 0;
    const evaluator: Evaluator<string, string> = {
      needs: 'realised',
      evaluate: (nodes) => {
        asked += nodes.length;
        return nodes.map(answer);
      },
    };
    const { stopReason, failure } = await searchOf({ ...wide, evaluator });
    expect(stopReason).toBe('failed');
    expect(failure?.message).toMatch(
      /^None of the 8 answers of the evaluator could be used: .+\.$/,
    );
    expect(asked).toBe(8);
  });

  test('is told from one that answers now and then', async () => {
    let asked = 0;
    const evaluator: Evaluator<string, string> = {
      needs: 'realised',
      evaluate: (nodes) =>
        nodes.map(() =>
          asked++ === 5
            ? { value: 0.5 }
            : { failure: { kind: 'parse' as const, message: 'A poem.' } },
        ),
    };
    const { failures, stopReason } = await searchOf({
      ...wide,
      evaluator,
      budget: { simulations: 40 },
    });
    expect(stopReason).toBe('budget');
    expect(failures.kinds['parse']).toBeGreaterThan(8);
  });
});

describe('an evaluator that has given only a few answers, none of which can be used', () => {
  const few = tableMdp({
    start: { left: { to: 'a' }, right: { to: 'b' } },
    a: { on: { to: 'poor', reward: 0.1 } },
    b: { on: { to: 'rich', reward: 0.4 } },
  });
  const malformed: Evaluator<string, string> = {
    needs: 'realised',
    evaluate: (nodes) => nodes.map(() => 0.5 as unknown as Evaluation),
  };

  test.each<[string, { algorithm: SearchAlgorithm; simulations?: number; answers: string }]>([
    ['mcts', { algorithm: mcts(), answers: 'The only answer' }],
    ['of all', { algorithm: mcts({ evaluate: 'all' }), answers: 'None of the 2 answers' }],
    ['of leaves', { algorithm: mcts({ evaluate: 'leaf' }), answers: 'The only answer' }],
    ['of a budget', { algorithm: mcts(), simulations: 1, answers: 'The only answer' }],
  ])('fails the search: %s', async (_, { algorithm, simulations = 100, answers }) => {
    const options = { ...few, evaluator: malformed, algorithm, budget: { simulations } };
    const { stopReason, failure } = await searchOf(options);
    expect(stopReason).toBe('failed');
    expect(failure?.message.startsWith(answers)).toBe(true);
    expect(failure?.message).toMatch(/ of the evaluator could .+, got `0.5`\.$/);
  });

  test('fails no search that found what it looked for, or had one that could be used', async () => {
    const { stopReason } = await searchOf({
      ...few,
      evaluator: malformed,
      stopWhen: () => 'solved',
    });
    expect(stopReason).toBe('solved');
    const sound = await searchOf({
      ...few,
      evaluator: {
        ...malformed,
        evaluate: (nodes) => nodes.map(({ id }) => (id === 1 ? { value: 0.5 } : (0.5 as never))),
      },
    });
    expect(sound.stopReason).toBe('exhausted');
  });
});
