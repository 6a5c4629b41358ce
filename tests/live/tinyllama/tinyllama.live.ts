/** A real chat model of 1.1 billion parameters: through llama-server, and in this process. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openaiCompatible } from '../../../src/backends/index.ts';
import { llama } from '../../../src/backends/llama/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { LanguageModel, Message, ModelWarning } from '../../../src/index.ts';
import { plainContext } from '../../../src/testing/index.ts';
import { type Server, startServer } from '../support/llama-server.ts';
import { say } from '../support/packages.ts';
import { tinyLlamaPath } from '../support/tinyllama.ts';
import { events, get, type Json, post } from '../support/wire.ts';

const context = plainContext({ clock: systemClock });

/** One thread: a second one waits for a core that somebody else may be using. */
const threads = 1;

const chat: readonly Message[] = [
  { role: 'system', content: 'You answer in one short sentence.' },
  { role: 'user', content: 'Which is the capital of France?' },
];

/** A call of a tool, as JSON: the template of this model has no tools. */
const call: readonly Message[] = [
  {
    role: 'user',
    content:
      'You can call get_weather with a city. Reply with one JSON object {"name", "arguments"}.\nWhat is the weather in Oslo?',
  },
];
const callSchema = {
  type: 'object',
  properties: {
    name: { const: 'get_weather' },
    arguments: {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 20 } },
      required: ['city'],
      additionalProperties: false,
    },
  },
  required: ['name', 'arguments'],
  additionalProperties: false,
};

async function timed<Value>(name: string, act: () => Promise<Value>): Promise<Value> {
  const began = systemClock.now();
  const value = await act();
  say(`${name}: ${((systemClock.now() - began) / 1000).toFixed(1)} s`);
  return value;
}

function describeChat(name: string, model: () => LanguageModel): void {
  test('answers by its chat template, and ends of its own accord', async () => {
    const { completions, usage } = await timed(`${name}, an answer`, () =>
      context.generate(model(), { messages: chat, maxTokens: 60, temperature: 0 }),
    );
    expect(completions[0]?.text).toMatch(/Paris/);
    expect(completions[0]?.finishReason).toBe('stop');
    expect(completions[0]?.text).not.toMatch(/<\|(user|assistant|system)\|>/);
    // The template's own words count: three turns and their ends.
    expect(usage.inputTokens).toBeGreaterThan(30);
  });

  test('does not read again what a sibling has read', async () => {
    const { usage } = await timed(`${name}, a second answer`, () =>
      context.generate(model(), { messages: chat, maxTokens: 4, temperature: 0 }),
    );
    expect(usage.cachedTokens).toBe((usage.inputTokens ?? 0) - 1);
  });

  test('calls a tool by a schema, or says that it cannot be bound to one', async () => {
    const warnings: ModelWarning[] = [];
    const { completions } = await timed(`${name}, a call as JSON`, () =>
      model().generate(
        { messages: call, maxTokens: 80, temperature: 0.5, seed: 1, schema: callSchema },
        {
          ...{ signal: context.signal, clock: systemClock },
          warn: (warning) => void warnings.push(warning),
        },
      ),
    );
    const text = completions[0]?.text ?? '';
    say(`${name} answered ${JSON.stringify(text)} ${JSON.stringify(warnings)}`);
    // A server that refuses to be bound is asked without; that is said.
    if (warnings.some(({ about }) => about === 'schema')) return;
    const made = JSON.parse(text) as Json;
    expect(made['name']).toBe('get_weather');
    expect(made['arguments']?.['city']).toMatch(/./);
  });
}

describe('in this process', () => {
  const model = llama({
    model: tinyLlamaPath,
    gpu: false,
    threads,
    sequences: 2,
    contextSize: 512,
  });
  beforeAll(() => timed('in process, loading', () => model.load()));
  afterAll(() => model.close());

  describeChat('in process', () => model);

  test('stops in the middle', async () => {
    const controller = new AbortController();
    const messages = [{ role: 'user' as const, content: 'Tell me a long story about a dragon.' }];
    const { sampled } = model.stats();
    const telling = model.generate(
      { messages, maxTokens: 300 },
      { signal: controller.signal, clock: systemClock },
    );
    const outcome = expect(telling).rejects.toBe('enough');
    while (model.stats().sampled < sampled + 3) await systemClock.sleep(5);
    const aborted = systemClock.now();
    controller.abort('enough');
    await outcome;
    // At once, although a token is still on its way.
    expect(systemClock.now() - aborted).toBeLessThan(200);
    // The next answer does not wait for a story of 300 tokens.
    await context.generate(model, { messages: chat, maxTokens: 1, temperature: 0 });
    const after = model.stats().sampled;
    expect(after).toBeLessThan(sampled + 20);
    await systemClock.sleep(1_000);
    expect(model.stats().sampled).toBe(after);
  });
});

const served = { model: tinyLlamaPath, parallel: 2, context: 512, threads };

describe('behind llama-server', () => {
  let server: Server;
  let model: LanguageModel;
  beforeAll(async () => {
    server = await timed('llama-server, starting', () => startServer(served));
    model = openaiCompatible({ baseUrl: `${server.url}/v1`, preset: 'llama-server' });
  });
  afterAll(() => server.stop());

  describeChat('llama-server', () => model);

  test('streams', async () => {
    const { text } = await post(`${server.url}/v1/chat/completions`, {
      ...{ messages: chat, max_tokens: 12, temperature: 0, stream: true },
    });
    const told = events(text);
    expect(told.at(-1)).toBe('[DONE]');
    expect(told.length).toBeGreaterThan(6);
  });

  test('stops in the middle', async () => {
    const controller = new AbortController();
    const messages = [{ role: 'user' as const, content: 'Tell me a long story about a dragon.' }];
    const telling = model.generate(
      { messages, maxTokens: 300 },
      { signal: controller.signal, clock: systemClock },
    );
    const outcome = expect(telling).rejects.toBe('enough');
    while ((await busy(server.url)) === 0) await systemClock.sleep(20);
    controller.abort('enough');
    await outcome;
    // Where it does not stream it notices after a quiet second.
    await systemClock.sleep(5_000);
    expect(await busy(server.url)).toBe(0);
  });
});

describe('a schema before llama-server', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(served);
  });
  afterAll(() => server.stop());

  test('is refused for a chat by the template of this model', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'call', schema: callSchema } };
    const { status, json } = await post(`${server.url}/v1/chat/completions`, {
      ...{ messages: call, max_tokens: 80, temperature: 0, response_format: format },
    });
    expect(status).toBe(400);
    expect(json['error']?.['message']).toMatch(/^Failed to initialize samplers/);
  });

  test('holds for the same prompt as text', async () => {
    const { json } = await post(`${server.url}/apply-template`, { messages: call });
    const { prompt } = json;
    const reply = await post(`${server.url}/v1/completions`, {
      ...{ prompt, max_tokens: 80, temperature: 0, json_schema: callSchema },
    });
    expect(reply.status).toBe(200);
    const made = JSON.parse(String(reply.json['choices']?.[0]?.['text'])) as Json;
    expect(made['name']).toBe('get_weather');
  });
});

async function busy(url: string): Promise<number> {
  const slots = (await get(`${url}/slots`)).json as unknown as readonly Json[];
  return slots.filter((slot) => (slot['is_processing'] as unknown) === true).length;
}
