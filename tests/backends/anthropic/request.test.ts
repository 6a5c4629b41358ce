import { describe, expect, test } from 'vitest';
import { messagesRequest, type RequestSettings } from '../../../src/backends/anthropic/request.ts';
import { beginningInWords } from '../../../src/backends/transport/in-words.ts';
import type { GenerateRequest, Message } from '../../../src/contracts/language-model.ts';
import { user } from './messages-server.ts';

const mark = { type: 'ephemeral' } as const;
const plain: RequestSettings = {
  modelId: 'claude-sonnet-5-5',
  thinking: undefined,
  effort: undefined,
  mark: undefined,
};

/** The body for a request to a model that honours all but what is named. */
function bodyOf(request: GenerateRequest, without: readonly string[] = [], settings = plain) {
  return messagesRequest(request, settings, { refuses: (what) => without.includes(what) }).body;
}

/** The turns, with marks for the cache. */
function marked(messages: readonly Message[], without: readonly string[] = []) {
  return bodyOf({ messages }, without, { ...plain, mark }).messages;
}

function text(content: string) {
  return { type: 'text', text: content };
}

describe('a body', () => {
  test('of the least that can be asked', () => {
    expect(bodyOf({ messages: [user('Why?')] })).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 1024,
      messages: [{ role: 'user', content: [text('Why?')] }],
    });
  });

  test('of all that can be asked', () => {
    const schema = { type: 'object', properties: { step: { type: 'string' } } };
    const input = { type: 'object', properties: { a: { type: 'number' } } };
    const body = bodyOf(
      {
        messages: [{ role: 'system', content: 'Be brief.' }, user('Why?')],
        maxTokens: 64,
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        stop: ['END', '\n\n'],
        schema,
        tools: [
          { name: 'add', description: 'Adds.', input },
          { name: 'none', input: {} },
        ],
        toolChoice: { name: 'add' },
        seed: 3,
        logprobs: true,
      },
      [],
      { ...plain, effort: 'low', thinking: { type: 'adaptive' } },
    );
    expect(body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 64,
      system: [text('Be brief.')],
      messages: [{ role: 'user', content: [text('Why?')] }],
      tools: [
        { name: 'add', description: 'Adds.', input_schema: input },
        { name: 'none', input_schema: {} },
      ],
      tool_choice: { type: 'tool', name: 'add' },
      stop_sequences: ['END'],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      thinking: { type: 'adaptive' },
      output_config: {
        effort: 'low',
        format: {
          type: 'json_schema',
          schema: { ...schema, additionalProperties: false },
        },
      },
    });
  });
});

describe('a body about tools and limits', () => {
  test('that calls any tool', () => {
    const tools = [{ name: 'add', input: {} }];
    const messages = [user('Why?')];
    const body = bodyOf({ messages, tools, toolChoice: 'required' });
    expect(body.tool_choice).toEqual({ type: 'any' });
    expect(bodyOf({ messages, tools, toolChoice: 'auto' }).tool_choice).toBeUndefined();
  });

  test('without what the model does not honour', () => {
    const schema = { type: 'object' };
    const body = bodyOf(
      {
        messages: [user('Why?')],
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        stop: ['END'],
        schema,
        tools: [{ name: 'add', input: {} }],
        toolChoice: { name: 'add' },
      },
      ['temperature', 'topP', 'topK', 'stop', 'schema', 'toolChoice'],
    );
    expect(body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 1024,
      messages: [
        {
          role: 'user',
          content: [
            text('Why?'),
            text('Answer with nothing but JSON that satisfies this JSON schema: {"type":"object"}'),
            text('Answer by calling the tool `add`.'),
          ],
        },
      ],
      tools: [{ name: 'add', input_schema: {} }],
    });
  });
});

