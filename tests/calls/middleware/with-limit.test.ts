import { describe, expect, test } from 'vitest';
import { withLimit, withRetry, wrapModel } from '../../../src/calls/index.ts';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  RateLimits,
} from '../../../src/contracts/language-model.ts';
import type { RewardModel } from '../../../src/contracts/reward-model.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import {
  type Act,
  besides,
  drawing,
  failure,
  playing,
  rejectionOf,
  request,
  type TestCall,
  testCall,
  watched,
} from './harness.ts';

const minute = 60_000;

/** Makes so many calls at once, each by a caller of its own. */
function callAtOnce(model: LanguageModel, around: TestCall, calls: number): Promise<unknown> {
  return Promise.all(
    Array.from({ length: calls }, () => model.generate(request, besides(around).call)),
  );
}

describe('concurrency', () => {
  test('is how many calls are under way at once', async () => {
    const around = testCall();
    const inner = scriptedModel({ answer: () => '', latencyMs: 10 });
    const done = watched(callAtOnce(withLimit({ concurrency: 2 })(inner), around, 5));
    await around.clock.advance(29);
    expect(done.state).toBe('open');
    await around.clock.advance(1);

    expect(done.state).not.toBe('open');
    expect(inner.mostInFlight).toBe(2);
  });

  test('is shared by all models around which one limit stands, and by no others', async () => {
    const starts = async (models: readonly LanguageModel[]) => {
      const around = testCall();
      const done = Promise.all(models.map((model) => callAtOnce(model, around, 2)));
      await around.clock.advance(100);
      await done;
    };
    const [a, b, c] = ['a', 'b', 'c'].map((modelId) => playing([], { modelId, latencyMs: 10 }));
    if (a === undefined || b === undefined || c === undefined) throw new Error('Three models.');
    const [limit, other] = [withLimit({ concurrency: 1 }), withLimit({ concurrency: 1 })];
    await starts([limit(a), limit(b), other(c)]);

    expect([a.times, b.times, c.times]).toEqual([
      [0, 10],
      [20, 30],
      [0, 10],
    ]);
  });

  test('gives places in the order of asking', async () => {
    const around = testCall();
    const inner = playing([], { latencyMs: 1 });
    const model = withLimit({ concurrency: 1 })(inner);
    const all = Promise.all(
      [3, 1, 2].map((seed) => model.generate({ ...request, seed }, besides(around).call)),
    );
    await around.clock.advance(10);
    await all;

    expect(inner.requests.map(({ seed }) => seed)).toEqual([3, 1, 2]);
  });

  test('gives the place of a call that failed to the next', async () => {
    const around = testCall();
    const model = withLimit({ concurrency: 1 })(playing([new Error('No.')]));
    const [one, two] = [1, 2].map(() => watched(model.generate(request, besides(around).call)));
    await around.clock.advance(0);

    expect(one?.error).toHaveProperty('message', 'No.');
    expect(two?.state).not.toBe('open');
  });

  test('does not make a call wait for itself', async () => {
    const limit = withLimit({ concurrency: 1, requestsPerMinute: 2 });
    const inner = playing();
    const model = wrapModel(inner, limit, withRetry(), limit);
    const { call } = testCall();
    await model.generate(request, call);
    await model.generate(request, call);

    expect(inner.times).toEqual([0, 0]);
  });
});

describe('requests a minute', () => {
  test('start at once while there is room, and then as the minute moves on', async () => {
    const around = testCall();
    const inner = playing();
    const done = callAtOnce(withLimit({ requestsPerMinute: 3 })(inner), around, 7);
    await around.clock.advance(2 * minute);
    await done;

    expect(inner.times).toEqual([0, 0, 0, minute, minute, minute, 2 * minute]);
  });

  test('are those of any minute, wherever it begins', async () => {
    const around = testCall();
    const inner = playing();
    const model = withLimit({ requestsPerMinute: 2 })(inner);
    await callAtOnce(model, around, 1);
    await around.clock.advance(40_000);
    const rest = callAtOnce(model, around, 3);
    await around.clock.advance(minute);
    await rest;

    // The first leaves the window at 60 s, the second at 100 s.
    expect(inner.times).toEqual([0, 40_000, 60_000, 100_000]);
  });

  test('count attempts that failed', async () => {
    const around = testCall();
    const inner = playing([failure('network', { charged: false })]);
    const model = wrapModel(
      inner,
      withRetry({ random: drawing(0.5) }),
      withLimit({ requestsPerMinute: 1 }),
    );
    const done = callAtOnce(model, around, 1);
    await around.clock.advance(minute);
    await done;

    expect(inner.times).toEqual([0, minute]);
  });
});

