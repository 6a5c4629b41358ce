import { afterAll, describe, expect, test } from 'vitest';
import { type TinyModel, type TinyOptions, tiny } from '../../../src/backends/tiny/index.ts';
import type { GenerateRequest } from '../../../src/index.ts';
import { plainContext } from '../../../src/testing/index.ts';
import { randomLlama } from '../../support/random-llama.ts';
import { modelFolder } from '../../support/random-model.ts';

const folder = modelFolder();
const file = folder.write('random.gguf');
const messages = [{ role: 'user' as const, content: 'Say something.' }];

afterAll(() => folder[Symbol.dispose]());

function open(options: TinyOptions = {}): TinyModel {
  return tiny({ model: file, thread: false, ...options });
}

function ask(model: TinyModel, request: Partial<GenerateRequest> = {}, signal?: AbortSignal) {
  const context = plainContext(signal === undefined ? {} : { signal });
  return context.generate(model, { messages, maxTokens: 16, ...request });
}

describe('tiny', () => {
  test('writes the same in a thread as without one', async () => {
    await using threaded = open({ thread: true });
    await using local = open();
    for (const request of [
      { samples: 3, logprobs: true, topLogprobs: 3, seed: 5 },
      { temperature: 0.7, topK: 20, topP: 0.9, offset: 4 },
      { temperature: 0, stop: ['e'] },
    ]) {
      expect(await ask(threaded, request)).toEqual(await ask(local, request));
    }
  });

  test('writes the same whatever fits into its cache', async () => {
    await using roomy = open();
    await using tight = open({ cacheBytes: 80_000, batch: 4 });
    const request = { samples: 6, maxTokens: 24 };
    expect(await ask(tight, request)).toEqual(await ask(roomy, request));
    expect((await tight.stats()).evicted).toBeGreaterThan(0);
  });

  test('takes its own seed where a request has none', async () => {
    await using model = open({ seed: 3 });
    await using other = open();
    const own = await ask(model);
    expect(await ask(other, { seed: 3 })).toEqual(own);
    expect(await ask(other)).not.toEqual(own);
    expect(await ask(other)).toEqual(await ask(other, { seed: 0 }));
  });

  test('reads once what texts have in common', async () => {
    await using model = open();
    expect((await model.stats()).computed).toBe(0);
    const first = await ask(model);
    const before = await model.stats();
    expect(before).toMatchObject({ requests: 1, sampled: first.usage.outputTokens });
    expect(before.seconds).toBeGreaterThan(0);
    await ask(model);
    expect(await model.stats()).toMatchObject({ requests: 2, computed: before.computed });
  });

  test('goes on from a partial answer', async () => {
    await using model = open();
    const partial = (content: string) => [...messages, { role: 'assistant' as const, content }];
    // An answer that has not begun is no different from none.
    expect(await ask(model, { messages: partial('') })).toEqual(await ask(model));
    expect(await ask(model, { messages: partial('so') })).not.toEqual(await ask(model));
  });

  test('names itself after its file', () => {
    expect(tiny()).toMatchObject({ provider: 'tiny', modelId: 'espalier-tiny' });
    expect(open()).toMatchObject({ provider: 'tiny', modelId: 'random.gguf' });
  });
});

test('tools, their calls and what they returned are told in words', async () => {
  await using model = open();
  const toolCalls = [{ id: 'c', name: 'add', input: 1 }];
  const called = await ask(model, {
    messages: [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: '', toolCalls },
      { role: 'tool', content: '3', toolCallId: 'c' },
    ],
  });
  const said = await ask(model, {
    messages: [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: '{"tool":"add","input":1}' },
      { role: 'user', content: 'The tool `add` returned:\n3' },
    ],
  });
  expect(called).toEqual(said);
});

