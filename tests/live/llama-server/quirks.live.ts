/** What llama-server really does, by bare requests: where a release changes it, a test says so. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import { spawnServer } from '../support/llama-server.ts';
import { freePort, root } from '../support/packages.ts';
import { events, get, type Json, metric, post } from '../support/wire.ts';

const server = inject('server');
const messages = [{ role: 'user', content: 'Count from one to twenty, in words.' }];
/** The template's `<|user|>` and `<|assistant|>`, an end of turn, the beginning, and 19 for the words. */
const promptTokens = 23;

async function chat(body: object): Promise<Json> {
  const reply = await post(`${server}/v1/chat/completions`, { messages, ...body });
  expect(reply.status).toBe(200);
  return reply.json;
}

const contents = ({ choices }: Json) =>
  (choices as unknown as readonly Json[]).map(({ message }) => message?.['content']);

describe('several choices', () => {
  test('come from one request, and the usage counts the first of them alone', async () => {
    const several = await chat({ n: 3, max_tokens: 8, seed: 5, temperature: 1 });
    const alone = await chat({ max_tokens: 8, seed: 5, temperature: 1 });
    expect(contents(several)).toHaveLength(3);
    expect(several['usage']?.['completion_tokens']).toBe(alone['usage']?.['completion_tokens']);
    const others = await Promise.all(
      [6, 7].map((seed) => chat({ max_tokens: 8, seed, temperature: 1 })),
    );
    const written = others.reduce(
      (sum, { usage }) => sum + Number(usage?.['completion_tokens']),
      Number(alone['usage']?.['completion_tokens']),
    );
    expect(written).toBeGreaterThan(Number(several['usage']?.['completion_tokens']));
  });

  test('have the seeds that follow the one asked for', async () => {
    const several = contents(await chat({ n: 4, max_tokens: 12, seed: 40, temperature: 1 }));
    const alone = await Promise.all(
      [40, 41, 42, 43].map((seed) => chat({ max_tokens: 12, seed, temperature: 1 })),
    );
    expect(several).toEqual(alone.flatMap(contents));
    expect(new Set(several).size).toBeGreaterThan(1);
  });

  test('are refused beyond the number of slots', async () => {
    const reply = await post(`${server}/v1/chat/completions`, { messages, n: 9 });
    expect(reply).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 400,
          message: "Field 'n': Value must be between 1 <= value <= 8, but got 9",
          type: 'invalid_request_error',
        },
      },
    });
  });
});

describe('sampling', () => {
  test('is narrowed by top-k, top-p and min-p unless a request switches them off', async () => {
    const { json } = await get(`${server}/props`);
    const settings = json['default_generation_settings']?.['params'];
    expect(settings).toMatchObject({ top_k: 40 });
    expect(Number(settings?.['top_p'])).toBeCloseTo(0.95);
    expect(Number(settings?.['min_p'])).toBeCloseTo(0.05);
    expect(Number(settings?.['temperature'])).toBeCloseTo(0.8);
  });

  test('takes the only token that top-k leaves', async () => {
    const one = { top_k: 1, temperature: 1, max_tokens: 4 };
    const [first, second] = [await chat({ ...one, seed: 1 }), await chat({ ...one, seed: 2 })];
    expect(contents(first)).toEqual(contents(second));
  });

  test('tells log-probabilities of the model itself, whatever the temperature', async () => {
    const wish = { max_tokens: 1, logprobs: true, top_logprobs: 3 };
    const top = async (temperature: number) =>
      logprobsOf(await chat({ ...wish, temperature, seed: 1 }))[0]?.['top_logprobs'];
    expect(await top(2)).toEqual(await top(0));
  });
});

const logprobsOf = ({ choices }: Json) =>
  choices?.[0]?.['logprobs']?.['content'] as unknown as readonly Json[];

