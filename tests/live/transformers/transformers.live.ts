/** `transformers serve`: what it really does, and our backend before it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { LanguageModel } from '../../../src/index.ts';
import { describeLanguageModel, plainContext } from '../../../src/testing/index.ts';
import { prompt } from '../support/search.ts';
import { exported, startTransformers, type TransformersServer } from '../support/transformers.ts';
import { type Json, post } from '../support/wire.ts';

const messages = [{ role: 'user' as const, content: prompt }];

let server: TransformersServer;
let model: LanguageModel;
beforeAll(async () => {
  server = await startTransformers();
  model = openaiCompatible({
    ...{ baseUrl: `${server.url}/v1`, preset: 'transformers', model: exported, retry: false },
  });
});
afterAll(() => server.stop());

function ask(body: object) {
  const whole = { model: exported, messages, max_tokens: 12, stream: false, ...body };
  return post(`${server.url}/v1/chat/completions`, whole);
}

const textOf = (json: Json) => String(json['choices']?.[0]?.['message']?.['content']);

describe('what it really does', () => {
  test('ignores n, seeds, log-probabilities, schemas and tools, and says nothing', async () => {
    const plain = textOf((await ask({})).json);
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    const schema = { name: 'a', schema: { type: 'object', properties: {} } };
    for (const wish of [
      { n: 3 },
      { seed: 1 },
      { logprobs: true, top_logprobs: 2 },
      { response_format: { type: 'json_schema', json_schema: schema } },
      { tools: [tool], tool_choice: 'required' },
    ]) {
      const { status, json } = await ask(wish);
      expect(status).toBe(200);
      expect(json['choices']).toHaveLength(1);
      expect(Object.keys(json['choices']?.[0] ?? {})).not.toContain('logprobs');
      expect(textOf(json)).toBe(plain);
    }
  });

  test('takes the likeliest tokens at any temperature, unless the model says to sample', async () => {
    const texts = await Promise.all([0, 1, 2].map(async (temperature) => ask({ temperature })));
    expect(new Set(texts.map(({ json }) => textOf(json))).size).toBe(1);
  });

  test('leaves the stop text in the answer', async () => {
    const { json } = await ask({ stop: ['='] });
    expect(textOf(json)).toMatch(/=$/);
    expect(json['choices']?.[0]?.['finish_reason']).toBe('stop');
  });

  test('refuses fields that it does not know', async () => {
    const { status, json } = await ask({ top_k: 1 });
    expect(status).toBe(422);
    expect(json['detail']).toBe("Unexpected fields in the request: {'top_k'}");
  });

  test('does not mind a prompt longer than the context of the model', async () => {
    const long = [{ role: 'user', content: 'number 12345 '.repeat(400) }];
    const { status, json } = await ask({ messages: long, max_tokens: 2 });
    expect(status).toBe(200);
    expect(json['usage']?.['prompt_tokens']).toBeGreaterThan(512);
  });
});

describe('through our backend', () => {
  const context = plainContext({ clock: systemClock });

  test('answers, with as many samples as were asked for, and cut at the stop text', async () => {
    const { completions, usage } = await context.generate(model, {
      ...{ messages, samples: 2, maxTokens: 12, stop: ['='] },
    });
    expect(completions).toHaveLength(2);
    for (const { text, finishReason } of completions) {
      expect(text).toMatch(/^\d+ [-+*/] \d+ $/);
      expect(finishReason).toBe('stop');
    }
    expect(usage.outputTokens).toBeGreaterThanOrEqual(2 * 3);
  });
});

describeLanguageModel(
  'transformers serve',
  { create: () => model, prompt, abortsWithinMs: 2_000 },
  { describe, test },
);
