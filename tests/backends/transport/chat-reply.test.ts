import { describe, expect, test } from 'vitest';
import { readChatReply } from '../../../src/backends/transport/chat-reply.ts';
import type { GenerateRequest } from '../../../src/index.ts';

const { signal } = new AbortController();
const context = { provider: 'maker', modelId: 'm', signal };
const messages = [{ role: 'user', content: 'Hi' }] as const;

function read(body: unknown, request: Partial<GenerateRequest> = {}) {
  const warnings: string[] = [];
  const generation = readChatReply(body, {
    request: { messages, ...request },
    context,
    warn: (about, message) => void warnings.push(`${about}: ${message}`),
  });
  return { ...generation, warnings };
}

/** The only completion of a reply with this message. */
function completionOf(
  message: unknown,
  finish: unknown = 'stop',
  request: Partial<GenerateRequest> = {},
) {
  const { completions, warnings } = read(
    { choices: [{ index: 0, message, finish_reason: finish }] },
    request,
  );
  return { ...completions[0], warnings };
}

describe('a chat reply', () => {
  test('is read in the order of its choices, with usage and names', () => {
    expect(
      read({
        id: 'chatcmpl-9',
        model: 'm-2026',
        choices: [
          { index: 1, message: { content: 'second' }, finish_reason: 'length' },
          { index: 0, message: { content: 'first' }, finish_reason: 'stop' },
        ],
        usage: {
          prompt_tokens: 12,
          completion_tokens: 7,
          prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      }),
    ).toEqual({
      completions: [
        { text: 'first', finishReason: 'stop' },
        { text: 'second', finishReason: 'length' },
      ],
      usage: {
        inputTokens: 12,
        outputTokens: 7,
        cachedTokens: 8,
        cacheWriteTokens: 2,
        reasoningTokens: 3,
      },
      answeredBy: 'm-2026',
      requestId: 'chatcmpl-9',
      warnings: [],
    });
  });

  test('leaves out of the usage what is no number, and judges none', () => {
    const choices = [{ message: { content: 'a' } }];
    expect(read({ choices }).usage).toEqual({});
    expect(read({ choices, usage: null }).usage).toEqual({});
    const usage = { prompt_tokens: -1, completion_tokens: 1.5, prompt_tokens_details: null };
    expect(read({ choices, usage }).usage).toEqual({ inputTokens: -1, outputTokens: 1.5 });
  });

  test.each([
    ['stop', 'stop'],
    ['eos_token', 'stop'],
    ['length', 'length'],
    ['content_filter', 'refusal'],
    ['abort', 'other'],
    [null, 'other'],
    [undefined, 'other'],
  ])('that ends with %s ends with %s', (told, expected) => {
    // A parameter that is left out takes its default.
    const choices = [{ message: { content: 'a' }, finish_reason: told }];
    expect(read({ choices }).completions[0]?.finishReason).toBe(expected);
  });

  test('may hold no text', () => {
    expect(completionOf({ content: null }, 'length')).toMatchObject({
      text: '',
      finishReason: 'length',
    });
  });

  test('may hold its text in parts', () => {
    const content = [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }];
    expect(completionOf({ content }).text).toBe('ab');
  });

  test('tells what was thought, under either name, apart from the text', () => {
    expect(completionOf({ content: 'a', reasoning_content: 'hm' }).reasoning).toBe('hm');
    expect(completionOf({ content: 'a', reasoning: 'ah' }).reasoning).toBe('ah');
    expect(completionOf({ content: 'a', reasoning: '' })).not.toHaveProperty('reasoning');
  });

  test('that declines is a refusal with its words', () => {
    expect(completionOf({ content: null, refusal: 'I will not.' })).toMatchObject({
      text: 'I will not.',
      finishReason: 'refusal',
    });
  });

  test('of the older Completions is read, too', () => {
    const choices = [{ index: 0, text: ' go on', finish_reason: 'stop' }];
    expect(read({ choices }).completions).toEqual([{ text: ' go on', finishReason: 'stop' }]);
  });
});

describe('a chat reply in the wrong shape', () => {
  test.each([
    [null, 'JSON with another structure: it has no `choices`'],
    [[], 'JSON with another structure: it has no `choices`'],
    [{}, 'JSON with another structure: it has no `choices`'],
    [{ choices: {} }, 'JSON with another structure: it has no `choices`'],
    [{ choices: [] }, 'no choice at all'],
    [{ choices: [null] }, 'JSON with another structure: choice 0 has no `message`'],
    [
      { choices: [{ message: { content: 'a' } }, {}] },
      'JSON with another structure: choice 1 has no `message`',
    ],
  ])('%j says what is missing', (body, what) => {
    expect(() => read(body)).toThrow(`maker:m answered with ${what}.`);
  });

  test('that holds an error in spite of its status is that error', () => {
    expect(() => read({ error: { code: 429, message: 'Slow down.' } })).toThrow(
      'maker:m allows no more requests for now (429: Slow down). Lower the concurrency, or wait.',
    );
    expect(() => read({ error: 'Model crashed' })).toThrow(
      'maker:m answered with something that cannot be read (Model crashed).',
    );
  });
});

