import { describe, expect, test } from 'vitest';
import {
  bestOfN,
  type Evaluator,
  mcts,
  type Policy,
  progressiveWidening,
  type SearchEvent,
} from '../../src/index.ts';
import { banditTree, tableMdp } from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/heuristic.ts';
import { type SearchOf, searchOf, streamSearchOf } from '../support/search-of.ts';

const problem = banditTree();
type State = readonly number[];
type Changes = Partial<SearchOf<State, number>>;

const run = (changes: Changes) => searchOf({ ...problem, budget: { simulations: 30 }, ...changes });

const proposing = (propose: () => unknown): Policy<State, number> => ({ propose }) as never;
const evaluating = (evaluate: (nodes: readonly unknown[]) => unknown): Evaluator<State, number> =>
  ({ needs: 'realised', evaluate }) as never;

describe('an environment', () => {
  test('that throws in reset ends the search with its reason and its cause', async () => {
    const cause = new Error('no such puzzle');
    const reset = () => {
      throw cause;
    };
    await expect(run({ environment: { ...problem.environment, reset } })).rejects.toMatchObject({
      code: 'usage',
      cause,
      message: 'The environment `bandit-tree` has no start: no such puzzle',
    });
  });

  test('that throws in step fails that child and no other', async () => {
    const { step } = problem.environment;
    const { tree } = await run({
      environment: {
        ...problem.environment,
        step(state, action, context) {
          if (action === 1) throw new Error('arm 1 is stuck');
          return step(state, action, context);
        },
      },
    });
    const [first, second, third] = tree.root.children;
    expect(second).toMatchObject({
      status: 'failed',
      failure: { kind: 'environment', message: 'arm 1 is stuck' },
      visits: 0,
    });
    expect(first?.visits).toBeGreaterThan(0);
    expect(third?.visits).toBeGreaterThan(0);
  });

  test.each([
    [
      'nothing',
      undefined,
      'Expected `step` to return a transition with a `state`, got `undefined`.',
    ],
    [
      'a reward of NaN',
      { state: [0], reward: Number.NaN },
      'Expected `reward` to be a finite number, got `NaN`.',
    ],
    [
      'an infinite reward',
      { state: [0], reward: -Infinity },
      'Expected `reward` to be a finite number, got `-Infinity`.',
    ],
    [
      'a cost below 0',
      { state: [0], cost: -1 },
      'Expected `cost` to be a finite number from 0 up, got `-1`.',
    ],
    [
      'a misspelt key',
      { state: [0], terminated: true },
      'The transition that `step` returned has an unknown `terminated`. Did you mean `terminal`?',
    ],
    [
      'an unknown key',
      { state: [0], observation: 'x' },
      'The transition that `step` returned has an unknown `observation`. It has state, reward, cost, terminal, answer.',
    ],
  ])('that returns %s fails the child', async (_title, transition, message) => {
    const { tree } = await run({
      environment: { ...problem.environment, step: () => transition as never },
    });
    expect(tree.root.children[0]?.failure).toEqual({ kind: 'invalid', message });
  });
});

describe('a policy', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('no idea');
      },
      { kind: 'call', message: 'The policy failed the only time it was asked: no idea.' },
    ],
    [
      'rejects',
      () => Promise.reject(new Error('no idea')),
      { kind: 'call', message: 'The policy failed the only time it was asked: no idea.' },
    ],
    [
      'throws a string',
      () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- what careless plug-ins do
        throw 'no idea';
      },
      { kind: 'call', message: 'The policy failed the only time it was asked: no idea.' },
    ],
    [
      'returns nothing',
      () => undefined,
      {
        kind: 'invalid',
        message:
          'The only answer of the policy could not be used: Expected `propose` to return an array of proposals, got `undefined`.',
      },
    ],
    [
      'returns no array',
      () => 'left',
      {
        kind: 'invalid',
        message:
          'The only answer of the policy could not be used: Expected `propose` to return an array of proposals, got `"left"`.',
      },
    ],
    ['proposes nothing', () => [], { kind: 'empty', message: 'The policy proposed nothing.' }],
    [
      'proposes failures only',
      () => [{ failure: { kind: 'parse', message: 'unreadable' } }],
      { kind: 'parse', message: 'unreadable' },
    ],
    [
      'gives a negative prior',
      () => [{ action: 0, prior: -0.1 }],
      { kind: 'invalid', message: 'Expected `prior` to be a finite number from 0 up, got `-0.1`.' },
    ],
    [
      'gives a prior of NaN',
      () => [{ action: 0, prior: Number.NaN }],
      { kind: 'invalid', message: 'Expected `prior` to be a finite number from 0 up, got `NaN`.' },
    ],
  ])('that %s at the start ends the search and says why', async (_title, propose, failure) => {
    const result = await run({ policy: proposing(propose) });
    expect(result).toMatchObject({ stopReason: 'failed', failure, actions: [], solved: false });
    expect(result.best).toBe(result.tree.root);
  });

  test.each([
    ['null', null],
    ['a number', 3],
    ['an object without an action', { prior: 1 }],
  ])('that returns %s among its proposals loses that one', async (_title, wrong) => {
    const { tree, stopReason } = await run({
      policy: proposing(() => [wrong, { action: 0 }, { action: 1 }]),
    });
    expect(stopReason).not.toBe('failed');
    expect(tree.root.children.map(({ action }) => action)).toEqual([0, 1]);
    expect(tree.root.failedProposals).toMatchObject([{ count: 1 }]);
  });
});

