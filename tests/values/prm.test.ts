import { describe, expect, test } from 'vitest';
import { recipes, rewardFrom, sglangReward, vllmReward } from '../../src/backends/index.ts';
import type { Environment, Notation } from '../../src/contracts/environment.ts';
import type { Evaluation } from '../../src/contracts/evaluation.ts';
import type { SearchNode } from '../../src/contracts/node.ts';
import type { RewardModel, Solution } from '../../src/contracts/reward-model.ts';
import { gameOf24 } from '../../src/environments/puzzles/game-of-24.ts';
import { uniform } from '../../src/policies/uniform.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { search } from '../../src/search/search.ts';
import type { RewardQuestion } from '../../src/testing/emulator/options.ts';
import { describeEvaluator, plainContext } from '../../src/testing/index.ts';
import { type PrmOptions, prm } from '../../src/values/reward/prm.ts';
import { close } from '../backends/rewards/support.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, realisedNode, rootNode } from '../support/nodes.ts';
import { opened } from '../testing/emulator-support.ts';

type Words = readonly string[];

const notation: Notation<Words, string> = {
  prompt: () => [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Q?' },
    { role: 'assistant', content: 'Well,' },
  ],
  format: (word) => word,
  parse: (text) => ({ action: text }),
};

/** A node at the end of these words, each of which is a step. */
function nodeAt(words: Words, parentEvaluation?: Evaluation): SearchNode<Words, string> {
  let node: SearchNode<Words, string> = rootNode<Words, string>([]);
  for (const [place, word] of words.entries()) {
    const isLast = place === words.length - 1;
    const parent: SearchNode<Words, string> =
      isLast && parentEvaluation !== undefined
        ? { ...node, evaluations: [parentEvaluation] }
        : node;
    node = realisedNode(word, words.slice(0, place + 1), {
      id: place + 1,
      depth: place + 1,
      parent,
    });
  }
  return node;
}

/** A model that gives each step the score in it. It remembers what it was asked. */
function tabled(settings: Partial<RewardModel> = {}) {
  const asked: (readonly Solution[])[] = [];
  const model: RewardModel = {
    provider: 'test',
    modelId: 'prm',
    ...settings,
    score: ({ solutions }) => {
      asked.push(solutions);
      const scores = solutions.map(({ steps, from = 0 }) => steps.slice(from).map(Number));
      return Promise.resolve({ scores });
    },
  };
  return { asked, model };
}

function evaluate(
  nodes: readonly SearchNode<Words, string>[],
  options: Partial<PrmOptions<Words, string>> & { readonly model: RewardModel },
) {
  const request = {
    environment: environmentOf(notation),
    context: plainContext(),
    remaining: noSpend,
  };
  return prm({ ...options }).evaluate(nodes, request);
}

const words = ['0.5', '0.8', '0.6'];

test.each<[NonNullable<PrmOptions['aggregate']> | undefined, number]>([
  [undefined, 0.6],
  ['last', 0.6],
  ['min', 0.5],
  // 0.5 · 0.8 · 0.6
  ['product', 0.24],
  // 1.9 / 3
  ['mean', 0.633_333_333_333],
])('the value of steps by %s is %d', async (aggregate, value) => {
  const { model } = tabled();
  const [evaluation] = await evaluate([nodeAt(words)], {
    model,
    ...(aggregate !== undefined && { aggregate }),
  });
  expect(evaluation).toEqual({
    value: close(value, 11),
    parts: { 'step 1': 0.5, 'step 2': 0.8, 'step 3': 0.6 },
  });
});

test('asks for all nodes at once: the question of the root, the actions on the way', async () => {
  const { asked, model } = tabled();
  await evaluate([nodeAt(['0.1']), nodeAt(words)], { model });
  expect(asked).toEqual([
    [
      { prompt: 'Be brief.\n\nQ?', steps: ['0.1'] },
      { prompt: 'Be brief.\n\nQ?', steps: words },
    ],
  ]);
});

test('a node without a step has the value of a start, and no model is asked', async () => {
  const { asked, model } = tabled();
  expect(await evaluate([nodeAt([])], { model })).toEqual([{ value: 0 }]);
  expect(await evaluate([nodeAt([])], { model, start: 0.5 })).toEqual([{ value: 0.5 }]);
  expect(asked).toEqual([]);
});

