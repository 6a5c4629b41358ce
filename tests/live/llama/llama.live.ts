/** llama.cpp in this process, on the model that comes with the package. */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chatOf } from '../../../src/backends/in-process/chat.ts';
import { llama } from '../../../src/backends/llama/index.ts';
import { readLlamaFile } from '../../../src/backends/tiny/gguf.ts';
import { tiny } from '../../../src/backends/tiny/index.ts';
import { tokenizerOf } from '../../../src/backends/tiny/tokenizer.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { GenerateRequest, LanguageModel, Message } from '../../../src/index.ts';
import { describeLanguageModel, plainContext } from '../../../src/testing/index.ts';
import { conversations } from '../../verify/sample-texts.ts';
import { ownLlama } from '../support/binding.ts';
import { root } from '../support/packages.ts';
import { prompt, searchWith } from '../support/search.ts';

const file = join(root, 'models/tiny.gguf');
const context = plainContext({ clock: systemClock });
const count: readonly Message[] = [
  { role: 'user', content: 'Count from one to twenty, in words.' },
];

const shared = llama({ model: file, threads: 1, gpu: false });
afterAll(() => shared.close());

describeLanguageModel('llama', { create: () => shared, prompt }, { describe, test });

/** The same model in our own runner. */
const own = tiny({ thread: false });
afterAll(() => own.close());

async function ask(model: LanguageModel, request: Partial<GenerateRequest>) {
  return context.generate(model, { messages: count, ...request });
}

describe('what it writes', () => {
  test('has the tokens, the usage and the log-probabilities of our own runner', async () => {
    const { vocabulary } = await readLlamaFile(file);
    const tokenizer = tokenizerOf(vocabulary);
    const chat = chatOf({ tokenizer, template: vocabulary.chatTemplate, model: 'tiny' });
    let compared = 0;
    for (const conversation of conversations(8)) {
      const messages = conversation.slice(0, -1);
      const wish = { messages, maxTokens: 1, temperature: 0, topLogprobs: 3 };
      const [theirs, ours] = [await ask(shared, wish), await ask(own, wish)];
      expect(theirs.usage.inputTokens).toBe(chat(messages).length);
      const [top, expected] = [theirs, ours].map(
        ({ completions }) => completions[0]?.logprobs?.[0]?.top ?? [],
      );
      expect(top?.[0]?.token).toBe(expected?.[0]?.token);
      // Some answers end at once: there is no token to compare.
      if (top?.[0] === undefined || expected?.[0] === undefined) continue;
      compared++;
      // llama.cpp rounds what goes into a product to 8 bits.
      expect(Math.abs(top[0].logprob - expected[0].logprob)).toBeLessThan(0.2);
    }
    expect(compared).toBeGreaterThanOrEqual(5);
  });

  test('is bound to a schema, one that refers to itself too', async () => {
    const node = {
      type: 'object',
      properties: {
        value: { type: ['integer', 'null'] },
        kind: { enum: ['leaf', 'tree'] },
        next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/node' }] },
      },
      required: ['value', 'kind', 'next'],
      additionalProperties: false,
    };
    const { completions, usage } = await ask(shared, {
      samples: 6,
      maxTokens: 200,
      topLogprobs: 2,
      schema: { $ref: '#/$defs/node', $defs: { node } },
    });
    const whole = completions.filter(({ finishReason }) => finishReason === 'stop');
    expect(whole.length).toBeGreaterThan(0);
    for (const { text, logprobs } of whole) {
      const parsed = JSON.parse(text) as { value: unknown; kind: string; next: unknown };
      expect(Object.keys(parsed)).toEqual(['value', 'kind', 'next']);
      expect(parsed.value === null || typeof parsed.value === 'number').toBe(true);
      expect(['leaf', 'tree']).toContain(parsed.kind);
      expect(typeof parsed.next).toBe('object');
      expect(logprobs?.map(({ token }) => token).join('')).toBe(text);
    }
    expect(new Set(completions.map(({ text }) => text)).size).toBeGreaterThan(1);
    expect(usage.inputTokens).toBe(23);
  });

  test('is the same by the same seed under a schema', async () => {
    const wish = { samples: 2, maxTokens: 60, seed: 9, schema: { type: 'string', maxLength: 20 } };
    const texts = async () => (await ask(shared, wish)).completions.map(({ text }) => text);
    expect(await texts()).toEqual(await texts());
  });
});