describe('a policy in the middle of a search', () => {
  test('that throws below the start fails that node and no other', async () => {
    const { tree, stopReason } = await run({
      policy: {
        propose(node, request) {
          if (node.depth === 1 && node.action === 0) throw new Error('no idea');
          return problem.policy.propose(node, request);
        },
      },
    });
    expect(stopReason).not.toBe('failed');
    expect(tree.root.children[0]).toMatchObject({ status: 'failed', visits: 1 });
    expect(tree.root.children[1]?.visits).toBeGreaterThan(1);
  });

  test('whose later sample fails leaves the children that are there alone', async () => {
    let asked = 0;
    const policy: Policy<State, number> = {
      propose(node, request) {
        if (++asked % 4 === 2) throw new Error('503');
        return problem.policy.propose(node, request);
      },
    };
    for (const algorithm of [bestOfN(), mcts({ width: 1, widening: progressiveWidening() })]) {
      const { tree, stopReason } = await run({ policy, algorithm });
      expect(stopReason).not.toBe('failed');
      expect(tree.root.status).not.toBe('failed');
      expect(tree.root.children).toHaveLength(3);
    }
  });

  test('that draws the same action again and again does not hold up the widening', async () => {
    const { tree, actions } = await run({
      policy: proposing(() => [{ action: 2 }]),
      algorithm: mcts({ width: 1, widening: progressiveWidening() }),
    });
    expect(actions).toEqual([2, 2, 2]);
    expect(tree.size).toBe(4);
  });

  test('that proposes ten thousand actions is served in no time', async () => {
    const actions = Array.from({ length: 10_000 }, (_, action) => ({ action: { move: action } }));
    const before = process.cpuUsage();
    const { tree } = await searchOf({
      ...tableMdp({ start: { go: { to: 'end' } } }),
      environment: {
        name: 'wide',
        reset: () => ({ state: 0 }),
        step: (_state: number, { move }: { move: number }) => ({ state: move }),
        key: String,
      },
      policy: { propose: () => actions },
      evaluator: heuristic(() => 0.5),
      budget: { simulations: 8 },
    });
    expect(tree.root.children).toHaveLength(10_000);
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });

  test('that proposes an action twice gets one child with both priors, in the first place', async () => {
    const { tree } = await run({
      policy: proposing(() => [
        { action: { to: 'b', by: 1 }, prior: 0.2 },
        { action: { to: 'a' }, prior: 0.5 },
        { action: { by: 1, to: 'b' }, prior: 0.3 },
      ]),
      environment: {
        ...problem.environment,
        step: (_state, action) => ({
          state: [JSON.stringify(action).length],
          terminal: true,
        }),
      },
    });
    expect(tree.root.children.map(({ action, prior }) => [action, prior])).toEqual([
      [{ to: 'b', by: 1 }, 0.5],
      [{ to: 'a' }, 0.5],
    ]);
  });
});

describe('siblings that lead to the same state', () => {
  const twins = tableMdp(
    {
      start: {
        one: { to: 'same', prior: 0.2 },
        other: { to: 'other', prior: 0.3 },
        two: { to: 'same', prior: 0.5 },
      },
      same: { on: { to: 'same end', reward: 0.2 } },
      other: { on: { to: 'other end', reward: 0.3 } },
    },
    { values: { same: 0.5, other: 0.5 } },
  );

  test('are one: the first keeps its place and gets the prior of both', async () => {
    const { tree } = await searchOf({ ...twins, budget: { simulations: 50 } });
    const [first, other, second] = tree.root.children;
    expect([first?.prior, other?.prior, second?.prior].map((prior) => prior?.toFixed(6))).toEqual([
      '0.000000',
      '0.300000',
      '0.700000',
    ]);
    expect(first).toMatchObject({ status: 'pruned', pruned: 'duplicate', duplicateOf: second?.id });
    expect(first?.visits).toBe(0);
  });

  test('stay two where the environment has no keys', async () => {
    const { key: _, ...environment } = twins.environment;
    const { tree } = await searchOf({ ...twins, environment, budget: { simulations: 50 } });
    expect(tree.root.children.map(({ status }) => status)).not.toContain('pruned');
  });
});

