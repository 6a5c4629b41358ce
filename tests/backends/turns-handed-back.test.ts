import { afterAll, describe, expect, test } from 'vitest';
import {
  anthropic,
  openai,
  openaiCompatible,
  type ServerPreset,
} from '../../src/backends/index.ts';
import { withCache } from '../../src/calls/index.ts';
import type { LanguageModel, Message } from '../../src/contracts/language-model.ts';
import { type Emulator, emulator, plainContext, scriptedModel } from '../../src/testing/index.ts';
import { adapted, answer, ask, fake } from './ai-sdk/fake-model.ts';
import { ask as askClaude, message, modelOn, stub } from './anthropic/messages-server.ts';
import { notedCall, stubFetch } from './transport/stub-fetch.ts';

const toolCalls = [{ id: 't1', name: 'look', input: { a: 1 } }];
const said = { role: 'assistant', content: 'I look.', toolCalls } as const;
const conversation = (turn: Message): readonly Message[] => [
  { role: 'user', content: 'Go.' },
  turn,
  { role: 'tool', content: '3', toolCallId: 't1' },
];
const tools = [{ name: 'look', input: { type: 'object' } }];

const open: Emulator[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

describe('a turn of the Messages API', () => {
  const data = [
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'redacted_thinking', data: 'z' },
    { type: 'text', text: 'I look.', citations: null },
    { type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } },
  ];

  test('goes back as it came', async () => {
    const original = { provider: 'anthropic', data };
    const server = stub();
    const turn = { ...said, original };
    await askClaude(modelOn(server, { cache: false }), { messages: conversation(turn), tools });
    expect(server.seen[0]?.body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      { role: 'assistant', content: data },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: '3' }] },
    ]);
  });

  test('is marked for the cache behind what was thought only', async () => {
    const server = stub();
    const original = { provider: 'anthropic', data: data.slice(0, 2) };
    const turn = { role: 'assistant', content: '', original } as const;
    await askClaude(modelOn(server), {
      messages: [{ role: 'user', content: 'Go.' }, turn, { role: 'user', content: 'On.' }],
    });
    expect(server.seen[0]?.body['messages']).toMatchObject([{}, { content: data.slice(0, 2) }, {}]);
    expect(JSON.stringify(server.seen[0]?.body['messages'])).not.toMatch(/"z","cache_control"/);
  });

  test('of another provider is told anew', async () => {
    const server = stub();
    const turn = { ...said, original: { provider: 'openai', data: [{ type: 'reasoning' }] } };
    await askClaude(modelOn(server, { cache: false }), { messages: conversation(turn), tools });
    expect(server.seen[0]?.body).toMatchObject({
      messages: [
        {},
        {
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } },
          ],
        },
        {},
      ],
    });
  });

  test('that is text and calls is nothing to hand back', async () => {
    const content = [{ type: 'text', text: 'Yes.', citations: null }];
    const { generation } = await askClaude(modelOn(stub(message('', { content }))));
    expect(generation.completions[0]).toEqual({ text: 'Yes.', finishReason: 'stop' });
  });

  test('that begins the answer is no turn of tools, and said anew', async () => {
    const server = stub();
    const model = modelOn(server, { model: 'claude-haiku-4-5' });
    const original = { provider: 'anthropic', data: data.slice(0, 3) };
    const begun = { role: 'assistant', content: 'I look', original } as const;
    await askClaude(model, { messages: [{ role: 'user', content: 'Go.' }, begun] });
    expect(server.seen[0]?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: 'I look' }] },
    ]);
  });
});

