import { afterAll, describe, expect, test } from 'vitest';
import { anthropic, openai, openaiCompatible } from '../../src/backends/index.ts';
import { KnownPrompts } from '../../src/calls/known-prompts.ts';
import { imageTokensOf, mostTokensOfPrompt } from '../../src/calls/operations/tokens.ts';
import type { LanguageModel, Message } from '../../src/contracts/language-model.ts';
import {
  type Emulator,
  type EmulatorOptions,
  emulator,
  plainContext,
  scriptedModel,
} from '../../src/testing/index.ts';
import { openGate } from '../calls/harness.ts';
import { adapted, ask as askFake, fake } from './ai-sdk/fake-model.ts';

const cat = { mediaType: 'image/png', base64: 'Y2F0' };
const dog = { mediaType: 'image/jpeg', base64: 'ZG9n' };
const toolCalls = [{ id: 't1', name: 'look', input: {} }];
const tools = [{ name: 'look', input: { type: 'object' } }];
const messages: readonly Message[] = [
  { role: 'user', content: 'What is it?', images: [cat] },
  { role: 'assistant', content: '', toolCalls },
  { role: 'tool', content: 'Seen.', toolCallId: 't1', images: [dog] },
];

const open: Emulator[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

async function served(dialect: EmulatorOptions['dialect']) {
  const models = ['claude-sonnet-5-5', 'gpt-6-luna', 'gpt-4o', 'mine'];
  const server = await emulator({ dialect, models, answer: () => 'A cat.' });
  open.push(server);
  return { server, at: { apiKey: 'key', baseUrl: server.url, retry: false } as const };
}

/** What a server was sent, and what its model saw of it. */
async function shown(dialect: EmulatorOptions['dialect'], make: (at: object) => LanguageModel) {
  const { server, at } = await served(dialect);
  const { completions } = await plainContext().generate(make(at), { messages, tools });
  expect(completions[0]?.text).toBe('A cat.');
  const [request] = server.requests;
  return { body: request?.body, seen: request?.questions[0]?.messages };
}

const imageUrl = (type: string, data: string) => ({
  type: 'image_url',
  image_url: { url: `data:image/${type};base64,${data}` },
});

describe('images of the user and of tools', () => {
  test('are blocks of the Messages API', async () => {
    const { body, seen } = await shown('anthropic', (at) =>
      anthropic({ model: 'claude-sonnet-5-5', cache: false, ...at }),
    );
    const block = (media_type: string, data: string) => ({
      type: 'image',
      source: { type: 'base64', media_type, data },
    });
    expect(body).toMatchObject({
      messages: [
        { content: [block('image/png', 'Y2F0'), { type: 'text', text: 'What is it?' }] },
        {},
        {
          content: [
            {
              ...{ type: 'tool_result', tool_use_id: 't1' },
              content: [block('image/jpeg', 'ZG9n'), { type: 'text', text: 'Seen.' }],
            },
          ],
        },
      ],
    });
    expect(seen?.map(({ images }) => images)).toEqual([[cat], undefined, [dog]]);
  });

  test('are parts of the Responses API', async () => {
    const { body, seen } = await shown('openai', (at) => openai({ model: 'gpt-6-luna', ...at }));
    const part = (image_url: string) => ({ type: 'input_image', detail: 'auto', image_url });
    expect(body).toMatchObject({
      input: [
        {
          content: [
            part('data:image/png;base64,Y2F0'),
            { type: 'input_text', text: 'What is it?' },
          ],
        },
        {},
        {
          type: 'function_call_output',
          output: [part('data:image/jpeg;base64,ZG9n'), { type: 'input_text', text: 'Seen.' }],
        },
      ],
    });
    expect(seen?.map(({ images }) => images)).toEqual([[cat], undefined, [dog]]);
  });

  test.each([
    ['openai', (at: object) => openai({ model: 'gpt-4o', api: 'chat', ...at })],
    [
      'vllm',
      (at: object) =>
        openaiCompatible({
          ...{ preset: 'vllm', model: 'mine', ...at },
          capabilities: { tools: true, images: true },
        }),
    ],
  ] as const)(
    'are parts in chats of %s, those of tools shown by the user',
    async (dialect, make) => {
      const { body, seen } = await shown(dialect, make);
      expect(body).toMatchObject({
        messages: [
          { content: [imageUrl('png', 'Y2F0'), { type: 'text', text: 'What is it?' }] },
          { role: 'assistant' },
          { role: 'tool', content: 'Seen.' },
          { role: 'user', content: [imageUrl('jpeg', 'ZG9n')] },
        ],
      });
      expect(seen?.map(({ images }) => images)).toEqual([[cat], undefined, undefined, [dog]]);
    },
  );
});

describe('images of tools in chats', () => {
  test('stand behind all results in a row', async () => {
    const { server, at } = await served('openai');
    const calls = ['a', 'b'].map((id) => ({ id, name: 'look', input: {} }));
    const turns: readonly Message[] = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: '', toolCalls: calls },
      { role: 'tool', content: '1', toolCallId: 'a', images: [cat] },
      { role: 'tool', content: '2', toolCallId: 'b', images: [dog] },
      { role: 'user', content: 'And?' },
    ];
    const model = openai({ model: 'gpt-4o', api: 'chat', ...at });
    await plainContext().generate(model, { messages: turns, tools });
    expect(server.requests[0]?.body).toMatchObject({
      messages: [
        {},
        {},
        { role: 'tool', content: '1' },
        { role: 'tool', content: '2' },
        { role: 'user', content: [imageUrl('png', 'Y2F0'), imageUrl('jpeg', 'ZG9n')] },
        { role: 'user', content: 'And?' },
      ],
    });
  });
});