/** 16 + (5 + 16) tokens in at most, and 63 out: 100. */
const hundred: GenerateRequest = { ...request, maxTokens: 63 };

const using =
  (usage: Generation['usage'], ms: number): Act =>
  async ({ clock, signal }) => {
    await clock.sleep(ms, signal);
    return { completions: [{ text: '' }], usage };
  };

const start = (model: LanguageModel, around: TestCall, calls: number) => {
  for (let made = 0; made < calls; made++) {
    model.generate(hundred, besides(around).call).catch(() => {});
  }
};

describe('tokens a minute', () => {
  test('are set aside at their worst and corrected by what was used, which lets others start', async () => {
    const around = testCall();
    const small = { inputTokens: 10, outputTokens: 20 };
    const inner = playing([using(small, 1000), using(small, 2000), using(small, 5000)]);
    start(withLimit({ tokensPerMinute: 250 })(inner), around, 4);
    await around.clock.advance(minute);

    // 100 + 100 fit. At 1 s 30 + 100 + 100 fit. At 2 s 30 + 30 + 100 + 100 do not; at 6 s, when the third is
    // over, 30 + 30 + 30 + 100 do.
    expect(inner.times).toEqual([0, 0, 1000, 6000]);
  });

  test('stay at their worst where the usage is not told', async () => {
    const around = testCall();
    const inner = playing([using({}, 1000), using({ inputTokens: 1 }, 1000)]);
    start(withLimit({ tokensPerMinute: 250 })(inner), around, 3);
    await around.clock.advance(minute);

    expect(inner.times).toEqual([0, 0, minute]);
  });

  test('leave the minute one call after the other', async () => {
    const around = testCall();
    const inner = playing(Array(3).fill(using({}, 1)));
    const model = withLimit({ tokensPerMinute: 250 })(inner);
    start(model, around, 1);
    await around.clock.advance(10_000);
    start(model, around, 2);
    await around.clock.advance(minute);

    // When the first 100 leave, at 60 s, the third fits.
    expect(inner.times).toEqual([0, 10_000, minute]);
  });

  test('are given back by a call that failed and was not charged, and by no other', async () => {
    const timesAfter = async (error: Error) => {
      const around = testCall();
      const inner = playing([error]);
      start(withLimit({ tokensPerMinute: 150 })(inner), around, 2);
      await around.clock.advance(minute);
      return inner.times;
    };

    expect(await timesAfter(failure('bad-request'))).toEqual([0, 0]);
    expect(await timesAfter(failure('timeout'))).toEqual([0, minute]);
    expect(await timesAfter(new Error('Who knows.'))).toEqual([0, minute]);
  });
});

describe('a limit on tokens', () => {
  test('lets a call that is larger than it go alone', async () => {
    const around = testCall();
    const inner = playing([], { latencyMs: 1 });
    start(withLimit({ tokensPerMinute: 60 })(inner), around, 2);
    await around.clock.advance(2 * minute);

    // What was used is 10 + 5; the second waits for the first to leave the window.
    expect(inner.times).toEqual([0, minute]);
  });

  test('counts all samples of a request, and what a reward or an embedding model reads', async () => {
    const around = testCall();
    const inner = playing();
    const limit = withLimit({ tokensPerMinute: 200 });
    const times: number[] = [];
    const note = (clock: { now(): number }) => times.push(clock.now());
    const reward: RewardModel = {
      provider: 'test',
      modelId: 'reward',
      score: async (_asked, { clock }) => ({ scores: [[note(clock)]] }),
    };
    const embedding: EmbeddingModel = {
      provider: 'test',
      modelId: 'embedding',
      embed: async (_texts, { clock }) => ({ embeddings: [[note(clock)]] }),
    };
    // 37 + 2 · 63 = 163 tokens, of which 10 + 2 · 5 = 20 are used at once.
    await limit(inner).generate({ ...hundred, samples: 2 }, around.call);
    // 16 + (4 + 16) + (20 + 16) + (30 + 16) = 118 tokens, 138 in all.
    const score = {
      solutions: [{ prompt: '1234', steps: ['x'.repeat(20), 'x'.repeat(30)] }],
    };
    await limit(reward).score(score, around.call);
    // 16 + (31 + 16) = 63 tokens: 201 in all. One byte fewer would fit.
    const done = limit(embedding).embed(['x'.repeat(31)], around.call);
    await around.clock.advance(minute);
    await done;

    expect(inner.times).toEqual([0]);
    expect(times).toEqual([0, minute]);
  });
});

