import { describe, expect, test } from 'vitest';
import { beginningInWords } from '../../../src/backends/transport/in-words.ts';
import { seedOf } from '../../../src/backends/transport/seeds.ts';
import type { Message } from '../../../src/contracts/language-model.ts';
import { adapted, answer, ask, fake } from './fake-model.ts';

/** How a model was called, without the signal. */
async function calledWith(request: Parameters<typeof ask>[1], options = {}) {
  const model = fake();
  await ask(adapted(model, options), request);
  return model.calls.map(({ abortSignal: _, ...call }) => call);
}

function text(content: string) {
  return { type: 'text', text: content };
}

const why = { role: 'user', content: [text('Why?')] };

describe('a call', () => {
  test('of the least that can be asked', async () => {
    expect(await calledWith({})).toEqual([
      { prompt: [why], maxOutputTokens: 1024, headers: { 'x-espalier-sample': '0' } },
    ]);
  });

  test('of all that can be asked', async () => {
    const schema = { type: 'object' };
    const input = { type: 'object', properties: { a: { type: 'number' } } };
    const providerOptions = { acme: { mood: 'good' } };
    const request = {
      maxTokens: 64,
      offset: 2,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ['END'],
      seed: 7,
      schema,
      tools: [
        { name: 'add', description: 'Adds.', input },
        { name: 'none', input: {} },
      ],
      toolChoice: { name: 'add' },
    } as const;
    expect(await calledWith(request, { providerOptions })).toEqual([
      {
        prompt: [why],
        maxOutputTokens: 64,
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        stopSequences: ['END'],
        seed: seedOf(7, 2),
        responseFormat: { type: 'json', schema, name: 'answer' },
        tools: [
          { type: 'function', name: 'add', description: 'Adds.', inputSchema: input },
          { type: 'function', name: 'none', inputSchema: {} },
        ],
        toolChoice: { type: 'tool', toolName: 'add' },
        headers: { 'x-espalier-sample': '2' },
        providerOptions,
      },
    ]);
  });

  test('that must call any tool', async () => {
    const tools = [{ name: 'add', input: {} }];
    const [required] = await calledWith({ tools, toolChoice: 'required' });
    expect(required?.['toolChoice']).toEqual({ type: 'required' });
    const [auto] = await calledWith({ tools, toolChoice: 'auto' });
    expect(auto?.['toolChoice']).toBeUndefined();
  });

  test('for several samples is one for each, with seeds of their own', async () => {
    const calls = await calledWith({ samples: 3, offset: 1, seed: 5 });
    expect(calls.map(({ seed }) => seed)).toEqual([seedOf(5, 1), seedOf(5, 2), seedOf(5, 3)]);
    expect(calls.map(({ headers }) => headers)).toEqual(
      ['1', '2', '3'].map((sample) => ({ 'x-espalier-sample': sample })),
    );
  });
});

describe('a prompt', () => {
  test('has tool calls and their results, turns of one role as one', async () => {
    const messages: readonly Message[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Add.' },
      { role: 'user', content: 'Quickly.' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: 't1', name: 'add', input: { a: 1 } },
          { id: 't2', name: 'sub', input: { b: 2 } },
        ],
      },
      { role: 'tool', content: '1', toolCallId: 't1' },
      { role: 'tool', content: '2', toolCallId: 't2' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'Sure?' },
    ];
    const [call] = await calledWith({ messages });
    const result = (id: string, toolName: string, value: string) => ({
      type: 'tool-result',
      toolCallId: id,
      toolName,
      output: { type: 'text', value },
    });
    expect(call?.['prompt']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [text('Add.'), text('Quickly.')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 't1', toolName: 'add', input: { a: 1 } },
          { type: 'tool-call', toolCallId: 't2', toolName: 'sub', input: { b: 2 } },
        ],
      },
      { role: 'tool', content: [result('t1', 'add', '1'), result('t2', 'sub', '2')] },
      { role: 'assistant', content: [text('Done.')] },
      { role: 'user', content: [text('Sure?')] },
    ]);
  });

  test('has no result that belongs to no call', async () => {
    const messages: readonly Message[] = [{ role: 'tool', content: '1', toolCallId: 'x' }];
    await expect(ask(adapted(fake()), { messages })).rejects.toThrow(
      'Expected `toolCallId` to be the id of a tool call in an earlier message, got `"x"`.',
    );
  });
});

