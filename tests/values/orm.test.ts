import { describe, expect, test } from 'vitest';
import { recipes, rewardFrom, sglangReward } from '../../src/backends/index.ts';
import type { RewardModel, Solution } from '../../src/contracts/reward-model.ts';
import { gameOf24 } from '../../src/environments/puzzles/game-of-24.ts';
import { uniform } from '../../src/policies/index.ts';
import { describeEvaluator, plainContext } from '../../src/testing/index.ts';
import { orm } from '../../src/values/reward/orm.ts';
import { close } from '../backends/rewards/support.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, realisedNode, rootNode } from '../support/nodes.ts';
import { opened } from '../testing/emulator-support.ts';

const notation = {
  prompt: () => [{ role: 'user' as const, content: 'Q?' }],
  format: (action: string) => action,
  parse: (text: string) => ({ action: text }),
};
const request = {
  environment: environmentOf(notation),
  context: plainContext(),
  remaining: noSpend,
};

/** A model that gives a solution the number of its last step. */
function tabled(range: readonly [number, number]) {
  const asked: (readonly Solution[])[] = [];
  const model: RewardModel = {
    ...{ provider: 'test', modelId: 'orm', scores: 'solution', range },
    score: ({ solutions }) => {
      asked.push(solutions);
      return Promise.resolve({ scores: solutions.map(({ steps }) => [Number(steps.at(-1))]) });
    },
  };
  return { asked, model };
}

test('a probability is the value', async () => {
  const { asked, model } = tabled([0, 1]);
  const nodes = [realisedNode('0.25', ''), realisedNode('1', '')];
  expect(await orm({ model }).evaluate(nodes, request)).toEqual([{ value: 0.25 }, { value: 1 }]);
  expect(asked).toEqual([
    [
      { prompt: 'Q?', steps: ['0.25'] },
      { prompt: 'Q?', steps: ['1'] },
    ],
  ]);
});

test('another range is mapped affinely', async () => {
  const { model } = tabled([-2, 2]);
  const values = await orm({ model }).evaluate([realisedNode('-1', '')], request);
  // (−1 + 2) / 4
  expect(values).toEqual([{ value: 0.25, raw: { score: -1, range: [-2, 2] } }]);
});

test('the logit of a sequence classifier goes through a sigmoid, all nodes in one request', async () => {
  const logit = Math.log(4);
  const server = await opened({ dialect: 'sglang', reward: () => logit });
  const recipe = recipes.sequenceClassifier();
  const model = sglangReward({ baseUrl: server.url, model: 'm', recipe });
  const nodes = [realisedNode('a', ''), realisedNode('b', ''), rootNode<string, string>('')];
  const { MAX_VALUE } = Number;
  // 1 / (1 + 1/4) = 4 / 5
  const evaluation = {
    value: close(0.8, 12),
    raw: { score: logit, range: [-MAX_VALUE, MAX_VALUE] },
  };
  const values = await orm<string, string>({ model }).evaluate(nodes, request);
  expect(values).toEqual([evaluation, evaluation, evaluation]);
  // A tree that holds it can be saved.
  expect(JSON.parse(JSON.stringify(values))).toEqual(values);
  expect(server.requests).toHaveLength(1);
});

test('asks only about what has ended, where it is told to', async () => {
  const { asked, model } = tabled([0, 1]);
  const nodes = [
    realisedNode('0.3', ''),
    realisedNode('0.4', '', { terminal: true }),
    realisedNode('0.6', '', { answer: true }),
  ];
  const only = { model, at: 'terminal' } as const;
  expect(await orm(only).evaluate(nodes, request)).toEqual([
    { value: 0 },
    { value: 0.4 },
    { value: 0.6 },
  ]);
  expect(asked[0]).toHaveLength(2);
  const [first] = await orm({ ...only, otherwise: 0.2 }).evaluate(nodes, request);
  expect(first).toEqual({ value: 0.2 });
});

test('what fails, fails alone', async () => {
  const model = rewardFrom({
    name: 'rule',
    scores: 'solution',
    score: ({ steps: [step] }) => (step === 'x' ? [0.1, 0.2] : step === 'y' ? [] : [0.5]),
  });
  const nodes = [realisedNode('x', ''), realisedNode('y', ''), realisedNode('z', '')];
  const all = [...nodes, proposedNode('', 'z')];
  expect(await orm<string, string>({ model }).evaluate(all, request)).toEqual([
    { failure: { kind: 'invalid', message: 'Expected one score per solution, got 2.' } },
    { failure: { kind: 'invalid', message: 'Expected one score per solution, got 0.' } },
    { value: 0.5 },
    { failure: { kind: 'invalid', message: 'Expected a node with a state, got a proposed one.' } },
  ]);
});

test('a call that fails is the failure of those it was about', async () => {
  const model: RewardModel = {
    ...{ provider: 'test', modelId: 'orm', scores: 'solution' },
    score: () => Promise.reject(new Error('gone')),
  };
  const nodes = [realisedNode('x', '', { terminal: true }), realisedNode('y', '')];
  const values = await orm({ model, at: 'terminal' }).evaluate(nodes, request);
  expect(values).toEqual([{ failure: { kind: 'call', message: 'gone' } }, { value: 0 }]);
});

test.each([
  [{ model: { ...tabled([0, 1]).model, scores: 'steps' } }, 'use prm'],
  [{ at: 'leaf' }, "Expected `at` to be 'all' or 'terminal'"],
  [{ otherwise: -1 }, 'Expected `otherwise`'],
  [{ squash: 'tanh' }, 'Expected `squash`'],
])('refuses %o', (wrong, message) => {
  const options = { model: tabled([0, 1]).model, ...wrong };
  expect(() => orm(options as Parameters<typeof orm<string, string>>[0])).toThrow(message);
});

const game = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const unfit = game.reset().state;
describeEvaluator(
  'orm',
  {
    environment: game,
    policy: uniform(game.actions),
    create: () =>
      orm({
        model: rewardFrom({
          ...{ name: 'length', scores: 'solution', range: [-Infinity, Infinity] },
          score: ({ steps }) => [steps.join('').length - 10],
        }),
        solutionOf: (node) => {
          if (node.kind === 'root') throw new Error('this state has no words');
          return { prompt: 'Q?', steps: [JSON.stringify(node.state)] };
        },
      }),
    unfit,
  },
  { describe, test },
);