describe('an emulated server', () => {
  async function served(dialect: 'anthropic' | 'openai') {
    const models = ['claude-sonnet-5-5', 'gpt-6-luna'];
    const server = await emulator({
      dialect,
      models,
      answer: () => ({ reasoning: 'Hm.', toolCalls: [{ name: 'look', input: { a: 1 } }] }),
    });
    open.push(server);
    const at = { apiKey: 'key', baseUrl: server.url, retry: false } as const;
    return dialect === 'anthropic'
      ? anthropic({ model: 'claude-sonnet-5-5', thinking: { type: 'adaptive' }, ...at })
      : openai({ model: 'gpt-6-luna', ...at });
  }

  async function firstTurn(model: LanguageModel) {
    const messages = [{ role: 'user', content: 'Go.' }] as const;
    const { completions } = await plainContext().generate(model, { messages, tools });
    const { text = '', toolCalls: calls = [], original } = completions[0] ?? {};
    if (original === undefined) throw new Error('It thought, and told nothing to hand back.');
    const again = (turn: Partial<Message>) =>
      plainContext().generate(model, {
        messages: [
          ...messages,
          { role: 'assistant', content: text, toolCalls: calls, ...turn },
          { role: 'tool', content: '3', toolCallId: calls[0]?.id ?? '' },
        ],
        tools,
      });
    return { original, again };
  }

  test.each(['anthropic', 'openai'] as const)('of %s takes its own turn', async (dialect) => {
    const { original, again } = await firstTurn(await served(dialect));
    expect((await again({ original })).completions).toHaveLength(1);
  });

  test('of Anthropic refuses a call without the thoughts before it, and changed ones', async () => {
    const { original, again } = await firstTurn(await served('anthropic'));
    await expect(again({})).rejects.toThrow('Expected `thinking` or `redacted_thinking`');
    const [thought, ...others] = original.data as readonly object[];
    const changed = { ...original, data: [{ ...thought, thinking: 'Ha.' }, ...others] as never };
    // Left out then, and refused for that.
    await expect(again({ original: changed })).rejects.toThrow('Expected `thinking`');
  });

  test('of OpenAI refuses a call without the thoughts before it, and unsealed ones', async () => {
    const { original, again } = await firstTurn(await served('openai'));
    const [thought, ...others] = original.data as readonly object[];
    const turn = (data: readonly object[]) => ({ original: { ...original, data: data as never } });
    await expect(again(turn(others))).rejects.toThrow("without its required 'reasoning' item");
    const { encrypted_content: _, ...bare } = thought as { encrypted_content: string };
    await expect(again(turn([bare, ...others]))).rejects.toThrow('not persisted');
    const forged = { ...thought, encrypted_content: 'x' };
    await expect(again(turn([forged, ...others]))).rejects.toThrow('could not be verified');
    await expect(again(turn(thought === undefined ? [] : [thought]))).rejects.toThrow(
      'without its required following item',
    );
    // Told anew it names no item, and needs none.
    expect((await again({})).completions).toHaveLength(1);
  });
});

describe('a turn of Chat Completions', () => {
  const called = [
    { id: 't1', type: 'function', function: { name: 'look', arguments: '{ "a": 1 }' } },
  ];
  const signed = called.map((call) => ({
    ...call,
    extra_content: { google: { thought_signature: 's' } },
  }));
  const details = [{ type: 'reasoning.encrypted', data: 'z', index: 0 }];
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'I look.' },
  ];

  /** Asks a provider that answers with a message; then hands back what it told. */
  async function handedBack(preset: ServerPreset, message: object, turn: Partial<Message> = {}) {
    const { fetch, requests } = stubFetch({
      json: { choices: [{ message, finish_reason: 'tool_calls' }] },
    });
    const baseUrl = 'https://host.example/v1';
    const reached = { baseUrl, model: 'm-1', apiKey: 'some-key', fetch };
    const model = openaiCompatible({ preset, ...reached });
    const go = { messages: [{ role: 'user', content: 'Go.' }], tools } as const;
    const { completions } = await model.generate(go, notedCall());
    const { original } = completions[0] ?? {};
    const told = { ...said, ...(original && { original }), ...turn };
    await model.generate({ messages: conversation(told), tools }, notedCall());
    const { messages = [] } = (requests[1]?.body ?? {}) as { messages?: readonly object[] };
    return { original, turn: messages[1] };
  }

  const plain = { role: 'assistant', content: 'I look.', tool_calls: called };
  const anew = [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }];

  test.each<[ServerPreset, object, object]>([
    ['deepseek', { reasoning_content: 'Hm.' }, { reasoning_content: 'Hm.' }],
    ['deepseek', {}, { reasoning_content: '' }],
    [
      'openrouter',
      { reasoning: 'Hm.', reasoning_details: details },
      { reasoning_details: details },
    ],
    ['gemini', { tool_calls: signed }, { tool_calls: signed }],
    ['vertex', { tool_calls: signed }, { tool_calls: signed }],
    ['mistral', { content: parts }, { content: parts }],
  ])('of %s goes back with %j', async (preset, told, data) => {
    const { original, turn } = await handedBack(preset, { ...plain, ...told });
    expect(original).toEqual({ provider: preset, data });
    expect(turn).toEqual({ role: 'assistant', content: 'I look.', tool_calls: anew, ...data });
  });

  test('of Gemini names each call as what it returned is named', async () => {
    const unnamed = signed.map(({ id: _, ...call }) => call);
    const { original } = await handedBack('gemini', { ...plain, tool_calls: unnamed });
    expect(original?.data).toEqual({ tool_calls: [{ ...unnamed[0], id: 'call_0' }] });
  });

  test.each(['openrouter', 'gemini', 'mistral', 'groq', 'vllm'] as const)(
    'of %s that is text and calls is nothing to hand back',
    async (preset) => {
      const { original } = await handedBack(preset, { ...plain, reasoning: 'Hm.' });
      expect(original).toBeUndefined();
    },
  );

  test('that calls no tool is nothing to hand back', async () => {
    const message = { content: 'Yes.', reasoning_details: details, reasoning_content: 'Hm.' };
    for (const preset of ['openrouter', 'deepseek'] as const) {
      expect((await handedBack(preset, message)).original).toBeUndefined();
    }
  });

  test('of another provider is told anew, with what some want in place of thoughts', async () => {
    const original = { provider: 'openrouter', data: { reasoning_details: details } };
    const turn = { role: 'assistant', content: 'I look.', tool_calls: anew };
    const told = async (preset: ServerPreset) =>
      (await handedBack(preset, plain, { original })).turn;
    expect(await told('groq')).toEqual(turn);
    expect(await told('deepseek')).toEqual({ ...turn, reasoning_content: '' });
    const google = { thought_signature: 'skip_thought_signature_validator' };
    const tool_calls = [{ ...anew[0], extra_content: { google } }];
    expect(await told('gemini')).toEqual({ ...turn, tool_calls });
  });
});