describe('other ranges', () => {
  test('are mapped affinely, and the score of the one step is kept', async () => {
    const { model } = tabled({ range: [-1, 3] });
    // (1 + 1) / 4, (0 + 1) / 4, (2 + 1) / 4
    const parts = { 'step 1': 0.5, 'step 2': 0.25, 'step 3': 0.75 };
    const node = nodeAt(['1', '0', '2']);
    const raw = (score: number) => ({ score, range: [-1, 3] });
    expect(await evaluate([node], { model })).toEqual([{ value: 0.75, parts, raw: raw(2) }]);
    const least = await evaluate([node], { model, aggregate: 'min' });
    expect(least).toEqual([{ value: 0.25, parts, raw: raw(0) }]);
    expect(await evaluate([node], { model, aggregate: 'mean' })).toEqual([{ value: 0.5, parts }]);
  });

  test('are mapped by a sigmoid where they have no bounds, or it is asked for', async () => {
    const free = tabled({ range: [-Infinity, Infinity] });
    // 1 / (1 + e^−ln 3) = 3 / 4
    const node = nodeAt([String(Math.log(3))]);
    const value = close(0.75, 12);
    const max = Number.MAX_VALUE;
    expect(await evaluate([node], { model: free.model })).toEqual([
      { value, parts: { 'step 1': value }, raw: { score: Math.log(3), range: [-max, max] } },
    ]);
    const bound = tabled({ range: [-9, 9] });
    const squashed = await evaluate([node], { model: bound.model, squash: 'sigmoid' });
    expect(squashed).toMatchObject([{ value, raw: { range: [-9, 9] } }]);
    expect(() => prm({ model: free.model, squash: 'affine' })).toThrow(
      "Expected `squash` to be 'sigmoid' for a model whose scores have no bounds",
    );
  });
});

describe('new steps only', () => {
  const before: Evaluation = { value: 0.3, parts: { 'step 1': 0.4, 'step 2': 0.3 } };

  test('are asked for where the parent holds the others', async () => {
    const { asked, model } = tabled({ incremental: true });
    const [evaluation] = await evaluate([nodeAt(words, before)], { model, aggregate: 'product' });
    expect(asked).toEqual([[{ prompt: 'Be brief.\n\nQ?', steps: words, from: 2 }]]);
    // 0.4 · 0.3 · 0.6: what the parent holds, not what a new score would be.
    expect(evaluation).toEqual({
      value: close(0.072, 12),
      parts: { 'step 1': 0.4, 'step 2': 0.3, 'step 3': 0.6 },
    });
  });

  const solutionOf = (node: SearchNode<Words, string>) => ({
    prompt: `At ${node.depth}`,
    steps: words.slice(0, node.depth),
  });
  const able = { incremental: true };

  test.each([
    ['the model cannot', { evaluation: before, able: {} }],
    ['a step is missing', { evaluation: { value: 0.3, parts: { 'step 2': 0.3 } }, able }],
    ['the parent has no parts', { evaluation: { value: 0.3 }, able }],
    ['the parent is about another text', { evaluation: before, able, solutionOf }],
  ])('are not told apart where %s', async (_what, { evaluation, able: settings, ...options }) => {
    const { asked, model } = tabled(settings);
    await evaluate([nodeAt(words, evaluation)], { model, ...options });
    expect(asked[0]?.[0]).toMatchObject({ steps: words });
    expect(asked[0]?.[0]).not.toHaveProperty('from');
  });
});

test('what fails, fails alone', async () => {
  const broken: SearchNode<Words, string> = realisedNode('0.5', ['!'], { id: 9 });
  const model = rewardFrom({
    name: 'rule',
    score: ({ steps }) => {
      if (steps[0] === '0.1') return [0.1, 0.2];
      return steps[0] === '0.2' ? [Number.NaN] : steps[0] === '0.3' ? [1.5] : steps.map(Number);
    },
  });
  const solutionOf = (node: SearchNode<Words, string>) => {
    if (node === broken) throw new Error('no text');
    return { prompt: 'Q?', steps: node.state ?? [] };
  };
  const nodes = [
    ...[broken, nodeAt(['0.1']), nodeAt(['0.2']), nodeAt(['0.3']), nodeAt(['0.4'])],
    proposedNode<Words, string>([], '0.5'),
  ];
  expect(await evaluate(nodes, { model, solutionOf })).toEqual([
    { failure: { kind: 'invalid', message: 'no text' } },
    { failure: { kind: 'invalid', message: 'Expected one score per step, 1 in all, got 2.' } },
    {
      failure: {
        kind: 'invalid',
        message: 'Expected scores that are numbers, got something else.',
      },
    },
    {
      failure: {
        kind: 'invalid',
        message: 'Expected the score of a step to be a number from 0 to 1, got `1.5`.',
      },
    },
    { value: 0.4, parts: { 'step 1': 0.4 } },
    { failure: { kind: 'invalid', message: 'Expected a node with a state, got a proposed one.' } },
  ]);
});

