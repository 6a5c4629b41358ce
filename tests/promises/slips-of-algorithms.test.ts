import { describe, expect, test } from 'vitest';
import { decisionsFromModel, rewardFrom } from '../../src/backends/index.ts';
import {
  type Environment,
  meanBackup,
  type Operation,
  type SearchAlgorithm,
  search,
} from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { heuristic } from '../../src/values/index.ts';

const model = scriptedModel({ answer: () => 'a' });
const half = heuristic(() => 0.5);

const bare: Environment<string, string> = {
  name: 'bare',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};

type Run = SearchAlgorithm['run'];

const asked = { messages: [{ role: 'user', content: 'a' }] } as const;
const reward = rewardFrom({ name: 'a', score: () => [1] });
const decides = decisionsFromModel({ model });
const lookUp: Operation<null, void> = {
  kind: 'look-up',
  name: 'a',
  repeatable: true,
  address: () => null,
  run: async () => {},
};

/** What algorithms may get wrong, and what they are told. */
const slips: Readonly<Record<string, readonly [message: string, run: Run]>> = {
  simulate: [
    '`context.simulate` has no option `limt`. Did you mean `limit`?',
    (_tree, context) => context.simulate(async () => 'solved', { limt: 1 } as object),
  ],
  expand: [
    '`context.expand` has no option `cuont`. Did you mean `count`?',
    async ({ root }, context) => void (await context.expand(root, { cuont: 1 } as object)),
  ],
  'expand with part of an action': [
    'Expected `count` to be an integer from 1 up, got `0.5`.',
    async ({ root }, context) => void (await context.expand(root, { count: 0.5 })),
  ],
  evaluate: [
    '`context.evaluate` has no option `agian`. Did you mean `again`?',
    ({ root }, context) => context.evaluate([root], { agian: true } as object),
  ],
  effect: [
    '`context.effect` has no option `repeatible`. Did you mean `repeatable`?',
    (_tree, context) =>
      context.effect({ name: 'a', repeatible: true } as never, null, async () => {}),
  ],
  backup: [
    '`tree.backup` has no option `rlue`. Did you mean `rule`?',
    async (tree) => tree.backup(tree.root, { rlue: meanBackup } as object),
  ],
  generate: [
    '`context.generate` has no option `max_tokens`. Did you mean `maxTokens`?',
    async (_tree, context) =>
      void (await context.generate(model, { messages: [], max_tokens: 5 } as never)),
  ],
  'a message': [
    '`messages[0]` has no option `tool_calls`. Did you mean `toolCalls`?',
    async (_tree, context) => {
      const message = { role: 'assistant', content: '', tool_calls: [] } as never;
      await context.generate(model, { messages: [message] });
    },
  ],
  'a tool': [
    '`tools[0]` has no option `parameters`. It has name, description, input.',
    async (_tree, context) => {
      const tool = { name: 'a', input: {}, parameters: {} } as never;
      await context.generate(model, { messages: [], tools: [tool] });
    },
  ],
  'what a model is said to honour': [
    '`model.capabilities` has no option `schmea`. Did you mean `schema`?',
    async (_tree, context) =>
      void (await context.generate({ ...model, capabilities: { schmea: true } as never }, asked)),
  ],
  'what a model is said to cost': [
    '`price of script` has no option `ouput`. Did you mean `output`?',
    async (_tree, context) =>
      void (await context.generate(
        { ...model, price: { input: 1, output: 1, ouput: 1 } as never },
        asked,
      )),
  ],
  score: [
    '`context.score` has no option `solution`. Did you mean `solutions`?',
    async (_tree, context) =>
      void (await context.score(reward, { solutions: [], solution: '' } as never)),
  ],
  'a solution': [
    '`solutions[0]` has no option `form`. Did you mean `from`?',
    async (_tree, context) =>
      void (await context.score(reward, {
        solutions: [{ prompt: '', steps: ['a'], form: 0 } as never],
      })),
  ],
  decide: [
    '`context.decide` has no option `question`. Did you mean `questions`?',
    async (_tree, context) =>
      void (await context.decide(decides, { messages: [], questions: {}, question: {} } as never)),
  ],
  'a question': [
    '`questions.a` has no option `yess`. Did you mean `yes`?',
    async (_tree, context) => {
      const question = { type: 'yes-no', text: '', yess: '' } as never;
      await context.decide(decides, { messages: [], questions: { a: question } });
    },
  ],
  'an operation': [
    '`operation` has no option `worstcase`. Did you mean `worstCase`?',
    async (_tree, context) => context.call({ ...lookUp, worstcase: () => ({}) } as never, null),
  ],
  'an operation that is none': [
    'Expected `operation` to be an object with a method `address`, got `undefined`.',
    async (_tree, context) => context.call(undefined as never, null),
  ],
  'a worst case': [
    '`worstCase` has no option `input`. It has calls, inputTokens, outputTokens.',
    async (_tree, context) =>
      context.call({ ...lookUp, worstCase: () => ({ input: 5 }) as object }, null),
  ],
  'a worst case that is none': [
    'Expected `worstCase` to be an object, got `null`.',
    async (_tree, context) => context.call({ ...lookUp, worstCase: () => null as never }, null),
  ],
  'a payee that is none': [
    'Expected `payee` to be an object, got `null`.',
    async (_tree, context) => context.call({ ...lookUp, payee: null as never }, null),
  ],
  conclude: [
    '`context.conclude` has no option `optmal`. Did you mean `optimal`?',
    async ({ root: node }, context) => context.conclude({ node, optmal: true } as never),
  ],
  'conclude by a vote': [
    '`context.conclude` has no option `wieght`. It has votes.',
    async (_tree, context) => context.conclude({ votes: [], wieght: 1 } as never),
  ],
  'a simulation': [
    "Expected a simulation to return 'continue', 'waiting', 'exhausted', 'solved' or { reserved }, got `\"sovled\"`.",
    (_tree, context) => context.simulate(async () => 'sovled' as never),
  ],
};

describe('an algorithm of the user', () => {
  test.each(Object.entries(slips))('hears of a slip in %s', async (_name, [message, run]) => {
    const algorithm: SearchAlgorithm = { name: 'own', concurrency: 'any', laws: [], run };
    const proposing = () => [{ action: 'a' }];
    const searching = search(bare, {
      policy: proposing,
      evaluator: half,
      algorithm,
      budget: { simulations: 3 },
    });
    await expect(searching).rejects.toThrow(message);
  });
});
