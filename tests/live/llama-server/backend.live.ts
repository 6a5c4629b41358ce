/** Our own backend before a real llama-server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { tiny } from '../../../src/backends/tiny/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { describeLanguageModel, plainContext } from '../../../src/testing/index.ts';
import { prompt, searchWith } from '../support/search.ts';
import { get, type Json, metric } from '../support/wire.ts';

const server = inject('server');
const model = openaiCompatible({ baseUrl: `${server}/v1`, preset: 'llama-server' });
const messages = [{ role: 'user' as const, content: 'Count from one to twenty, in words.' }];

/** Its own time: a server does not answer while a manual clock stands still. */
const context = plainContext({ clock: systemClock });

describeLanguageModel('llama-server', { create: () => model, prompt }, { describe, test });

describe('llama-server through our backend', () => {
  const own = tiny({ thread: false });
  afterAll(() => own.close());

  test('counts what all samples wrote, and what came from its cache', async () => {
    const request = { messages, samples: 8, maxTokens: 6, temperature: 1, seed: 2 };
    await context.generate(model, { ...request, samples: 1 });
    const before = await metric(server, 'tokens_predicted_total');
    const { completions, usage } = await context.generate(model, request);
    expect(completions).toHaveLength(8);
    const written = (await metric(server, 'tokens_predicted_total')) - before;
    // The server counts one choice of several: then nothing is better than too little.
    expect([undefined, written]).toContain(usage.outputTokens);
    expect(usage.inputTokens).toBeGreaterThanOrEqual(23);
    expect(usage.cachedTokens).toBeGreaterThanOrEqual(22);
  });

  test('reads nothing of a prefix again for siblings', async () => {
    const topic = `Children of a prompt that nobody has sent before: ${'a b c d '.repeat(20)}`;
    const parent = [{ role: 'user' as const, content: topic }];
    const wish = { maxTokens: 2, temperature: 1, seed: 1 };
    const { usage } = await context.generate(model, { ...wish, messages: parent });
    const before = await metric(server, 'prompt_tokens_total');
    for (const step of ['one', 'two', 'three']) {
      const child = [...parent, { role: 'assistant' as const, content: step }];
      await context.generate(model, { ...wish, messages: child });
    }
    const read = (await metric(server, 'prompt_tokens_total')) - before;
    // Each child reads its own step, of at most 8 tokens, and nothing of the rest.
    expect(usage.inputTokens).toBeGreaterThan(60);
    expect(read).toBeLessThanOrEqual(3 * 8);
  });

  test('samples from the whole distribution: it tells the log-probabilities of our own runner', async () => {
    const wish = { messages, maxTokens: 1, temperature: 0, topLogprobs: 5 };
    const [theirs, ours] = [await context.generate(model, wish), await context.generate(own, wish)];
    const [top, expected] = [theirs, ours].map(
      ({ completions }) => completions[0]?.logprobs?.[0]?.top ?? [],
    );
    expect(top?.map(({ token }) => token)).toEqual(expected?.map(({ token }) => token));
    for (const [place, { logprob }] of (top ?? []).entries()) {
      // llama.cpp rounds what goes into a product to 8 bits.
      expect(Math.abs(logprob - (expected?.[place]?.logprob ?? 0))).toBeLessThan(0.2);
    }
  });
});

describe('llama-server through our backend, as asked for', () => {
  test('writes JSON by a schema', async () => {
    const { completions } = await context.generate(model, {
      ...{ messages, samples: 3, maxTokens: 80, temperature: 1, seed: 1 },
      schema: {
        type: 'object',
        properties: { steps: { type: 'array', items: { type: 'integer' }, maxItems: 3 } },
        required: ['steps'],
        additionalProperties: false,
      },
    });
    const texts = completions.map(({ text }) => text);
    for (const text of texts) {
      const { steps, ...others } = JSON.parse(text) as { steps: unknown };
      expect(Array.isArray(steps)).toBe(true);
      expect(others).toEqual({});
    }
  });

  test('fails with one sentence where the prompt is too long', async () => {
    const long = [{ role: 'user' as const, content: 'number 12345 '.repeat(400) }];
    await expect(context.generate(model, { messages: long })).rejects.toMatchObject({
      kind: 'context-length',
      retryable: false,
    });
  });

  test('stops the server when a call is abandoned', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    // Bound to a grammar it is slow: the whole answer takes seconds.
    const call = model.generate(
      { messages, samples: 8, maxTokens: 450, schema: { type: 'string', minLength: 700 } },
      { signal, clock: systemClock },
    );
    const outcome = expect(call).rejects.toBe('enough');
    while ((await busySlots()).length < 8) await sleep(1);
    controller.abort('enough');
    await outcome;
    // Asking for the slots would keep the server from noticing, where it does not stream.
    await sleep(3_000);
    const slots = await allSlots();
    expect(slots.filter(isBusy)).toEqual([]);
    for (const slot of slots) expect(decoded(slot)).toBeLessThan(450);
  });

  test('searches: 64 simulations, eight calls at a time', async () => {
    const found = await searchWith(model, 8);
    expect(found).toMatchObject({ stopReason: 'budget', exceeded: 'simulations' });
    expect(found.spend.simulations).toBe(64);
    expect(found.legal).toBeGreaterThan(2);
  });
});

async function allSlots(): Promise<readonly Json[]> {
  return (await get(`${server}/slots`)).json as unknown as readonly Json[];
}

async function busySlots(): Promise<readonly Json[]> {
  return (await allSlots()).filter(isBusy);
}

function isBusy(slot: Json): boolean {
  return (slot['is_processing'] as unknown) === true;
}

function decoded(slot: Json): number {
  return Number(slot['next_token']?.[0]?.['n_decoded'] ?? 0);
}
