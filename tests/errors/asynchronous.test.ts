import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  astar,
  bestOfN,
  depthFirst,
  descend,
  type Environment,
  flat,
  mcts,
  type SearchAlgorithm,
  type SearchOptions,
  search,
  uct,
} from '../../src/index.ts';
import { greedy, uniform } from '../../src/policies/index.ts';
import { generate, openRun } from '../../src/runs/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { heuristic, verifier } from '../../src/values/index.ts';

type Letters = Environment<string, string>;

const moved = (state: string, action: string) => ({
  state: state + action,
  terminal: state.length > 0,
});
const letters: Letters = {
  name: 'letters',
  reset: () => ({ state: '' }),
  step: moved,
  key: (state) => state,
};
const model = scriptedModel({ answer: () => 'a' });
const messages = [{ role: 'user' as const, content: 'Next?' }];
const usual: SearchOptions<string, string> = {
  policy: () => [{ action: 'a' }, { action: 'b' }],
  evaluator: () => 0.5,
  budget: { simulations: 6 },
};
const grown = (options: SearchOptions<string, string>) => search(letters, { ...usual, ...options });

function running(run: SearchAlgorithm<string, string>['run']): Promise<unknown> {
  return grown({ algorithm: { name: 'mine', concurrency: 'any', laws: [], run } });
}

describe('a method that is taken out of what a callback is given', () => {
  test('works of a simulation', async () => {
    const selected: number[] = [];
    await running(async (tree, { simulate, expand, evaluate }) => {
      await simulate(async ({ visit, select }) => {
        visit(tree.root);
        const node = select(descend(uct())) ?? tree.root;
        selected.push(node.id);
        await evaluate([node]);
        await evaluate(await expand(node));
        return 'exhausted';
      });
    });
    expect(selected).toEqual([0]);
  });

  test('works of the context of a call, also within one', async () => {
    const { tree } = await grown({
      async policy(_node, { context: { generate, effect } }) {
        const { completions } = await generate(model, { messages });
        return [{ action: await effect('twice', 1, async () => completions[0]?.text ?? '') }];
      },
      evaluator: async (_node, { context: { effect } }) => effect('value', 1, async () => 0.5),
    });
    expect(tree.root.children.map(({ action }) => action)).toEqual(['a']);
    expect(tree.root.children[0]?.failure).toBeUndefined();
  });
});

test('a simulation may be synchronous', async () => {
  const synchronous = (() => 'exhausted') as never;
  await expect(running((_tree, context) => context.simulate(synchronous))).resolves.toMatchObject({
    stopReason: 'exhausted',
  });
});

const letter = async () => 'a';
const yes = async () => true;
const one = async () => 1;

/** Each does not compile, and says in a sentence why where nobody compiles. */
const refused: readonly (readonly [string, () => unknown])[] = [
  // @ts-expect-error: a goal is known at once
  ['goal', () => grown({ algorithm: astar({ heuristic: () => 0, goal: yes }) })],
  // @ts-expect-error: the same
  ['goal', () => grown({ algorithm: depthFirst({ goal: yes }) })],
  // @ts-expect-error: an estimate is a number
  ['heuristic', () => grown({ algorithm: astar({ heuristic: one }) })],
  // @ts-expect-error: so is a cost
  ['cost', () => grown({ algorithm: astar({ heuristic: () => 0, cost: one }) })],
  // @ts-expect-error: a condition is looked at after each simulation
  ['stopWhen', () => grown({ stopWhen: yes })],
];

/** The same of what fails a node and no search. */
const failing: readonly (readonly [string, SearchOptions<string, string>])[] = [
  // @ts-expect-error: actions are listed at once
  ['actions', { policy: uniform(async () => ['a']) }],
  // @ts-expect-error: the same
  ['actions', { policy: greedy({ actions: async () => ['a'], score: () => 1 }) }],
  // @ts-expect-error: a score is a number
  ['score', { policy: greedy({ actions: () => ['a'], score: one }) }],
  // @ts-expect-error: so is an estimate
  ['estimate', { evaluator: heuristic(one) }],
  // @ts-expect-error: a list of promises is no promise of a list
  ['proposal', { policy: () => [letter().then((action) => ({ action }))] }],
  // @ts-expect-error: an action that was not awaited
  ['action', { policy: () => [{ action: letter() }] }],
  [
    'evaluation',
    {
      evaluator: {
        needs: 'realised',
        // @ts-expect-error: a list of promises is no promise of a list
        evaluate: (nodes) => nodes.map(async () => ({ value: 1 })),
      },
    },
  ],
];