describe('a conversation', () => {
  test('has its system messages before it, turns of one role as one, and no empty text', () => {
    const body = bodyOf({
      messages: [
        { role: 'system', content: 'One.' },
        user('a'),
        user(' \n'),
        { role: 'system', content: 'Two.' },
        user('b'),
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        user('e'),
      ],
    });
    expect(body.system).toEqual([text('One.'), text('Two.')]);
    expect(body.messages).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
      { role: 'user', content: [text('e')] },
    ]);
  });
});

describe('a conversation with tools', () => {
  test('has the results of tools in one turn of the user, with what the user says next', () => {
    const body = bodyOf({
      messages: [
        user('Add.'),
        {
          role: 'assistant',
          content: '',
          toolCalls: [
            { id: 't1', name: 'add', input: { a: 1 } },
            { id: 't2', name: 'add', input: { a: 2 } },
          ],
        },
        { role: 'tool', content: '1', toolCallId: 't1' },
        { role: 'tool', content: '', toolCallId: 't2' },
        user('And now?'),
      ],
    });
    expect(body.messages).toEqual([
      { role: 'user', content: [text('Add.')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
          { type: 'tool_use', id: 't2', name: 'add', input: { a: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: '1' },
          { type: 'tool_result', tool_use_id: 't2', content: '' },
          text('And now?'),
        ],
      },
    ]);
  });

  test.each<[string, readonly Message[], string]>([
    [
      'nobody says anything',
      [{ role: 'system', content: 'Be brief.' }],
      'Expected `messages` to be a conversation in which the user says something, got an array of 1.',
    ],
    [
      'a result belongs to no call',
      [user('Add.'), { role: 'tool', content: '1' }],
      'Expected `toolCallId` to be the id of a tool call, in a message of a tool, got `undefined`.',
    ],
    [
      'a call has no result',
      [
        user('Add.'),
        { role: 'assistant', content: '', toolCalls: [{ id: 't', name: 'a', input: {} }] },
      ],
      'Expected `messages` to answer the tool calls of the last turn, got nothing after it.',
    ],
  ])('is refused where %s', (_name, messages, sentence) => {
    expect(() => bodyOf({ messages })).toThrow(sentence);
  });
});

describe('the beginning of an answer', () => {
  const messages = [user('Why?'), { role: 'assistant', content: 'First.\n\nThen.\n' }] as const;

  test('is the last turn where the model goes on from it, without white space at its end', () => {
    const prepared = messagesRequest({ messages }, plain, { refuses: () => false });
    expect(prepared.body.messages).toEqual([
      { role: 'user', content: [text('Why?')] },
      { role: 'assistant', content: [text('First.\n\nThen.')] },
    ]);
    expect(prepared.beginning).toBe('First.\n\nThen.');
  });

  test('is told in the question where it does not, a block a line', () => {
    expect(bodyOf({ messages }, ['continuation']).messages).toEqual([
      {
        role: 'user',
        content: [text('Why?'), text(beginningInWords), text('First.'), text('\n\nThen.')],
      },
    ]);
  });

  test('stands in a question of its own where there is none', () => {
    const [, last] = messages;
    expect(bodyOf({ messages: [last] }, ['continuation']).messages).toEqual([
      { role: 'user', content: [text(beginningInWords), text('First.'), text('\n\nThen.')] },
    ]);
  });
});

describe('the beginning of an answer, beside other things,', () => {
  const messages = [user('Why?'), { role: 'assistant', content: 'First.\n\nThen.\n' }] as const;

  test('comes after words for a schema, in the turn before it', () => {
    const schema = true;
    const words = 'Answer with nothing but JSON that satisfies this JSON schema: true';
    expect(bodyOf({ messages, schema }, ['schema']).messages).toEqual([
      { role: 'user', content: [text('Why?'), text(words)] },
      { role: 'assistant', content: [text('First.\n\nThen.')] },
    ]);
    expect(bodyOf({ messages, schema }, ['schema', 'continuation']).messages).toEqual([
      {
        role: 'user',
        content: [
          text('Why?'),
          text(words),
          text(beginningInWords),
          text('First.'),
          text('\n\nThen.'),
        ],
      },
    ]);
  });

  test('that is empty is none', () => {
    const empty = [user('Why?'), { role: 'assistant', content: '' }] as const;
    expect(bodyOf({ messages: empty }).messages).toEqual([
      { role: 'user', content: [text('Why?')] },
    ]);
  });

  test('of a node has the blocks of its parent first', () => {
    const blocksOf = (content: string) =>
      bodyOf({ messages: [user('Why?'), { role: 'assistant', content }] }, ['continuation'])
        .messages[0]?.content ?? [];
    const parent = blocksOf('One.\n  indented\n\nTwo.');
    const child = blocksOf('One.\n  indented\n\nTwo.\nThree.\n');
    expect(parent).toHaveLength(4);
    expect(child.slice(0, 4)).toEqual(parent);
    expect(child.slice(4)).toEqual([text('\nThree.')]);
  });
});

describe('the marks for the cache', () => {
  test('are after tools, system, the turns before the last, and the last', () => {
    const body = bodyOf(
      {
        messages: [
          { role: 'system', content: 'One.' },
          { role: 'system', content: 'Two.' },
          user('a'),
          { role: 'assistant', content: 'b' },
          user('c'),
        ],
        tools: [
          { name: 'add', input: {} },
          { name: 'sub', input: {} },
        ],
      },
      [],
      { ...plain, mark: { type: 'ephemeral', ttl: '1h' } },
    );
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect(body.tools).toEqual([
      { name: 'add', input_schema: {} },
      { name: 'sub', input_schema: {}, ...hour },
    ]);
    expect(body.system).toEqual([text('One.'), { ...text('Two.'), ...hour }]);
    expect(body.messages).toEqual([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [{ ...text('b'), ...hour }] },
      { role: 'user', content: [{ ...text('c'), ...hour }] },
    ]);
  });

  test('are behind pieces of one turn, too, but not behind what is for one request', () => {
    const hot = (said: string) => ({ ...text(said), cache_control: mark });
    expect(marked([user('a'), user('b')])).toEqual([
      { role: 'user', content: [hot('a'), hot('b')] },
    ]);
    const content = 'Problem. One. \n Two. Go on.';
    const ends = [8, 13, 15, 20];
    expect(marked([{ role: 'user', content, prefixEnds: ends }])).toEqual([
      { role: 'user', content: [text('Problem.'), hot(' One.'), hot(' \n Two.'), text(' Go on.')] },
    ]);
    expect(marked([user('a'), { role: 'user', content: 'Judge.', prefixEnds: [0] }])).toEqual([
      { role: 'user', content: [hot('a'), text('Judge.')] },
    ]);
    expect(marked([{ role: 'user', content: 'Alone.', prefixEnds: [0] }])).toEqual([
      { role: 'user', content: [text('Alone.')] },
    ]);
  });

  test('are before and after the beginning of an answer, either way', () => {
    const messages: readonly Message[] = [
      user('a'),
      { role: 'assistant', content: 'b' },
      user('c'),
      { role: 'assistant', content: 'One.\nTwo.' },
    ];
    expect(marked(messages)).toEqual([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      { role: 'user', content: [{ ...text('c'), cache_control: mark }] },
      { role: 'assistant', content: [{ ...text('One.\nTwo.'), cache_control: mark }] },
    ]);
    expect(marked(messages, ['continuation'])).toEqual([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      {
        role: 'user',
        content: [
          text('c'),
          text(beginningInWords),
          { ...text('One.'), cache_control: mark },
          { ...text('\nTwo.'), cache_control: mark },
        ],
      },
    ]);
  });

  test('are none where nothing is to be cached', () => {
    const body = bodyOf({
      messages: [{ role: 'system', content: 'One.' }, user('a')],
      tools: [{ name: 'add', input: {} }],
    });
    expect(JSON.stringify(body)).not.toContain('cache_control');
  });
});