describe('what a request asks for', () => {
  const tool = {
    type: 'function',
    function: {
      name: 'add',
      parameters: { type: 'object', properties: { x: { type: 'integer' } } },
    },
  };

  test('a tool: is ignored, also where it is required, as the template has no tools', async () => {
    const plain = await chat({ max_tokens: 8, seed: 1 });
    const asked = await chat({ max_tokens: 8, seed: 1, tools: [tool], tool_choice: 'required' });
    expect(asked['choices']?.[0]).toMatchObject({ message: { role: 'assistant' } });
    expect(asked['choices']?.[0]?.['message']).not.toHaveProperty('tool_calls');
    expect(contents(asked)).toEqual(contents(plain));
  });

  test('JSON by a schema: is written', async () => {
    const schema = {
      type: 'object',
      properties: { x: { type: 'integer' }, name: { enum: ['a', 'b'] } },
      required: ['x', 'name'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', json_schema: { name: 'reply', schema } };
    const [text] = contents(await chat({ max_tokens: 60, seed: 1, response_format: format }));
    const { x, name, ...others } = JSON.parse(String(text)) as { x: unknown; name: string };
    expect(typeof x).toBe('number');
    expect(['a', 'b']).toContain(name);
    expect(others).toEqual({});
  });

  test('another model: is not looked at', async () => {
    expect((await chat({ model: 'no-such-model', max_tokens: 1 }))['model']).toMatch(/tiny\.gguf$/);
  });
});

describe('what the messages of a request may be', () => {
  test('a partial answer at the end: is continued, and told again', async () => {
    const partial = { role: 'assistant', content: 'one, two' };
    const [text] = contents(
      await chat({ messages: [...messages, partial], max_tokens: 6, temperature: 0 }),
    );
    expect(text).toMatch(/^one, two./);
  });

  test('two answers at the end: are refused', async () => {
    const answer = { role: 'assistant', content: 'one' };
    const reply = await post(`${server}/v1/chat/completions`, {
      messages: [...messages, answer, answer],
    });
    expect(reply.status).toBe(400);
    expect(reply.json['error']?.['message']).toBe(
      'Cannot have 2 or more assistant messages at the end of the list.',
    );
  });

  test('nothing at all: is refused without messages, and answered with none of them', async () => {
    const url = `${server}/v1/chat/completions`;
    const reply = await post(url, { max_tokens: 1 });
    expect(reply.json).toEqual({
      error: { code: 400, message: "'messages' is required", type: 'invalid_request_error' },
    });
    expect((await post(url, { messages: [], max_tokens: 1 })).status).toBe(200);
  });

  test('more than the context: is refused with both numbers', async () => {
    const content = 'number 12345 '.repeat(400);
    const reply = await post(`${server}/v1/chat/completions`, {
      messages: [{ role: 'user', content }],
    });
    expect(reply.status).toBe(400);
    const { error } = reply.json;
    expect(error).toMatchObject({ code: 400, type: 'exceed_context_size_error', n_ctx: 512 });
    const tokens = Number(error?.['n_prompt_tokens']);
    expect(tokens).toBeGreaterThan(512);
    expect(error?.['message']).toBe(
      `request (${tokens} tokens) exceeds the available context size (512 tokens), try increasing it`,
    );
  });

  test('vectors: are refused', async () => {
    const reply = await post(`${server}/v1/embeddings`, { input: 'a' });
    expect(reply).toMatchObject({
      status: 501,
      json: {
        error: {
          code: 501,
          message: 'This server does not support embeddings. Start it with `--embeddings`',
          type: 'not_supported_error',
        },
      },
    });
  });
});

describe('what it counts', () => {
  test('a prompt is read once: all of it but the last token comes from the cache', async () => {
    const wish = { messages: [{ role: 'user', content: 'a b c d e f g h' }], max_tokens: 2 };
    await chat(wish);
    const before = await metric(server, 'prompt_tokens_total');
    const again = await chat(wish);
    const read = Number(again['usage']?.['prompt_tokens']);
    expect(again['usage']?.['prompt_tokens_details']).toEqual({ cached_tokens: read - 1 });
    expect(again['timings']).toMatchObject({ cache_n: read - 1, prompt_n: 1 });
    expect(await metric(server, 'prompt_tokens_total')).toBe(before + 1);
  });

  test('tokens of a prompt before it is sent', async () => {
    const { json } = await post(`${server}/v1/chat/completions/input_tokens`, { messages });
    expect(json['input_tokens']).toBe(promptTokens);
    expect((await chat({ max_tokens: 1 }))['usage']?.['prompt_tokens']).toBe(promptTokens);
  });

  test('the prompt itself, without its first token', async () => {
    const { json } = await post(`${server}/apply-template`, { messages });
    expect(json['prompt']).toBe('<|user|>Count from one to twenty, in words.</s><|assistant|>');
  });
});

describe('the other endpoint', () => {
  test('tells log-probabilities in the shape of the chat', async () => {
    const { json } = await post(`${server}/v1/completions`, {
      prompt: 'one two',
      max_tokens: 2,
      logprobs: 2,
      temperature: 0,
    });
    const logprobs = json['choices']?.[0]?.['logprobs'];
    expect(Object.keys(logprobs ?? {})).toEqual(['content']);
    const [first] = (logprobs?.['content'] ?? []) as unknown as readonly Json[];
    expect(first?.['logprob']).toBeLessThanOrEqual(0);
    expect(first?.['top_logprobs']).toHaveLength(2);
  });
});

describe('a stream', () => {
  test('begins with a role and no content, and ends with the usage and a sign', async () => {
    const { text } = await post(`${server}/v1/chat/completions`, {
      ...{ messages, max_tokens: 3, temperature: 0, stream: true },
      stream_options: { include_usage: true },
    });
    const told = events(text);
    expect(told.at(-1)).toBe('[DONE]');
    const chunks = told.slice(0, -1).map((line) => JSON.parse(line) as Json);
    expect(chunks[0]?.['choices']?.[0]?.['delta']).toEqual({ role: 'assistant', content: null });
    expect(chunks.at(-2)?.['choices']?.[0]).toMatchObject({ finish_reason: 'length', delta: {} });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } });
    const words = chunks.map(({ choices }) => choices?.[0]?.['delta']?.['content'] ?? '');
    expect(words.join('')).toBe(contents(await chat({ max_tokens: 3, temperature: 0 }))[0]);
  });
});