describe('tool calls of a chat reply', () => {
  const call = (text: unknown, name: unknown = 'add') => ({
    id: 'call_7',
    type: 'function',
    function: { name, arguments: text },
  });

  test('are parsed', () => {
    const message = { content: null, tool_calls: [call('{"a":1}'), call('', 'now')] };
    expect(completionOf(message, 'tool_calls')).toEqual({
      text: '',
      finishReason: 'tool',
      toolCalls: [
        { id: 'call_7', name: 'add', input: { a: 1 } },
        { id: 'call_7', name: 'now', input: {} },
      ],
      warnings: [],
    });
  });

  test('end an answer as such, also where the server says that it just stopped', () => {
    const message = { content: 'Let me see.', tool_calls: [call({ a: 1 })] };
    expect(completionOf(message, 'stop')).toMatchObject({
      finishReason: 'tool',
      toolCalls: [{ input: { a: 1 } }],
    });
  });

  test('with an input that is no JSON are left out, and the answer ends as other', () => {
    const message = { content: 'Hm.', tool_calls: [call('{"a":'), call('{"a":2}')] };
    expect(completionOf(message, 'tool_calls')).toEqual({
      text: 'Hm.',
      finishReason: 'other',
      toolCalls: [{ id: 'call_7', name: 'add', input: { a: 2 } }],
      warnings: ['tools: called a tool with an input that is not JSON: the call is left out.'],
    });
  });

  test('that were cut off are left out, and nothing is said of it', () => {
    expect(completionOf({ content: '', tool_calls: [call('{"a":')] }, 'length')).toEqual({
      text: '',
      finishReason: 'length',
      warnings: [],
    });
  });

  test('without a name of their own get one', () => {
    const message = { content: '', tool_calls: [{ function: { name: 'add', arguments: '{}' } }] };
    expect(completionOf(message).toolCalls?.[0]?.id).toBe('call_0');
  });
});

describe('an answer where a schema was asked for', () => {
  const schema = { type: 'object' };

  test('is taken where it is JSON', () => {
    expect(completionOf({ content: ' {"a": 1}\n' }, 'stop', { schema })).toMatchObject({
      finishReason: 'stop',
      warnings: [],
    });
  });

  test('ends as other where it is none', () => {
    expect(completionOf({ content: 'Sure! {"a": 1}' }, 'stop', { schema })).toMatchObject({
      finishReason: 'other',
      warnings: [
        'schema: wrote no JSON although a schema was requested: such an answer ends as `other`.',
      ],
    });
  });

  test('that was cut off ends as that', () => {
    expect(completionOf({ content: '{"a":' }, 'length', { schema })).toMatchObject({
      finishReason: 'length',
      warnings: [],
    });
  });

  test('is read together with its beginning', () => {
    const begun = [...messages, { role: 'assistant', content: '{"a":' } as const];
    expect(completionOf({ content: ' 1}' }, 'stop', { schema, messages: begun })).toMatchObject({
      text: ' 1}',
      finishReason: 'stop',
    });
  });
});

describe('log-probabilities of a chat reply', () => {
  const told = (...content: readonly unknown[]) => ({
    choices: [{ message: { content: 'ab' }, finish_reason: 'stop', logprobs: { content } }],
  });
  const tops = [
    { token: 'x', logprob: -3 },
    { token: 'a', logprob: -0.5 },
    { token: 'z', logprob: -9999 },
    { token: 'y', logprob: -2 },
  ];

  test('are left out where nobody asked for them', () => {
    expect(read(told({ token: 'a', logprob: -1 })).completions[0]).not.toHaveProperty('logprobs');
  });

  test('are one a token, without alternatives unless they were asked for', () => {
    const reply = told(
      { token: 'a', logprob: -0.5, top_logprobs: tops },
      { token: 'b', logprob: 1e-9 },
    );
    expect(read(reply, { logprobs: true }).completions[0]?.logprobs).toEqual([
      { token: 'a', logprob: -0.5 },
      { token: 'b', logprob: 0 },
    ]);
  });

  test('have as many alternatives as were asked for, likeliest first, the unknown ones left out', () => {
    const reply = told({ token: 'a', logprob: -0.5, top_logprobs: tops });
    expect(read(reply, { topLogprobs: 2 }).completions[0]?.logprobs?.[0]?.top).toEqual([
      { token: 'a', logprob: -0.5 },
      { token: 'y', logprob: -2 },
    ]);
    expect(read(reply, { topLogprobs: 5 }).completions[0]?.logprobs?.[0]?.top).toHaveLength(3);
  });

  test('are left out, with a warning, where that of a written token is unknown', () => {
    const { completions, warnings } = read(
      told({ token: 'a', logprob: -1 }, { token: 'b', logprob: -9999 }),
      { logprobs: true },
    );
    expect(completions[0]).toEqual({ text: 'ab', finishReason: 'stop' });
    expect(warnings).toEqual([
      'logprobs: wrote a token too unlikely to be reported: that answer comes without log-probabilities.',
    ]);
  });

  test('that are not told are warned of', () => {
    const choices = [{ message: { content: 'a' }, logprobs: null }];
    expect(read({ choices }, { logprobs: true }).warnings).toEqual([
      'logprobs: reported no log-probabilities: answers come without them.',
    ]);
  });

  test('of the older Completions are put together', () => {
    const logprobs = {
      tokens: ['a', 'b'],
      token_logprobs: [-1, -2],
      top_logprobs: [{ a: -1, c: -1.5 }, { d: -0.5 }],
    };
    const choices = [{ text: 'ab', logprobs, finish_reason: 'stop' }];
    expect(read({ choices }, { topLogprobs: 1 }).completions[0]?.logprobs).toEqual([
      { token: 'a', logprob: -1, top: [{ token: 'a', logprob: -1 }] },
      { token: 'b', logprob: -2, top: [{ token: 'd', logprob: -0.5 }] },
    ]);
  });
});