describe('what it reads', () => {
  test('is nothing of a prefix again, for samples, siblings and continuations', async () => {
    await using model = llama({ model: file, threads: 1, gpu: false, sequences: 4 });
    const { usage } = await ask(model, { samples: 4, maxTokens: 1 });
    // Four samples of one token: the prompt once, and no token that was drawn.
    expect(usage).toEqual({ inputTokens: 23, outputTokens: 4, cachedTokens: 0 });
    expect(model.stats()).toMatchObject({ computed: 23, reused: 3 * 23, sampled: 4 });

    // Siblings, at the same time: each reads its own step. A step is a token more than its letters at most.
    const before = model.stats().computed;
    const steps = ['one', 'two', 'three', 'four'];
    const siblings = await Promise.all(
      steps.map((content) =>
        ask(model, { messages: [...count, { role: 'assistant', content }], maxTokens: 1 }),
      ),
    );
    const own = siblings.reduce((sum, each) => sum + (each.usage.inputTokens ?? 0) - 23, 0);
    expect(own).toBeGreaterThanOrEqual(4);
    expect(model.stats().computed - before).toBe(own);
    for (const each of siblings) expect(each.usage.cachedTokens).toBe(23);

    // The same again: its last token alone is read, for what may follow it.
    const again = await ask(model, { maxTokens: 1 });
    expect(again.usage).toMatchObject({ inputTokens: 23, cachedTokens: 22 });
  });

  test('gives the same tree whatever was read before', async () => {
    await using model = llama({ model: file, threads: 1, gpu: false, sequences: 8 });
    const found = await searchWith(model, 8);
    expect(found).toMatchObject({ stopReason: 'budget', exceeded: 'simulations' });
    expect(found.spend).toMatchObject({ simulations: 64, usd: 0 });
    expect(found.legal).toBeGreaterThan(2);
    expect((await searchWith(model, 8)).tree).toBe(found.tree);
    const { computed, reused } = model.stats();
    // The prompts of a search have more in common than not.
    expect(reused).toBeGreaterThan(computed);
  });
});

describe('giving up', () => {
  test('stops the model in the middle of an answer', async () => {
    await using model = llama({ model: file, threads: 1, gpu: false });
    const controller = new AbortController();
    const schema = { type: 'string', minLength: 700 };
    const call = model.generate(
      { messages: count, samples: 8, maxTokens: 480, schema },
      { signal: controller.signal, clock: systemClock },
    );
    const outcome = expect(call).rejects.toBe('enough');
    while (model.stats().sampled < 20) await systemClock.sleep(1);
    controller.abort('enough');
    await outcome;
    const atAbort = model.stats().sampled;
    // What is on its way through the model comes to its end, a token for each of four texts; nothing follows.
    await ask(model, { maxTokens: 1 });
    await systemClock.sleep(200);
    const { sampled, computed } = model.stats();
    expect(sampled).toBeLessThanOrEqual(atAbort + 4 + 1);
    await systemClock.sleep(200);
    expect(model.stats()).toMatchObject({ sampled, computed });
  });

  test('closes in the middle of answers, and refuses later ones', async () => {
    const model = llama({ model: file, threads: 1, gpu: false, sequences: 2 });
    const calls = [1, 2, 3].map((seed) =>
      ask(model, { seed, samples: 3, maxTokens: 300, schema: { type: 'string', minLength: 900 } }),
    );
    const outcomes = Promise.allSettled(calls);
    while (model.stats().sampled < 5) await systemClock.sleep(1);
    await model.close();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: new Error('tiny.gguf is closed.'),
      });
    }
    await expect(ask(model, {})).rejects.toThrow('tiny.gguf is closed.');
    await model.close();
  });
});

describe('what the caller has started', () => {
  test('is used, and left as it is', async () => {
    const started = await ownLlama();
    const loaded = await started.loadModel({ modelPath: file });
    for (const options of [{ llama: started, model: file }, { llama: loaded }]) {
      const model = llama({ ...options, threads: 1 });
      expect(model.modelId).toBe('tiny.gguf');
      const wish = { maxTokens: 8, seed: 3 };
      expect(await ask(model, wish)).toMatchObject({
        completions: (await ask(shared, wish)).completions,
      });
      await model.close();
    }
    expect([started.disposed, loaded.disposed]).toEqual([false, false]);
    await loaded.dispose();
    await started.dispose();
  });
});

describe('what cannot be', () => {
  test('a context that no memory holds: one sentence', async () => {
    const model = llama({ model: file, gpu: false, contextSize: 2 ** 24, sequences: 1 });
    await expect(model.load()).rejects.toThrow(
      /^tiny\.gguf does not fit into memory: take a smaller or more quantised file, a smaller `contextSize` or fewer `sequences` \(.*\)\.$/,
    );
  });

  test('a schema beyond all grammars: one sentence', async () => {
    const schema = { type: 'string', minLength: 2_000 };
    const call = ask(shared, { schema });
    await expect(call).rejects.toMatchObject({ kind: 'capability', parameter: 'schema' });
    await expect(call).rejects.toThrow(/^llama\.cpp cannot make a grammar of the schema \(.*\): /);
  });

  test('a prompt longer than the context: one sentence', async () => {
    const content = 'number 12345 '.repeat(400);
    await expect(ask(shared, { messages: [{ role: 'user', content }] })).rejects.toThrow(
      /^The prompt has \d{4} tokens, and the context of tiny\.gguf holds 511: shorten it, or set a larger `contextSize`\.$/,
    );
  });

  test('an answer longer than the context: it ends there', async () => {
    const content = 'a b c d '.repeat(80);
    const { completions, usage } = await ask(shared, {
      messages: [{ role: 'user', content }],
      maxTokens: 1000,
      schema: { type: 'string', minLength: 700 },
    });
    expect(completions[0]?.finishReason).toBe('length');
    // The last token of an answer is drawn and not read.
    expect((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)).toBe(512);
  });
});