describe('the beginning of an answer', () => {
  const messages = [
    { role: 'user', content: 'Why?' },
    { role: 'assistant', content: 'Because' },
  ] as const;

  test('is told in the question, and taken off where it is repeated', async () => {
    const model = fake(answer('Because it is.'));
    const { generation, warnings } = await ask(adapted(model), { messages });
    expect(model.calls[0]?.['prompt']).toEqual([
      { role: 'user', content: [text('Why?'), text(`${beginningInWords}\n\nBecause`)] },
    ]);
    expect(generation.completions[0]?.text).toBe(' it is.');
    expect(warnings.map(({ about }) => about)).toEqual(['continuation']);
  });

  test('is the last turn where the model is known to go on from it', async () => {
    const model = fake(answer('Because it is.'));
    const knowing = adapted(model, { capabilities: { continuation: true } });
    const { generation, warnings } = await ask(knowing, { messages });
    expect(model.calls[0]?.['prompt']).toEqual([
      why,
      { role: 'assistant', content: [text('Because')] },
    ]);
    expect(generation.completions[0]?.text).toBe('Because it is.');
    expect(warnings).toEqual([]);
  });

  test('comes after words for a schema that the model is known not to take', async () => {
    const model = fake();
    const capabilities = { continuation: true, schema: false };
    const words = 'Answer with nothing but JSON that satisfies this JSON schema: {"type":"object"}';
    const schema = { type: 'object' };
    const { warnings } = await ask(adapted(model, { capabilities }), { messages, schema });
    expect(model.calls[0]?.['responseFormat']).toBeUndefined();
    expect(model.calls[0]?.['prompt']).toEqual([
      { role: 'user', content: [text('Why?'), text(words)] },
      { role: 'assistant', content: [text('Because')] },
    ]);
    expect(warnings.map(({ about }) => about)).toEqual(['schema']);
  });
});

describe('log-probabilities', () => {
  const told = [
    { token: 'fi', logprob: -0.5, top_logprobs: [{ token: 'fi', logprob: -0.5, bytes: [1] }] },
    { token: 'ne', logprob: -0.25, top_logprobs: [] },
  ];
  const logprobs = [
    { token: 'fi', logprob: -0.5, top: [{ token: 'fi', logprob: -0.5 }] },
    { token: 'ne', logprob: -0.25 },
  ];

  test.each([[told], [[told]]])('come from OpenAI %#', async (list) => {
    const result = answer('fine', { providerMetadata: { openai: { logprobs: list } } });
    const model = { ...fake(result), provider: 'openai.chat' };
    const providerOptions = { openai: { user: 'me' } };
    const { generation, warnings } = await ask(adapted(model, { providerOptions }), {
      topLogprobs: 1,
    });
    expect(model.calls[0]?.['providerOptions']).toEqual({ openai: { user: 'me', logprobs: 1 } });
    expect(generation.completions[0]?.logprobs).toEqual(logprobs);
    expect(warnings).toEqual([]);
  });

  test('that do not come are not asked for again', async () => {
    const model = { ...fake(), provider: 'openai.chat' };
    const asked = adapted(model);
    expect(asked.capabilities.logprobs).toBe(true);
    const { warnings } = await ask(asked, { logprobs: true });
    expect(warnings.map(({ about }) => about)).toEqual(['logprobs']);
    expect(asked.capabilities.logprobs).toBe(false);
    await ask(asked, { logprobs: true });
    expect(model.calls.map((call) => call['providerOptions'])).toEqual([
      { openai: { logprobs: true } },
      undefined,
    ]);
  });

  test('are not asked of others', async () => {
    const model = fake();
    const { warnings } = await ask(adapted(model), { logprobs: true });
    expect(model.calls[0]?.['providerOptions']).toBeUndefined();
    expect(warnings.map(({ about }) => about)).toEqual(['logprobs']);
  });
});
