import { describe, expect, test } from 'vitest';
import { decisions, decisionsFromModel, systemOne } from '../../src/backends/index.ts';
import type {
  Decision,
  DecisionModel,
  DecisionRequest,
} from '../../src/contracts/decision-model.ts';
import { gameOf24 } from '../../src/environments/puzzles/game-of-24.ts';
import { uniform } from '../../src/policies/index.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import type { RewardQuestion } from '../../src/testing/emulator/options.ts';
import { describeEvaluator, plainContext, scriptedModel } from '../../src/testing/index.ts';
import { type DecisionOptions, decision } from '../../src/values/reward/decision.ts';
import { close, containing, matching } from '../backends/rewards/support.ts';
import { environmentOf } from '../support/environment-of.ts';
import { noSpend, proposedNode, realisedNode } from '../support/nodes.ts';
import { searchOf } from '../support/search-of.ts';
import { opened } from '../testing/emulator-support.ts';

const notation = {
  prompt: (state: string) => [{ role: 'user' as const, content: `In ${state}.` }],
  format: (action: string) => action,
  parse: (text: string) => ({ action: text }),
};
const request = {
  environment: environmentOf(notation),
  context: plainContext(),
  remaining: noSpend,
};

/** A model that gives every question this answer. */
function answering(answer: unknown) {
  const asked: DecisionRequest[] = [];
  const model: DecisionModel = {
    ...{ provider: 'test', modelId: 'decider' },
    decide: (request) => {
      asked.push(request);
      return Promise.resolve({ answers: { value: answer as Decision } });
    },
  };
  return { asked, model };
}

async function evaluationOf(
  answer: unknown,
  options: Partial<DecisionOptions<string, string>> = {},
) {
  const { model } = answering(answer);
  const evaluator = decision<string, string>({ model, ...options });
  return (await evaluator.evaluate([realisedNode('go', 'B')], request))[0];
}

const scale = { type: 'scale', text: '?', levels: ['a', 'b', 'c', 'd', 'e'] } as const;
const choice = { type: 'choice', text: '?', choices: { good: null, so: null, bad: null } } as const;
const values = { good: 1, so: 0.4, bad: 0 };

test('yes-no: the probability of yes', async () => {
  expect(await evaluationOf({ type: 'yes-no', probability: 0.3 })).toEqual({ value: 0.3 });
});

test('scale: the level by the highest one', async () => {
  // 3 / 4
  expect(await evaluationOf({ type: 'scale', level: 3 }, { question: scale })).toEqual({
    value: 0.75,
    raw: { score: 3, range: [0, 4] },
  });
});

test('choice: the expected value', async () => {
  const answer = {
    type: 'choice',
    choice: 'so',
    probabilities: { good: 0.25, so: 0.5, bad: 0.25 },
  };
  // 0.25 · 1 + 0.5 · 0.4
  expect(await evaluationOf(answer, { question: choice, values })).toEqual({
    value: close(0.45, 12),
    rationale: 'so',
  });
});

test.each([
  ['a refusal', { kind: 'call', message: 'declined' }, 'declined'],
  ['nothing', undefined, 'got none'],
  ['an answer to something else', { type: 'scale', level: 1 }, 'got one of the type `scale`'],
  ['no probability', { type: 'yes-no', probability: 7 }, 'from 0 to 1, got `7`'],
])('%s fails the node', async (_what, answer, message) => {
  const failure = { kind: matching(/./), message: containing(message) };
  expect(await evaluationOf(answer)).toEqual({ failure });
});

test('tells the state, or the action in the state before it; with what else is to be told', async () => {
  const { asked, model } = answering({ type: 'yes-no', probability: 1 });
  const parts = [{ text: () => 'A lesson.', stamps: ['taught'], prompts: { lessons: '1' } }];
  const ofStates = decision<string, string>({ model, promptParts: parts });
  await ofStates.evaluate([realisedNode('go', 'B')], request);
  const ofActions = decision<string, string>({
    ...{ model, about: 'action', prompts: { step: 'Then: {step}', action: 'Good?' } },
  });
  await ofActions.evaluate([proposedNode('A', 'go')], request);
  expect(asked).toEqual([
    {
      messages: [{ role: 'user', content: 'In B.\n\nA lesson.', prefixEnds: [5] }],
      questions: { value: { type: 'yes-no', text: containing('so far correct') } },
    },
    {
      messages: [{ role: 'user', content: 'In A.\n\nThen: go', prefixEnds: [5] }],
      questions: { value: { type: 'yes-no', text: 'Good?' } },
    },
  ]);
  expect([ofStates.needs, ofActions.needs]).toEqual(['realised', 'proposed']);
  expect(ofStates.stamps).toEqual(['taught']);
  expect(Object.keys(ofStates.prompts ?? {}).sort()).toEqual(['decision', 'lessons']);
  const other = decision({ model, question: scale });
  expect(other.prompts?.['decision']).not.toBe(ofStates.prompts?.['decision']);
});