test('a text of the Responses API says again in which phase it was written', async () => {
  const output = [
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', phase: 'commentary' },
      content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 't1', name: 'look', arguments: '{"a":1}' },
  ];
  const { fetch, requests } = stubFetch({ json: { status: 'completed', output } });
  const model = openai({ model: 'gpt-6-luna', apiKey: 'some-key', fetch });
  const go = { messages: [{ role: 'user', content: 'Go.' }], tools } as const;
  const { completions } = await model.generate(go, notedCall());
  const { original } = completions[0] ?? {};
  expect(original).toEqual({ provider: 'openai', data: output });
  const turn = { ...said, ...(original && { original }) };
  await model.generate({ messages: conversation(turn), tools }, notedCall());
  expect(requests[1]?.body).toMatchObject({ input: [{}, ...output, {}] });
});

describe('a turn of the AI SDK', () => {
  const content = [
    { type: 'reasoning', text: 'Hm.', providerMetadata: { acme: { signature: 's' } } },
    { type: 'text', text: 'I look.' },
    { type: 'source', sourceType: 'url', id: '1', url: 'https://example.com' },
    {
      ...{ type: 'tool-call', toolCallId: 't1', toolName: 'look', input: '{"a":1}' },
      providerMetadata: { acme: { thoughtSignature: 'x' } },
    },
  ];
  const data = [
    { type: 'reasoning', text: 'Hm.', providerOptions: { acme: { signature: 's' } } },
    { type: 'text', text: 'I look.' },
    {
      ...{ type: 'tool-call', toolCallId: 't1', toolName: 'look', input: { a: 1 } },
      providerOptions: { acme: { thoughtSignature: 'x' } },
    },
  ];

  test('goes back with the data that its provider put to it', async () => {
    const model = fake(answer('', { content }));
    const { generation } = await ask(adapted(model));
    const { original, ...told } = generation.completions[0] ?? {};
    expect(told).toMatchObject({ text: 'I look.', reasoning: 'Hm.', toolCalls });
    expect(original).toEqual({ provider: 'acme.chat', data });

    await ask(adapted(model), {
      messages: conversation({ ...said, ...(original && { original }) }),
    });
    expect(model.calls[1]).toMatchObject({
      prompt: [{}, { role: 'assistant', content: data }, {}],
    });
  });

  test('without such data is nothing to hand back', async () => {
    const model = fake(answer('', { content: content.slice(1, 3) }));
    const { generation } = await ask(adapted(model));
    expect(generation.completions[0]).not.toHaveProperty('original');
  });
});

test('a cache keeps a turn as it was told', async () => {
  const original = { provider: 'scripted', data: [{ sealed: true }] };
  const entries = new Map<string, unknown>();
  const store = {
    get: async (key: string) => entries.get(key) as never,
    set: async (key: string, value: unknown) => void entries.set(key, structuredClone(value)),
  };
  const inner = scriptedModel({ answer: () => ({ text: 'a', original }) });
  const request = { messages: [{ role: 'user', content: 'Go.' }] } as const;
  await plainContext().generate(withCache({ store })(inner), request);
  const { completions } = await plainContext().generate(withCache({ store })(inner), request);
  expect(inner.requests).toHaveLength(1);
  expect(completions[0]?.original).toEqual(original);
});
