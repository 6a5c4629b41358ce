import { afterAll, describe, expect, test } from 'vitest';
import { anthropic } from '../../src/backends/index.ts';
import {
  type Environment,
  type EvaluateRequest,
  type LanguageModel,
  type Message,
  type Notation,
  SearchTree,
} from '../../src/index.ts';
import { fromModel } from '../../src/policies/index.ts';
import {
  describeEnvironment,
  type Emulator,
  emulator,
  plainContext,
  scriptedModel,
} from '../../src/testing/index.ts';
import {
  criticRanking,
  debate,
  judge,
  pairwise,
  selfConsistency,
  selfEval,
} from '../../src/values/index.ts';
import { environmentOf } from '../support/environment-of.ts';

/** An agent that has looked something up: the state is how often. */
const lookUps: Notation<number, string> = {
  prompt: (count) => [
    { role: 'user', content: 'Which is warmer, Oslo or Lima?' },
    ...Array.from({ length: count }, (_, place): readonly Message[] => [
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: `t${place}`, name: 'temperature', input: { city: 'Oslo' } }],
      },
      { role: 'tool', content: '4', toolCallId: `t${place}` },
    ]).flat(),
  ],
  format: (action) => action,
  parse: (text) =>
    text.trim() === 'look'
      ? { action: 'look' }
      : { failure: { kind: 'parse', message: `Expected look, got \`${text}\`.` } },
};

const temperature = [{ name: 'temperature', input: { type: 'object' } }];
const consistent = ({ model }: { readonly model: LanguageModel }) =>
  selfConsistency({ model, key: (text: string) => text, about: 'action' });

const spend = { simulations: 0, nodes: 0, calls: 0, tokens: 0, usd: 0, ms: 0 };
const request: EvaluateRequest = {
  environment: environmentOf(lookUps),
  context: plainContext(),
  remaining: spend,
};
const open: Emulator[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

async function claude(answer: string) {
  const models = ['claude-sonnet-5-5'];
  const server = await emulator({ dialect: 'anthropic', models, answer: () => answer });
  open.push(server);
  const model = anthropic({
    model: 'claude-sonnet-5-5',
    apiKey: 'some-key',
    baseUrl: server.url,
    retry: false,
  });
  return { server, model };
}

function nodeWith(calls: number) {
  return new SearchTree<number, string>(calls, { environment: 'look-ups', seed: 0 }).root;
}

describe('a conversation with calls of tools', () => {
  test.each([
    ['a judge', judge, 'sure'],
    ['a self-evaluation', selfEval, 'B'],
    ['a debate', debate, '{"reason": "so", "status": "A"}'],
  ] as const)(
    'is shown by %s to a server that wants its tools told',
    async (_name, create, answer) => {
      const { server, model } = await claude(answer);
      const evaluator = create({ model });
      const [verdicts] = await evaluator.evaluate([nodeWith(2)], request);
      expect(verdicts).toMatchObject({ value: 1 });
      for (const { body } of server.requests) {
        // Told of, and not to be called: it is to judge.
        expect(body).toMatchObject({
          tools: [{ name: 'temperature', input_schema: { type: 'object' } }],
          tool_choice: { type: 'none' },
        });
      }
    },
  );

  test('is compared by the calls in it', async () => {
    const tree = new SearchTree<number, string>(0, { environment: 'look-ups', seed: 0 });
    const nodes = tree.add(tree.root, [
      { action: 'look', prior: 0.5 },
      { action: 'wait', prior: 0.5 },
    ]);
    for (const [place, node] of nodes.entries()) tree.realise(node, { state: 1 - place });
    const model = scriptedModel({ answer: () => '{"reason": "so", "better": "T"}' });
    await pairwise({ model, about: 'state' }).evaluate(nodes, request);
    expect(model.requests).toHaveLength(2);
    for (const { messages } of model.requests) {
      expect(messages.at(-1)?.content).toContain('{"tool":"temperature","input":{"city":"Oslo"}}');
    }
  });

  test('is shown by a policy too', async () => {
    const { model } = await claude('look');
    const policy = fromModel({ model });
    const proposals = await policy.propose(nodeWith(1), { ...request, count: 1, offset: 0 });
    expect(proposals).toMatchObject([{ action: 'look' }]);
  });

  test('has no tools told where none is called', async () => {
    const { server, model } = await claude('sure');
    await judge({ model }).evaluate([nodeWith(0)], request);
    expect(server.requests.length).toBeGreaterThan(0);
    for (const { body } of server.requests) expect(body).not.toHaveProperty('tools');
  });

  test('is refused by the emulator where they are not, as by Anthropic', async () => {
    const { server } = await claude('sure');
    const messages = [
      { role: 'user', content: 'Which is warmer?' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't', name: 'temperature', input: {} }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '4' }] },
    ];
    const ask = (body: object) =>
      fetch(`${server.url}/v1/messages`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': 'some-key',
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify({ model: 'claude-sonnet-5-5', max_tokens: 9, messages, ...body }),
      });
    const refused = await ask({});
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('`tools`');
    const tools = [{ name: 'temperature', input_schema: { type: 'object' } }];
    expect((await ask({ tools })).status).toBe(200);
  });
});