test('a node without a state fails', async () => {
  const { model } = answering({ type: 'yes-no', probability: 1 });
  const evaluator = decision<string, string>({ model });
  const [failed] = await evaluator.evaluate([proposedNode('A', 'go')], request);
  expect(failed).toMatchObject({ failure: { kind: 'invalid' } });
});

test('passes on the prompts of a language model behind it', () => {
  const model = decisionsFromModel({ model: scriptedModel({ answer: () => 'yes' }) });
  const { prompts = {} } = decision<string, string>({ model });
  expect(Object.keys(prompts).sort()).toEqual(['decision', 'decisions-from-model']);
});

test.each([
  [{ question: choice }, 'Expected `values.good` to be a number from 0 to 1'],
  [{ question: choice, values: { ...values, so: 2 } }, 'Expected `values.so`'],
  [{ question: { ...scale, levels: ['one'] } }, 'Expected `question.levels` to be of 2 to 10'],
  [{ question: { type: 'essay' } }, 'Expected `question`'],
  [{ model: {} }, 'Expected `model` to be an object with a method `decide`'],
  [{ prompts: { stepp: '' } }, 'Expected `prompts`'],
])('refuses %o', (wrong, message) => {
  const options = { model: answering(undefined).model, ...wrong };
  expect(() => decision(options as DecisionOptions<string, string>)).toThrow(message);
});

const game = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const policy = uniform(game.actions);

test('in a search, one node is one call; what was declined fails alone', async () => {
  const isDeclined = ({ query = '' }: RewardQuestion) => query.length % 2 === 0;
  const server = await opened({
    dialect: 'sglang',
    reward: (question) => (isDeclined(question) ? -1 : 0.5),
  });
  const model = decisions({ baseUrl: server.url, model: 'm' });
  const { tree, spend } = await searchOf({
    ...{ environment: game, policy, evaluator: decision({ model }) },
    algorithm: mcts({ evaluate: 'all' }),
    budget: { simulations: 1, calls: 100 },
  });
  const { children } = tree.root;
  expect(spend.calls).toBe(server.requests.length);
  expect(server.requests.length).toBe(children.length);
  const failed = children.filter(({ status }) => status === 'failed');
  const valued = children.filter(({ rawValue }) => rawValue === 0.5);
  expect([failed.length > 0, valued.length > 0]).toEqual([true, true]);
  expect(failed.length + valued.length).toBe(children.length);
});

test('in a search, a model that makes no decisions fails each node and says why', async () => {
  const server = await opened({ dialect: 'llama-server', decides: false });
  const model = systemOne({ baseUrl: server.url });
  const evaluator = decision({ model });
  const { tree } = await searchOf({
    ...{ environment: game, policy, evaluator, algorithm: mcts() },
    budget: { calls: 2 },
  });
  const failures = tree.root.children.flatMap(({ failure }) => failure?.message ?? []);
  expect(failures).toContain('systemone:jev-latest is not a decision model.');
});

const unfit = gameOf24.environment(gameOf24.parse('4 9 10 13')).reset().state;
const unshown = {
  ...game.notation,
  prompt(state: typeof unfit) {
    if (state === unfit) throw new Error('This state cannot be shown.');
    return game.notation.prompt(state);
  },
};
for (const about of ['state', 'action'] as const) {
  describeEvaluator(
    `decision on each ${about}`,
    {
      ...{ environment: { ...game, notation: unshown }, policy, unfit },
      create: () =>
        decision<typeof unfit, Parameters<typeof game.step>[1]>({
          about,
          question: scale,
          model: {
            ...{ provider: 'test', modelId: 'decider' },
            decide: ({ messages }) => {
              const level = ((messages.at(-1)?.content.length ?? 0) % 41) / 10;
              return Promise.resolve({ answers: { value: { type: 'scale', level } } });
            },
          },
        }),
    },
    { describe, test },
  );
}