describe('images of the user and of tools for the AI SDK', () => {
  test.each([
    ['v2', 'media', 'Y2F0'],
    ['v3', 'file-data', 'Y2F0'],
    ['v4', 'file-data', { type: 'data', data: 'Y2F0' }],
  ])('are files in version %s of the AI SDK', async (version, type, data) => {
    const model = { ...fake(), specificationVersion: version };
    await askFake(adapted(model), { messages, tools });
    expect(model.calls[0]).toMatchObject({
      prompt: [
        {
          content: [
            { type: 'file', mediaType: 'image/png', data },
            { type: 'text', text: 'What is it?' },
          ],
        },
        {},
        {
          content: [
            {
              output: {
                type: 'content',
                value: [
                  { type, mediaType: 'image/jpeg', data: 'ZG9n' },
                  { type: 'text', text: 'Seen.' },
                ],
              },
            },
          ],
        },
      ],
    });
  });
});

describe('a model that is not known to support images', () => {
  test('is not asked, and nothing is reserved for it', async () => {
    const model = scriptedModel({ answer: () => 'a' });
    const { calls, journal, ledger } = openGate({ budget: { tokens: 1000 } });
    await expect(calls.generate(model, { messages })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('is not known to support images'),
    });
    expect(model.requests).toEqual([]);
    expect([...journal.lines].filter(({ type }) => type === 'intent')).toEqual([]);
    expect(ledger.spend).toMatchObject({ calls: 0, tokens: 0 });
  });

  test('is asked where it says that it does', async () => {
    const model = scriptedModel({ answer: () => 'a', capabilities: { images: true } });
    await plainContext().generate(model, { messages });
    // What a tool returned is told by the user, images and all.
    expect(model.requests[0]?.messages.map(({ images }) => images)).toEqual([
      [cat],
      undefined,
      [dog],
    ]);
  });

  test.each([
    [{ role: 'assistant', content: '', images: [cat] }, 'messages[0].images'],
    [{ role: 'user', content: '', images: [{ mediaType: 'image/png' }] }, 'images[0].base64'],
    [{ role: 'user', content: '', images: [{ ...cat, url: '' }] }, 'url'],
    [{ role: 'assistant', content: '', original: { data: 1 } }, 'original.provider'],
  ])('refuses %j', async (message, said) => {
    const model = scriptedModel({ answer: () => 'a', capabilities: { images: true } });
    const asked = plainContext().generate(model, { messages: [message as never] });
    await expect(asked).rejects.toThrow(said);
  });
});

describe('the most tokens of an image', () => {
  test.each([
    [{ provider: 'anthropic', modelId: 'claude-sonnet-5-5' }, 4784],
    // 10,000 patches, each of which counts 1.62.
    [{ provider: 'openai', modelId: 'gpt-6-luna' }, 16_200],
    // 2833, and 5667 for each of 8 tiles.
    [{ provider: 'openai', modelId: 'gpt-4o-mini-2024-07-18' }, 48_169],
    [{ provider: 'vllm', modelId: 'Qwen/Qwen3-VL' }, 16_384],
  ])('for %j are %d', (payee, tokens) => {
    expect(imageTokensOf(payee)).toBe(tokens);
  });

  test('are reserved for each one, and what a turn was told as by its bytes', async () => {
    const scripted = scriptedModel({ answer: () => 'a', capabilities: { images: true } });
    const model = { ...scripted, provider: 'anthropic', modelId: 'claude' };
    const { calls, journal } = openGate({ budget: { tokens: 20_000 } });
    const turns = [
      { role: 'user', content: 'Hi', images: [cat, dog] },
      { role: 'assistant', content: 'Oh', original: { provider: 'x', data: ['sealed'] } },
    ] as const;
    await calls.generate(model, { messages: turns, maxTokens: 10 });
    const reserved = [...journal.lines].flatMap((line) =>
      line.type === 'intent' ? [line.reserved.tokens] : [],
    );
    // 16 for the prompt; 2 and 16 and two images; 2 and 16 and `["sealed"]`; and the answer.
    expect(reserved).toEqual([16 + (2 + 16 + 2 * 4784) + (2 + 16 + 10) + 10]);
    expect(mostTokensOfPrompt({ messages: turns, imageTokens: 1 })).toBe(16 + 18 + 2 + 28);
  });

  test('are not left to servers that count texts', async () => {
    const { server, at } = await served('vllm');
    const capabilities = { images: true };
    const model = openaiCompatible({ preset: 'vllm', model: 'mine', capabilities, ...at });
    const asked = { messages: [{ role: 'user', content: 'Hi', images: [cat] }] } as const;
    const { calls, journal } = openGate({ budget: { tokens: 20_000 } });
    await calls.generate(model, { ...asked, maxTokens: 10 });
    const reserved = [...journal.lines].flatMap((line) =>
      line.type === 'intent' && line.kind === 'generate' ? [line.reserved.tokens] : [],
    );
    expect(reserved).toEqual([16 + 2 + 16 + 16_384 + 10]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });

  test('bound a prompt that goes on from a known one', () => {
    const known = new KnownPrompts();
    const before = [{ content: 'Go.', images: [cat] }];
    known.of('m', { messages: before, imageTokens: 100 }).learn(40);
    const { most } = known.of('m', {
      messages: [...before, { content: 'On', images: [dog] }],
      imageTokens: 100,
    });
    // 40 are known; the new image is 100 at most and the bytes of its address, with what parts turns.
    expect(most).toBeGreaterThanOrEqual(40 + 100 + 2);
    expect(most).toBeLessThan(40 + 100 + 2 + 43 + 10 + 3 * 16);
  });
});
