import { afterAll, describe, expect, test } from 'vitest';
import { anthropic, openai, openaiCompatible } from '../../src/backends/index.ts';
import type {
  Capabilities,
  Completion,
  GenerateRequest,
  LanguageModel,
  Message,
} from '../../src/contracts/language-model.ts';
import { SearchTree } from '../../src/index.ts';
import { callTools, fromModel, siblings } from '../../src/policies/index.ts';
import {
  type Emulator,
  type EmulatorOptions,
  emulator,
  plainContext,
  scriptedModel,
} from '../../src/testing/index.ts';
import { noSpend, rootNode } from '../support/nodes.ts';
import { type Shop, type Step, shop, shopNotation, stateAfter, tools } from './shop.ts';

const root = rootNode<Shop, Step>({ turns: [] });
const start = shopNotation.prompt(root.state);
const price = { tool: 'price', input: { thing: 'tea' } };
const asking = (count: number) => ({
  ...{ environment: shop, context: plainContext(), count, offset: 0, remaining: noSpend },
});
const native: Capabilities = { n: true, tools: true, schema: true };
const called = (name: string, input: object, id = 'a'): Completion => ({
  text: '',
  finishReason: 'tool',
  toolCalls: [{ id, name, input: input as never }],
});
const actionsOf = (proposals: readonly object[]) =>
  proposals.map((proposal) => ('action' in proposal ? proposal.action : proposal));

function scripted(
  answer: (request: GenerateRequest, index: number) => string | Completion,
  capabilities: Capabilities = native,
) {
  return scriptedModel({ answer, capabilities });
}