const onePerNode =
  'Expected `evaluate` to return an array of 1, one evaluation for each node, got ';

describe('an evaluator', () => {
  test.each([
    ['NaN', [{ value: Number.NaN }], 'Expected `value` to be a number from 0 to 1, got `NaN`.'],
    ['2', [{ value: 2 }], 'Expected `value` to be a number from 0 to 1, got `2`.'],
    [
      'a number below 0',
      [{ value: -0.01 }],
      'Expected `value` to be a number from 0 to 1, got `-0.01`.',
    ],
    ['a text', [{ value: '0.5' }], 'Expected `value` to be a number from 0 to 1, got `"0.5"`.'],
    ['too few', [], `${onePerNode}an array of 0.`],
    ['too many', [{ value: 0 }, { value: 1 }], `${onePerNode}an array of 2.`],
    ['no array', { value: 0 }, `${onePerNode}an object.`],
    [
      'nothing for a node',
      [undefined],
      'Expected each evaluation to be an object with a `value`, got `undefined`.',
    ],
    ['a bare number', [0.5], 'Expected each evaluation to be an object with a `value`, got `0.5`.'],
  ])('that returns %s fails the node with a reason', async (_title, verdicts, message) => {
    const { tree } = await run({ evaluator: evaluating(() => verdicts) });
    expect(tree.root.children[0]).toMatchObject({
      status: 'failed',
      visits: 0,
      failure: { kind: 'invalid', message },
    });
  });

  test('that throws fails the nodes of its batch, and the search goes on', async () => {
    const { tree, stopReason } = await run({
      evaluator: {
        needs: 'realised',
        evaluate(nodes, request) {
          if (nodes.some(({ action, depth }) => action === 0 && depth === 1)) {
            throw new Error('a tired judge');
          }
          return problem.evaluator.evaluate(nodes, request);
        },
      },
    });
    expect(stopReason).not.toBe('failed');
    expect(tree.root.children[0]?.failure).toEqual({ kind: 'call', message: 'a tired judge' });
    expect(tree.root.children[1]?.visits).toBeGreaterThan(0);
  });

  test('is not asked about a rewarded end, nor twice about a node', async () => {
    const asked: number[] = [];
    await run({
      evaluator: evaluating((nodes) => {
        for (const { id } of nodes as readonly { id: number }[]) asked.push(id);
        return nodes.map(() => ({ value: 0.5 }));
      }),
    });
    expect(new Set(asked).size).toBe(asked.length);
  });

  test('of proposed nodes is asked before they are stepped', async () => {
    const kinds = new Set<string>();
    await run({
      evaluator: {
        needs: 'proposed',
        evaluate: (nodes) =>
          nodes.map(({ kind }) => {
            kinds.add(kind);
            return { value: 0.5 };
          }),
      },
      algorithm: mcts({ evaluate: 'all' }),
    });
    expect(kinds).toContain('proposed');
  });
});

describe('a plug-in that does not stop', () => {
  test('does not keep an aborted search from ending', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const searching = run({
      signal: controller.signal,
      policy: proposing(() => new Promise(() => {})),
    });
    setImmediate(() => controller.abort(reason));
    await expect(searching).rejects.toBe(reason);
  });

  test('hears of an aborted signal before anything is done', async () => {
    const reason = new Error('never mind');
    let resets = 0;
    const reset = () => {
      resets++;
      return { state: [] };
    };
    const environment = { ...problem.environment, reset };
    await expect(run({ environment, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(resets).toBe(0);
  });
});

test('failures are told as events, each once', async () => {
  const failures: SearchEvent<State, number>[] = [];
  for await (const event of streamSearchOf({
    ...problem,
    budget: { simulations: 10 },
    policy: {
      propose: () => [
        { action: 0 },
        { failure: { kind: 'parse', message: 'unreadable' } },
        { action: 1, prior: -1 },
      ],
    },
  })) {
    if (event.type === 'proposal-failed' && event.node.id === 0) failures.push(event);
  }
  expect(failures.map((event) => 'failure' in event && event.failure.kind)).toEqual([
    'parse',
    'invalid',
  ]);
});