describe('what cannot be done', () => {
  test('is said in a sentence for each request, until it can', async () => {
    const path = folder.path('late.gguf');
    await using model = open({ model: path });
    await expect(ask(model)).rejects.toThrow('late.gguf');
    await expect(ask(model)).rejects.toThrow('late.gguf');
    folder.write('late.gguf');
    expect((await ask(model)).completions).toHaveLength(1);
  });

  test('is told from a thread as without one', async () => {
    const { metadata } = randomLlama();
    const model = folder.write(
      'gpt.gguf',
      {},
      {
        metadata: { ...metadata, 'tokenizer.ggml.model': { type: 'string', value: 'gpt2' } },
      },
    );
    for (const thread of [true, false]) {
      await using other = open({ model, thread });
      const refused = ask(other);
      await expect(refused).rejects.toMatchObject({ name: 'EspalierError', code: 'usage' });
      await expect(refused).rejects.toThrow("got 'gpt2'.");
    }
  });

  test('is a prompt that is longer than the context', async () => {
    await using model = open();
    const content = 'x'.repeat(260);
    await expect(ask(model, { messages: [{ role: 'user', content }] })).rejects.toThrow(
      // `<s>`, `<|user|>`, `▁`, the letters, `</s>`, `<|assistant|>`.
      'Expected a prompt of at most 256 tokens, the context of the model, got 265.',
    );
  });

  test.each<[Partial<GenerateRequest>, string]>([
    [{ messages: [] }, 'Expected `messages` to be an array of at least one message'],
    [{ messages: [{ role: 'user', content: 1 } as never] }, '`messages[0].content` to be a string'],
    [{ samples: 0 }, 'Expected `samples` to be an integer from 1 up, got `0`.'],
    [{ offset: -1 }, 'Expected `offset` to be an integer from 0 up, got `-1`.'],
    [{ maxTokens: 0 }, 'Expected `maxTokens` to be an integer from 1 up, got `0`.'],
    [{ temperature: -1 }, 'Expected `temperature` to be a finite number from 0 up, got `-1`.'],
    [{ topP: 0 }, 'Expected `topP` to be a number above 0, up to 1, got `0`.'],
    [{ topK: 0 }, 'Expected `topK` to be an integer from 1 up, got `0`.'],
    [{ stop: [''] }, 'Expected `stop[0]` to be a string that is not empty, got `""`.'],
    [{ seed: 0.5 }, 'Expected `seed` to be an integer, got `0.5`.'],
    [{ topLogprobs: 21 }, 'Expected `topLogprobs` to be an integer from 0 to 20, got `21`.'],
    [{ schema: {} }, 'Expected `schema` to be absent'],
  ])('is the request %j', async (request, message) => {
    await using model = open();
    await expect(ask(model, request)).rejects.toThrow(message);
  });

  test.each<[TinyOptions, string]>([
    [{ model: '' }, 'Expected `model` to be the path of a GGUF file, got `""`.'],
    [{ thread: 1 as never }, 'Expected `thread` to be true or false, got `1`.'],
    [{ seed: 0.5 }, 'Expected `seed` to be an integer, got `0.5`.'],
    [{ cacheBytes: 0 }, 'Expected `cacheBytes` to be an integer from 1 up, got `0`.'],
    [{ batch: 0 }, 'Expected `batch` to be an integer from 1 up, got `0`.'],
  ])('is a model with %j', (options, message) => {
    expect(() => open(options)).toThrow(message);
  });
});

describe.each([true, false])('with `thread` %s, a request', (thread) => {
  test('under way fails when the model is closed, and so does a later one', async () => {
    const model = open({ thread });
    await ask(model);
    const answer = ask(model, { samples: 16, maxTokens: 200 });
    const failure = expect(answer).rejects.toThrow('random.gguf is closed.');
    await model.close();
    await failure;
    await expect(ask(model)).rejects.toThrow('random.gguf is closed.');
    await model.close();
  });

  test('fails when the model is closed while it is loaded', async () => {
    const model = open({ thread });
    const failure = expect(ask(model)).rejects.toThrow('random.gguf is closed.');
    await model.close();
    await failure;
  });

  test('can be aborted while the model is loaded', async () => {
    await using model = open({ thread });
    const reason = new Error('changed my mind');
    const controller = new AbortController();
    const answer = ask(model, {}, controller.signal);
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    expect((await ask(model)).completions).toHaveLength(1);
  });
});