describe('a client that leaves', () => {
  /** Bound to a grammar the server is slow: the whole answer would take seconds. */
  const schema = { type: 'string', minLength: 700 };
  const long = {
    ...{ messages, n: 8, max_tokens: 480, temperature: 1 },
    response_format: { type: 'json_schema', json_schema: { name: 'text', schema } },
  };

  async function leave(body: object): Promise<void> {
    const controller = new AbortController();
    const call = post(`${server}/v1/chat/completions`, body, controller.signal);
    const outcome = expect(call).rejects.toThrow();
    while ((await busySlots()) === 0) await sleep(1);
    controller.abort();
    await outcome;
  }

  test('is noticed at once where it was sent a stream', async () => {
    await leave({ ...long, stream: true });
    const left = performance.now();
    while ((await busySlots()) > 0) await sleep(5);
    expect(performance.now() - left).toBeLessThan(2_500);
  });

  test('is noticed after a quiet second where it was not', async () => {
    await leave(long);
    await sleep(3_000);
    expect(await busySlots()).toBe(0);
  });

  test('is not noticed where it was not, as long as others are answered', async () => {
    await leave(long);
    const left = performance.now();
    // Each answer to anybody begins the second anew. Of the eight some may have come to their end.
    let busy = await busySlots();
    while (performance.now() - left < 1_600) {
      await sleep(100);
      busy = await busySlots();
    }
    expect(busy).toBeGreaterThan(0);
    await sleep(3_000);
    expect(await busySlots()).toBe(0);
  });
});

async function busySlots(): Promise<number> {
  const slots = (await get(`${server}/slots`)).json as unknown as readonly Json[];
  return slots.filter((slot) => (slot['is_processing'] as unknown) === true).length;
}

describe('a server whose model is not there yet', () => {
  test('says so with 503', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/v1/chat/completions`;
    const starting = await spawnServer({
      ...{ model: join(root, 'models/tiny.gguf'), parallel: 1, context: 512, port },
    });
    try {
      const refusals = new Set<string>();
      for (;;) {
        const reply = await post(url, { messages, max_tokens: 1 }).catch(() => undefined);
        if (reply?.status === 200) break;
        if (reply !== undefined) refusals.add(`${reply.status} ${reply.text}`);
        await sleep(1);
      }
      // It may have been too quick for us; anything else that it says is wrong.
      expect([...refusals].filter((refusal) => refusal !== loading)).toEqual([]);
      if (refusals.size === 0)
        process.stdout.write('*** The 503 while loading was not seen. ***\n');
    } finally {
      await starting.stop();
    }
  });
});

const loading = '503 {"error":{"message":"Loading model","type":"unavailable_error","code":503}}';