const saying =
  (limits: RateLimits, ms = 0): Act =>
  async (call) => {
    if (ms > 0) await call.clock.sleep(ms, call.signal);
    call.limits?.(limits);
    return { completions: [{ text: '' }], usage: {} };
  };

describe('what the server says', () => {
  test.each<[string, RateLimits]>([
    ['requests', { requests: { remaining: 0, resetMs: 5000 } }],
    ['tokens', { tokens: { remaining: 0, resetMs: 5000, limit: 100 } }],
  ])('holds back every call until the reset when no %s remain', async (_title, limits) => {
    const around = testCall();
    const heard: RateLimits[] = [];
    const inner = playing([saying(limits)]);
    const model = withLimit()(inner);
    await model.generate(request, { ...around.call, limits: (said) => heard.push(said) });
    const done = callAtOnce(model, around, 2);
    await around.clock.advance(4999);
    expect(inner.times).toEqual([0]);
    await around.clock.advance(1);
    await done;

    expect(inner.times).toEqual([0, 5000, 5000]);
    expect(heard).toEqual([limits]);
  });

  test('holds nobody back while something remains', async () => {
    const around = testCall();
    const inner = playing([saying({ requests: { remaining: 1, resetMs: 5000 } })]);
    await callAtOnce(withLimit()(inner), around, 1);
    await callAtOnce(withLimit()(inner), around, 1);

    expect(inner.times).toEqual([0, 0]);
  });

  test('fails at once where the reset is further away than anybody waits', async () => {
    const around = testCall();
    const inner = playing([saying({ requests: { remaining: 0, resetMs: 30 * 86_400_000 } })]);
    const model = withLimit()(inner);
    await model.generate(request, around.call);
    await expect(model.generate(request, around.call)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('asks not to be called for another 2592000 s'),
    });
  });

  test('does not end a pause by an older word', async () => {
    const around = testCall();
    const inner = playing([
      saying({ requests: { remaining: 0, resetMs: 5000 } }, 10),
      saying({ requests: { remaining: 0, resetMs: 100 } }, 20),
    ]);
    const model = withLimit()(inner);
    const first = callAtOnce(model, around, 2);
    await around.clock.advance(20);
    await first;
    const done = callAtOnce(model, around, 1);
    await around.clock.advance(5000);
    await done;

    // 5 000 ms after the first word, and not 100 after the second.
    expect(inner.times).toEqual([0, 0, 5010]);
  });

  test('holds back everybody after “too many requests”, as long as it asks', async () => {
    const around = testCall();
    const [inner, other] = [
      playing([failure('rate-limit', { retryAfterMs: 3000 })], { modelId: 'a' }),
      playing([], { modelId: 'b' }),
    ];
    const limit = withLimit({ concurrency: 4 });
    await rejectionOf(limit(inner).generate(request, around.call));
    const done = Promise.all([
      callAtOnce(limit(inner), around, 1),
      callAtOnce(limit(other), around, 1),
    ]);
    await around.clock.advance(3000);
    await done;

    expect([inner.times, other.times]).toEqual([[0, 3000], [3000]]);
  });
});