test('judges actions before they are taken', async () => {
  const { asked, model } = tabled();
  const evaluator = prm({ model, about: 'action' });
  expect(evaluator.needs).toBe('proposed');
  const request = {
    environment: environmentOf(notation),
    context: plainContext(),
    remaining: noSpend,
  };
  const node = proposedNode<Words, string>([], '0.7');
  expect(await evaluator.evaluate([node], request)).toMatchObject([{ value: 0.7 }]);
  expect(asked).toEqual([[{ prompt: 'Be brief.\n\nQ?', steps: ['0.7'] }]]);
});

test.each([
  [{ model: {} }, 'an object with a method `score`'],
  [{ aggregate: 'max' }, "Expected `aggregate` to be 'last' or 'min' or 'product' or 'mean'"],
  [{ start: 2 }, 'Expected `start`'],
  [{ model: tabled({ scores: 'solution' }).model }, 'use orm'],
])('refuses %o', (wrong, message) => {
  const options = { model: tabled().model, ...wrong };
  expect(() => prm(options as PrmOptions<Words, string>)).toThrow(message);
});

/** Two letters, three times: the value of a step is that of its last letter. */
const letters: Environment<Words, string> = {
  name: 'letters',
  reset: () => ({ state: [] }),
  step: (state, action) => ({
    state: [...state, action],
    ...(state.length === 2 && { terminal: true }),
  }),
  notation,
};
const policy = uniform((state: Words) => (state.length === 3 ? [] : ['a', 'b']));
const reward = ({ text }: RewardQuestion) => (/a ки$|a<extra_0>$|a$/.test(text) ? 0.75 : 0.25);

describe('in a search', () => {
  test('one solution is one call, the children of a node are one request, the budget holds', async () => {
    const server = await opened({ dialect: 'vllm', reward });
    const model = vllmReward({
      baseUrl: server.url,
      model: 'emulated',
      recipe: recipes.qwenMathPrm,
    });
    const { tree, spend } = await search(letters, {
      policy,
      evaluator: prm({ model }),
      algorithm: mcts({ evaluate: 'all' }),
      budget: { calls: 7 },
    });
    // Pairs of children: after three of them a fourth does not fit.
    expect(server.requests.map(({ body }) => (body as { input: unknown[] }).input.length)).toEqual([
      2, 2, 2,
    ]);
    expect(spend.calls).toBe(6);
    expect(spend.tokens).toBe(server.account.inputTokens);
    const values = tree.root.children.map(({ rawValue }) => rawValue);
    expect(values).toEqual([0.75, 0.25]);
  });

  test('only new steps are asked for, as the server counts them', async () => {
    const items: number[] = [];
    for (const recipe of [
      recipes.mathShepherd,
      { ...recipes.mathShepherd, incremental: false },
    ] as const) {
      const server = await opened({ dialect: 'sglang', reward });
      const model = sglangReward({ baseUrl: server.url, model: 'emulated', recipe });
      const { tree } = await search(letters, {
        policy,
        evaluator: prm({ model, aggregate: 'mean' }),
        algorithm: mcts({ evaluate: 'all' }),
        budget: { simulations: 20 },
      });
      expect([...tree.nodes()]).toHaveLength(15);
      const asked = server.requests.flatMap(({ body }) => (body as { items: string[] }).items);
      items.push(asked.length);
    }
    // 2 + 4 + 8 solutions: one new step each; or 1, 2 and 3 steps each.
    expect(items).toEqual([14, 2 + 8 + 24]);
  });
});

const game = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const unfit = gameOf24.environment(gameOf24.parse('4 9 10 13')).reset().state;
const notation24 = {
  ...game.notation,
  prompt(state: typeof unfit) {
    if (state === unfit) throw new Error('this state has no words');
    return game.notation.prompt(state);
  },
};
for (const about of ['state', 'action'] as const) {
  describeEvaluator(
    `prm of each ${about}`,
    {
      environment: { ...game, notation: notation24 },
      policy: uniform(game.actions),
      create: () => {
        const model = rewardFrom({
          name: 'length',
          incremental: true,
          range: [0, 40],
          score: ({ steps, from = 0 }) => steps.slice(from).map(({ length }) => length % 40),
        });
        return prm({ model, about, aggregate: 'min' });
      },
      unfit,
    },
    { describe, test },
  );
}