/** A promise that is none of this realm's. */
type Promised = <Value>(value: Value) => Promise<Value>;
function aThenable<Value>(promise: Promise<Value>): Promise<Value> {
  const bound = ['then'].map((method) => [method, promise.then.bind(promise)]);
  return Object.fromEntries(bound) as Promise<Value>;
}
const Foreign: PromiseConstructor = runInNewContext('Promise');
const foreign: readonly (readonly [string, Promised])[] = [
  ['of another realm', (value) => Foreign.resolve(value)],
  ['of a library', (value) => aThenable(Promise.resolve(value))],
];

describe.each(foreign)('a promise %s', (_name, promised) => {
  const isRight = () => promised({ correct: true });
  const given: readonly (readonly [string, Parameters<typeof search<string, string>>])[] = [
    ['policy', [letters, { ...usual, policy: () => promised([{ action: 'a' }]) }]],
    ['estimate', [letters, { ...usual, evaluator: () => promised(0.5) }]],
    [
      'evaluator',
      [
        letters,
        {
          ...usual,
          evaluator: {
            needs: 'realised',
            evaluate: (nodes) => promised(nodes.map(() => ({ value: 0.5 }))),
          },
        },
      ],
    ],
    ['step', [{ ...letters, step: (state, action) => promised(moved(state, action)) }, usual]],
    ['outcome', [letters, { ...usual, outcome: { verify: isRight } }]],
    [
      'step before an outcome',
      [
        { ...letters, step: (state, action) => promised(moved(state, action)) },
        { ...usual, outcome: { verify: isRight } },
      ],
    ],
    ['verifier', [letters, { ...usual, evaluator: verifier({ verify: isRight }) }]],
  ];

  test.each(given)('is waited for in `%s`', async (_part, [environment, options]) => {
    const { failures, spend } = await search(environment, options);
    expect(failures.first).toEqual([]);
    expect(spend.simulations).toBeGreaterThan(2);
  });
});

describe('a promise where none can be waited for', () => {
  test.each(refused)('is refused in `%s`', async (name, make) => {
    const refusal = expect.stringMatching(new RegExp(`${name}\`? .*got a promise\\.`));
    await expect(make()).rejects.toMatchObject({ code: 'usage', message: refusal });
  });

  test.each(failing)('fails what is asked for as a %s', async (name, options) => {
    const { failures, stopReason } = await grown(options);
    expect(stopReason).toBe('failed');
    expect(failures.first[0]?.message).toMatch(new RegExp(`${name}\\b.*got a promise\\.`));
  });

  test('is refused as a state', async () => {
    // @ts-expect-error: a state of text is no promise
    const step: Letters['step'] = (state) => ({ state: Promise.resolve(state) });
    const { failures } = await search({ ...letters, step }, usual);
    expect(failures.first[0]?.message).toBe(
      'Expected `step` to return a transition with a `state`, got a promise. Put `await` before its `state`.',
    );
  });

  test.each([
    [
      'an outcome that returns no verdict',
      () => true,
      '` to be an object such as { correct: true, score: 0.5 } whose `correct` is true or false, got `true`.',
    ],
    [
      'one whose verdict was not awaited',
      () => ({ correct: yes() }),
      '.correct` to be true or false, got a promise.',
    ],
  ])('is no verdict: %s', async (_name, verify, fault) => {
    const outcome = { verify } as never;
    for (const options of [{ outcome }, { evaluator: verifier(outcome) }]) {
      const { failures } = await grown(options);
      expect(failures.first[0]?.message).toContain(`Expected \`verifier.verify()${fault}`);
    }
  });

  test('does not compile as a rule of a tree', () => {
    // @ts-expect-error: a selection returns a node
    const selection = () => mcts({ selection: async () => undefined });
    // @ts-expect-error: a rule for one node is no selection
    const rule = () => mcts({ selection: uct() });
    // @ts-expect-error: a score is a number
    const score = () => flat(one);
    // @ts-expect-error: so is what is backed up
    const backup = () => mcts({ backup: one });
    // @ts-expect-error: a stopping rule tells a number at once
    const until = () => bestOfN({ until: one });
    expect([selection, rule, score, backup, until]).toHaveLength(5);
  });
});

test.each(['onProgress', 'around'])(
  'what an asynchronous `%s` throws ends the run',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-listeners-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    using run = openRun(folder);
    const listener = async () => {
      throw new Error('The screen is gone.');
    };
    const plan = () => ({ environment: letters, ...usual });
    const options = { run, problems: [{ id: 'a' }, { id: 'b' }], plan, [name]: listener };
    await expect(generate(options as never)).rejects.toThrow('The screen is gone.');
  },
);