describe('a conversation of a notation with tools', () => {
  test.each([
    ['a judge', judge, 'sure'],
    ['a self-evaluation', selfEval, 'B'],
    ['a debate', debate, '{"reason": "so", "status": "A"}'],
    ['samples that agree', (options: { model: LanguageModel }) => consistent(options), 'look'],
  ] as const)('is shown by %s with the tools of its notation', async (_name, create, answer) => {
    const model = scriptedModel({ answer: () => answer, capabilities: { n: true, tools: true } });
    const told = { ...request, environment: environmentOf({ ...lookUps, tools: temperature }) };
    await create({ model }).evaluate([nodeWith(2)], told);
    expect(model.requests.length).toBeGreaterThan(0);
    for (const asked of model.requests) {
      expect(asked).toMatchObject({ tools: temperature, toolChoice: 'none' });
    }
  });

  test.each([
    ['a pairwise judge', pairwise, '{"reason": "so", "better": "T"}'],
    ['a critic that ranks', criticRanking, '{"reason": "so", "best": 1}'],
  ] as const)('is shown by %s with the tools of its notation', async (_name, create, answer) => {
    const model = scriptedModel({ answer: () => answer, capabilities: { n: true, tools: true } });
    const told = { ...request, environment: environmentOf({ ...lookUps, tools: temperature }) };
    const tree = new SearchTree<number, string>(1, { environment: 'look-ups', seed: 0 });
    const nodes = tree.add(tree.root, [
      { action: 'look', prior: 0.5 },
      { action: 'wait', prior: 0.5 },
    ]);
    await create({ model }).evaluate(nodes, told);
    expect(model.requests.length).toBeGreaterThan(0);
    for (const asked of model.requests) {
      expect(asked).toMatchObject({ tools: temperature, toolChoice: 'none' });
    }
  });

  test('has no tool called by a Claude that cannot be made to call one, and nothing is said', async () => {
    const { server, model } = await claude('sure');
    const warnings: string[] = [];
    const { signal, clock } = plainContext();
    const warn = ({ message }: { readonly message: string }) => void warnings.push(message);
    const asked = { messages: lookUps.prompt(1), tools: temperature, toolChoice: 'none' } as const;
    await model.generate(asked, { signal, clock, warn });
    expect(server.requests[0]?.body).toMatchObject({ tool_choice: { type: 'none' } });
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('without calling');
    expect(warnings).toEqual([]);
  });
});

const agent: Environment<number, string> = {
  name: 'look-ups',
  reset: () => ({ state: 0 }),
  step: (count) => ({ state: count + 1, ...(count >= 2 && { terminal: true }) }),
  notation: lookUps,
};

// A turn that calls tools may say nothing.
describeEnvironment(
  'whose states hold calls of tools',
  { create: () => agent, actions: (count) => (count < 3 ? ['look'] : []) },
  { describe, test },
);
