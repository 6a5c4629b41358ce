import Keyv from 'keyv';
import { describe, expect, test } from 'vitest';
import { type CacheOptions, withCache, withRetry, wrapModel } from '../../../src/calls/index.ts';
import type { JsonValue } from '../../../src/contracts/json.ts';
import type {
  Completion,
  GenerateRequest,
  Generation,
  LanguageModel,
} from '../../../src/contracts/language-model.ts';
import { rangesOf, recordingModel, samplesOf, textsOf } from '../harness.ts';
import { type Act, failure, playing, rejectionOf, request, testCall } from './harness.ts';

const noTokens = { inputTokens: 0, outputTokens: 0 };

/** A store that can be looked into. */
function openStore(): NonNullable<CacheOptions['store']> & {
  readonly entries: Map<string, JsonValue>;
} {
  const entries = new Map<string, JsonValue>();
  return {
    entries,
    get: async (key) => entries.get(key),
    set: async (key, value) => void entries.set(key, value),
  };
}

describe('a sample', () => {
  test('is bought once, and uses no tokens again', async () => {
    const inner = recordingModel();
    const model = withCache()(inner);
    const { call } = testCall();
    const first = await model.generate(request, call);
    const again = await model.generate(request, call);

    expect(first).toEqual(samplesOf(request));
    expect(again).toEqual({ completions: first.completions, usage: noTokens, fromCache: true });
    expect(inner.requests).toHaveLength(1);
  });

  test('is the same whether asked for alone or with others; only the missing ones are bought', async () => {
    const inner = recordingModel({ n: true });
    const model = withCache()(inner);
    const { call } = testCall();
    await model.generate({ ...request, offset: 2 }, call);
    await model.generate({ ...request, offset: 5, samples: 2 }, call);
    const all = await model.generate({ ...request, samples: 8 }, call);

    expect(textsOf(all)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']);
    expect(rangesOf(inner)).toEqual([
      [2, 1],
      [5, 2],
      [0, 2],
      [3, 2],
      [7, 1],
    ]);
    // Three requests: 10 in each, and 5 out for each of 5 samples.
    expect(all.usage).toEqual({ inputTokens: 30, outputTokens: 25, requests: 3 });
    const last = await model.generate({ ...request, offset: 6 }, call);
    expect(textsOf(last)).toEqual(['s6']);
    expect(inner.requests).toHaveLength(5);
  });

  test('is another one of a model that was told something else beforehand', async () => {
    const inner = recordingModel();
    const cache = withCache();
    const { call } = testCall();
    for (const effort of ['low', 'high', 'low']) {
      await cache({ ...inner, settings: { effort } }).generate(request, call);
    }
    expect(inner.requests).toHaveLength(2);
  });

  test('is asked for one by one where the model gives one a request, the first ahead', async () => {
    const started: number[] = [];
    const inner = recordingModel({
      answer: async (asked, { clock, signal }) => {
        started.push(clock.now());
        await clock.sleep(10, signal);
        return samplesOf(asked);
      },
    });
    const { call, clock } = testCall();
    const answering = withCache()(inner).generate({ ...request, samples: 3 }, call);
    await clock.advance(20);

    expect(textsOf(await answering)).toEqual(['s0', 's1', 's2']);
    expect(rangesOf(inner)).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(started).toEqual([0, 10, 10]);
  });
});

describe('the key of a sample', () => {
  test('tells its model, its request and its namespace', async () => {
    const store = openStore();
    const asked = async (inner: LanguageModel, changes: Partial<GenerateRequest> = {}) => {
      await withCache({ store })(inner).generate({ ...request, ...changes }, testCall().call);
      return store.entries.size;
    };
    const model = playing();

    expect(await asked(model)).toBe(1);
    expect(await asked({ ...model, provider: 'another' })).toBe(2);
    expect(await asked({ ...model, modelId: 'another' })).toBe(3);
    expect(await asked(model, { temperature: 0 })).toBe(4);
    expect(await asked(model, { temperature: 1 })).toBe(5);
    expect(await asked(model, { seed: 1 })).toBe(6);
    expect(await asked(model, { offset: 1 })).toBe(7);
    expect(await asked(model, { samples: 1, offset: 0 })).toBe(7);
    await withCache({ store, namespace: 'mine' })(model).generate(request, testCall().call);
    expect(store.entries.size).toBe(8);
    expect([...store.entries.keys()][7]).toMatch(/^mine:[\w-]{43}#0$/);
    expect([...store.entries.keys()][0]).toMatch(/^[\w-]{43}#0$/);
  });
});

describe('a sample from the cache', () => {
  test('is told with all that is known of it', async () => {
    const completion: Completion = {
      text: 'a',
      finishReason: 'tool',
      logprobs: [{ token: 'a', logprob: -0.5, top: [{ token: 'a', logprob: -0.5 }] }],
      toolCalls: [{ id: 'c1', name: 'look', input: { at: [1, null, { deep: true }] } }],
      reasoning: 'because',
    };
    const inner = playing([
      async () => ({
        completions: [completion],
        usage: {},
        answeredBy: 'exactly-this',
        requestId: 'r1',
      }),
    ]);
    const model = withCache({ store: new Keyv() })(inner);
    const { call } = testCall();
    const first = await model.generate(request, call);
    const again = await model.generate(request, call);

    expect(first).toMatchObject({ requestId: 'r1', answeredBy: 'exactly-this' });
    expect(again).toEqual({
      completions: [completion],
      usage: noTokens,
      fromCache: true,
      answeredBy: 'exactly-this',
    });
  });

  test('cannot be changed by who got it', async () => {
    const model = withCache()(playing());
    const { call } = testCall();
    const [first] = (await model.generate(request, call)).completions;
    Object.assign(first ?? {}, { text: 'spoiled' });
    const [second] = (await model.generate(request, call)).completions;
    Object.assign(second ?? {}, { text: 'spoiled' });

    expect(textsOf(await model.generate(request, call))).toEqual(['s0']);
  });
});

describe('the usage', () => {
  test('is unknown where a request did not tell it', async () => {
    const told = { inputTokens: 1, outputTokens: 2, cachedTokens: 3 };
    const acts: Act[] = [told, { inputTokens: 5, outputTokens: 6 }].map((usage) => async () => ({
      completions: [{ text: '' }],
      usage,
    }));
    const inner = playing(acts, { capabilities: {} });
    const { usage } = await withCache()(inner).generate(
      { ...request, samples: 2 },
      testCall().call,
    );

    expect(usage).toEqual({ inputTokens: 6, outputTokens: 8, requests: 2 });
  });
});

describe('what is not kept', () => {
  const answering = (generation: Partial<Generation>) =>
    playing([async () => ({ completions: [{ text: 'x' }], usage: {}, ...generation })]);

  test('is a refusal', async () => {
    const inner = answering({ completions: [{ text: '', finishReason: 'refusal' }] });
    const model = withCache()(inner);
    const { call } = testCall();
    await model.generate(request, call);

    expect(textsOf(await model.generate(request, call))).toEqual(['s0']);
  });

  test('is a failure', async () => {
    const error = failure('bad-request');
    const model = withCache()(playing([error]));
    const { call } = testCall();

    expect(await rejectionOf(model.generate(request, call))).toBe(error);
    expect(textsOf(await model.generate(request, call))).toEqual(['s0']);
  });

  test('is what JSON cannot hold', async () => {
    const logprobs = [{ token: 'a', logprob: Number.NEGATIVE_INFINITY }];
    const store = openStore();
    const model = withCache({ store })(answering({ completions: [{ text: 'a', logprobs }] }));
    const { call } = testCall();

    expect(textsOf(await model.generate(request, call))).toEqual(['a']);
    expect(store.entries.size).toBe(0);
    expect(textsOf(await model.generate(request, call))).toEqual(['s0']);
  });

  test('is what comes after the caller gave up', async () => {
    const store = openStore();
    const { call, abort, clock } = testCall();
    let respond = () => {};
    const inner = playing([
      () =>
        new Promise((resolve) => {
          respond = () => resolve({ completions: [{ text: 'late' }], usage: {} });
        }),
    ]);
    const answering = rejectionOf(withCache({ store })(inner).generate(request, call));
    await clock.advance(0);
    const reason = new Error('Enough.');
    abort(reason);
    respond();

    expect(await answering).toBe(reason);
    await clock.advance(0);
    expect(store.entries.size).toBe(0);
  });
});

test('a cache before a retry buys anew only what failed', async () => {
  const inner = playing([failure('overloaded')]);
  const model = wrapModel(inner, withCache(), withRetry({ baseMs: 0 }));
  const { call, clock } = testCall();
  const done = model.generate(request, call);
  await clock.advance(0);
  await done;
  await model.generate(request, call);

  expect(inner.times).toHaveLength(2);
});

test.each<[object, string]>([
  [{ maxEntries: 0 }, 'Expected `maxEntries` to be an integer from 1 to 16777216, got `0`.'],
  [{ ttlMs: 0 }, 'Expected `ttlMs` to be a finite number from 1 up, got `0`.'],
  [{ store: { get: () => {} } }, 'Expected `store` to be an object with a method `set`'],
])('refuses %j', (options, message) => {
  expect(() => withCache(options)).toThrow(message);
});