const open: Emulator[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

async function served(dialect: EmulatorOptions['dialect'], answer: EmulatorOptions['answer']) {
  const models = ['claude-sonnet-5-5', 'gpt-6-luna', 'gpt-4o', 'mine'];
  const server = await emulator({ dialect, models, ...(answer && { answer }) });
  open.push(server);
  return server;
}

describe('tools of a notation', () => {
  test('are offered to a model that takes them, and its calls are actions', async () => {
    const model = scripted(() => called('price', { thing: 'tea' }));
    const proposals = await callTools({ model }).propose(root, asking(2));

    expect(model.requests).toEqual([
      {
        ...{ messages: start, samples: 2, offset: 0, maxTokens: 512 },
        ...{ tools, toolChoice: 'required' },
      },
    ]);
    expect(actionsOf(proposals)).toEqual([price, price]);
    expect(proposals[0]).toMatchObject({ completion: { toolCalls: [{ id: 'a' }] } });
  });

  test('are told in words to a model that takes none, which answers in JSON', async () => {
    const model = scripted(() => JSON.stringify(price), { n: true, schema: true });
    const proposals = await callTools({ model }).propose(root, asking(1));

    const [request] = model.requests;
    expect(actionsOf(proposals)).toEqual([price]);
    expect(request).not.toHaveProperty('tools');
    expect(request).not.toHaveProperty('toolChoice');
    expect(request?.schema).toEqual(shopNotation.schema);
    expect(request?.messages).toEqual([
      {
        role: 'system',
        content: [
          'There are tools, each with the JSON schema of its input:',
          `- \`price\`: What a thing costs.: ${JSON.stringify(tools[0].input)}`,
          `- \`answer\`: ${JSON.stringify(tools[1].input)}`,
          '',
          'A call of a tool is JSON: {"tool": "<name>", "input": {…}}',
        ].join('\n'),
      },
      {
        role: 'user',
        content:
          'What is cheaper, tea or milk?\n\nAnswer by calling one of the tools: write the call and nothing else.',
      },
    ]);
  });

  test('lead to the same actions natively, in words, and on every API', async () => {
    const input = { thing: 'tea' };
    const answer: EmulatorOptions['answer'] = () => ({ toolCalls: [{ name: 'price', input }] });
    const inJson = await served('llama-server', () => JSON.stringify(price));
    const [claude, gpt, vllm] = await Promise.all([
      served('anthropic', answer),
      served('openai', answer),
      served('vllm', answer),
    ]);
    const at = (server: Emulator) =>
      ({ apiKey: 'key', baseUrl: server.url, retry: false }) as const;
    const models: readonly LanguageModel[] = [
      anthropic({ model: 'claude-sonnet-5-5', ...at(claude) }),
      openai({ model: 'gpt-4o', api: 'chat', ...at(gpt) }),
      openai({ model: 'gpt-6-luna', ...at(gpt) }),
      openaiCompatible({ preset: 'vllm', model: 'mine', ...at(vllm) }),
      openaiCompatible({ preset: 'llama-server', model: 'mine', ...at(inJson) }),
      scripted(() => JSON.stringify(price), {}),
    ];
    const actions = models.map(async (model) =>
      actionsOf(await callTools({ model }).propose(root, asking(2))),
    );
    expect(await Promise.all(actions)).toEqual(models.map(() => [price, price]));
    // The modern Claude is asked for a call in words, and is offered the tools as they are.
    expect(claude.requests[0]?.body).toMatchObject({
      tools: [{ name: 'price' }, { name: 'answer' }],
      messages: [{ content: [{}, { text: 'Answer by calling one of the tools.' }] }],
    });
  });
});

describe('an answer', () => {
  test('needs no call where it is text', async () => {
    const model = scripted(() => '<think>Tea it is.</think>Tea.');
    const proposals = await callTools({ model }).propose(root, asking(1));
    expect(actionsOf(proposals)).toEqual([{ tool: 'answer', input: { text: 'Tea.' } }]);
  });

  test.each([
    [{ ...called('price', { thing: 'tea' }), finishReason: 'length' }, 'parse', 'cut off'],
    [{ text: 'I must not.', finishReason: 'refusal' }, 'empty', 'refusal'],
    [{ text: '', finishReason: 'stop' }, 'empty', 'no text'],
    [{ text: '', finishReason: 'other' }, 'parse', 'none that can be read'],
    [called('buy', {}), 'parse', 'got `buy`'],
  ] as const)('is no action: %j', async (completion, kind, said) => {
    const model = scripted(() => completion);
    const [proposal] = await callTools({ model, repairs: 0 }).propose(root, asking(1));
    expect(proposal).toMatchObject({ failure: { kind, message: expect.stringContaining(said) } });
  });
});

describe('a repair', () => {
  const wrong: Completion = {
    ...{ text: 'I look.', finishReason: 'tool' },
    toolCalls: [
      { id: 'a', name: 'price', input: {} },
      { id: 'b', name: 'price', input: { thing: 'milk' } },
    ],
    original: { provider: 'scripted', data: ['sealed'] },
  };
  const problem = 'Expected `thing` to be a text. Answer again, in the same form.';

  test('shows what is wrong as the result of each call', async () => {
    const model = scripted(({ messages }) =>
      messages.length === 1 ? wrong : called('price', { thing: 'tea' }, 'c'),
    );
    const proposals = await callTools({ model }).propose(root, asking(1));

    expect(actionsOf(proposals)).toEqual([price]);
    const { text: content, toolCalls, original } = wrong;
    expect(model.requests[1]?.messages).toEqual([
      ...start,
      { role: 'assistant', content, toolCalls, original },
      { role: 'tool', content: problem, toolCallId: 'a' },
      { role: 'tool', content: problem, toolCallId: 'b' },
    ]);
  });

  test('is made once, unless more are wanted', async () => {
    const model = scripted(() => wrong);
    await callTools({ model }).propose(root, asking(1));
    expect(model.requests).toHaveLength(2);
  });

  test('hands the thoughts before the calls back to Claude, which insists on it', async () => {
    const server = await served('anthropic', ({ messages }) => ({
      reasoning: 'Tea costs less.',
      toolCalls: [{ name: 'price', input: messages.length === 1 ? {} : { thing: 'tea' } }],
    }));
    const model = anthropic({
      ...{ model: 'claude-sonnet-5-5', apiKey: 'key', baseUrl: server.url, retry: false },
      thinking: { type: 'adaptive' },
    });
    const proposals = await callTools({ model }).propose(root, asking(1));
    expect(actionsOf(proposals)).toEqual([price]);
    expect(server.requests).toHaveLength(2);
  });
});

describe('what else is told', () => {
  const { toolCalls = [] } = called('price', { thing: 'tea' });
  const turn: Message = { role: 'assistant', content: '', toolCalls };

  test('stands behind the last result', async () => {
    const tree = new SearchTree<Shop, Step>(stateAfter(turn, '3'), {
      environment: 'shop',
      seed: 0,
    });
    tree.add(tree.root, [{ action: price, prior: 1 }]);
    const model = scripted(() => called('answer', { text: 'Tea.' }));
    await callTools({ model, promptParts: [siblings({})] }).propose(tree.root, asking(1));

    const messages = model.requests[0]?.messages ?? [];
    expect(messages.slice(0, 3)).toEqual(shopNotation.prompt(tree.root.state));
    expect(messages).toHaveLength(4);
    expect(messages[3]).toMatchObject({
      role: 'user',
      content: expect.stringContaining('{"tool":"price","input":{"thing":"tea"}}'),
    });
  });

  test('is shown with calls and results as text where a model takes no tools', async () => {
    const model = scripted(() => JSON.stringify(price), {});
    const node = rootNode<Shop, Step>(stateAfter(turn, '3'));
    await callTools({ model }).propose(node, asking(1));
    expect(model.requests[0]?.messages.slice(1)).toEqual([
      start[0],
      { role: 'assistant', content: '{"tool":"price","input":{"thing":"tea"}}' },
      {
        role: 'user',
        content:
          'The tool `price` returned:\n3\n\nAnswer by calling one of the tools: write the call and nothing else.',
      },
    ]);
  });

  test('lists of actions are JSON, with the tools told and none to be called', async () => {
    const model = scripted(() => JSON.stringify({ steps: [price, price] }));
    const policy = fromModel<Shop, Step>({ model, form: 'several' });
    expect(actionsOf(await policy.propose(root, asking(2)))).toEqual([price, price]);
    expect(model.requests[0]).toMatchObject({ tools, toolChoice: 'none' });
    expect(model.requests[0]?.schema).toMatchObject({ properties: { steps: {} } });
  });
});

test('an option that it does not know is refused', () => {
  const model = scripted(() => '');
  expect(() => callTools({ model, form: 'json' } as never)).toThrow('callTools');
});