test('a limit hears what the server asked a retry within the limit for', async () => {
  const around = testCall();
  const hour = failure('rate-limit', { retryAfterMs: 3_600_000, charged: false });
  const inner = playing([hour]);
  const model = wrapModel(inner, withLimit({ concurrency: 1 }), withRetry());
  const errors = await Promise.all(
    [1, 2, 3].map(() => rejectionOf(model.generate(request, besides(around).call))),
  );
  for (const error of errors) expect(error).toMatchObject({ code: 'unavailable' });
  expect(inner.times).toEqual([0]);
});

describe('a call that is aborted while it waits', () => {
  const reason = new Error('Enough.');

  test('for a place leaves at once, and the next one has its turn', async () => {
    const around = testCall();
    const inner = playing([], { latencyMs: 10 });
    const model = withLimit({ concurrency: 1 })(inner);
    const callers = [1, 2, 3].map(() => besides(around));
    const [, second, third] = callers.map(({ call }) => watched(model.generate(request, call)));
    callers[1]?.abort(reason);
    await around.clock.advance(0);
    expect(second?.error).toBe(reason);
    await around.clock.advance(20);

    expect(third?.state).not.toBe('open');
    expect(inner.times).toEqual([0, 10]);
  });

  test.each([
    ['at the head of the queue', 1],
    ['behind the head', 2],
  ])('for the minute, %s, leaves at once', async (_title, index) => {
    const around = testCall();
    const inner = playing();
    const model = withLimit({ requestsPerMinute: 1 })(inner);
    const callers = [0, 1, 2].map(() => besides(around));
    const calls = callers.map(({ call }) => watched(model.generate(request, call)));
    await around.clock.advance(10);
    callers[index]?.abort(reason);
    await around.clock.advance(0);
    expect(calls[index]?.error).toBe(reason);
    await around.clock.advance(minute);

    expect(calls[3 - index]?.state).not.toBe('open');
    expect(inner.times).toEqual([0, minute]);
  });

  test('before it begins does not begin', async () => {
    const { call, abort } = testCall();
    abort(reason);
    const inner = playing();

    expect(await rejectionOf(withLimit()(inner).generate(request, call))).toBe(reason);
    expect(inner.times).toEqual([]);
  });

  test('leaves no sleeper and no place behind', async () => {
    const around = testCall();
    const model = withLimit({ concurrency: 1, requestsPerMinute: 1 })(playing());
    await model.generate(request, around.call);
    const caller = besides(around);
    const waiting = rejectionOf(model.generate(request, caller.call));
    await around.clock.advance(10);
    expect(around.clock.sleepers).toBe(1);
    caller.abort(reason);
    await waiting;
    expect(around.clock.sleepers).toBe(0);
    const last = watched(model.generate(request, besides(around).call));
    await around.clock.advance(minute);

    expect(last.state).not.toBe('open');
  });
});

test('a retry outside the limit takes no place while it waits; one inside keeps it', async () => {
  const timesIn = async (order: 'outside' | 'inside') => {
    const around = testCall();
    const inner = playing([failure('overloaded')]);
    const retry = withRetry({ baseMs: 1000, random: drawing(0) });
    const limit = withLimit({ concurrency: 1 });
    const layers = order === 'outside' ? [retry, limit] : [limit, retry];
    const done = callAtOnce(wrapModel(inner, ...layers), around, 2);
    await around.clock.advance(1000);
    await done;
    return inner.times;
  };

  expect(await timesIn('outside')).toEqual([0, 0, 500]);
  expect(await timesIn('inside')).toEqual([0, 500, 500]);
});

test.each([
  [{ concurrency: 0 }, 'Expected `concurrency` to be an integer from 1 up, got `0`.'],
  [
    { requestsPerMinute: 1.5 },
    'Expected `requestsPerMinute` to be an integer from 1 up, got `1.5`.',
  ],
  [{ tokensPerMinute: -1 }, 'Expected `tokensPerMinute` to be an integer from 1 up, got `-1`.'],
])('refuses %j', (options, message) => {
  expect(() => withLimit(options)).toThrow(message);
});

test('without options nothing binds', async () => {
  const around = testCall();
  const inner = scriptedModel({ answer: () => '', latencyMs: 10 });
  const done = callAtOnce(withLimit()(inner), around, 50);
  await around.clock.advance(10);
  await done;

  expect(inner.mostInFlight).toBe(50);
});
