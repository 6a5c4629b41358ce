import { describe, expect, test } from 'vitest';
import { EspalierError, ModelCallError } from '../../../src/base/errors.ts';
import { withRetry } from '../../../src/calls/index.ts';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.ts';
import type { FailedAttempt } from '../../../src/contracts/language-model.ts';
import type { RewardModel } from '../../../src/contracts/reward-model.ts';
import { seededRandom } from '../../../src/index.ts';
import { manualClock } from '../../../src/testing/index.ts';
import { textsOf } from '../harness.ts';
import { drawing, failure, playing, rejectionOf, request, testCall } from './harness.ts';

const busy = failure('overloaded');
const auto = () => ({ ...testCall().call, clock: manualClock({ auto: true }) });

describe('the waits between attempts', () => {
  test('double from half to all of the base, by what is drawn', async () => {
    const [low, middle, high] = await Promise.all(
      [0, 0.5, 0.999].map(async (number) => {
        const model = playing([busy, busy, busy]);
        await withRetry({ random: drawing(number) })(model).generate(request, auto());
        return model.times;
      }),
    );

    // 500, 1 000, 2 000 ms, times 0.5, 0.75 and 0.9995.
    expect(low).toEqual([0, 250, 750, 1750]);
    expect(middle).toEqual([0, 375, 1125, 2625]);
    expect(high).toEqual([0, 499.75, 1499.25, 3498.25]);
  });

  test('grow no longer than the longest', async () => {
    const model = playing([busy, busy, busy]);
    const options = { baseMs: 1000, maxMs: 1500, random: drawing(0.5) };
    await withRetry(options)(model).generate(request, auto());

    // 0.75 of 1 000, 1 500 and 1 500.
    expect(model.times).toEqual([0, 750, 1875, 3000]);
  });

  test('are never less than the server asks for, nor than their own', async () => {
    const model = playing([
      failure('rate-limit', { retryAfterMs: 7000 }),
      failure('rate-limit', { retryAfterMs: 1 }),
    ]);
    await withRetry({ random: drawing(0.5) })(model).generate(request, auto());

    // 7 000 as asked; then 0.75 of 1 000.
    expect(model.times).toEqual([0, 7000, 7750]);
  });

  test('are the same for the same seed and differ between calls', async () => {
    const timesFrom = async (seed: number) => {
      const model = playing([busy, busy, busy]);
      const options = { random: seededRandom(seed) };
      await withRetry(options)(model).generate(request, auto());
      return model.times;
    };

    expect(await timesFrom(1)).toEqual(await timesFrom(1));
    expect(await timesFrom(1)).not.toEqual(await timesFrom(2));
  });
});

describe('what is repeated', () => {
  test.each(['rate-limit', 'overloaded', 'network', 'timeout', 'malformed'] as const)(
    'is %s',
    async (kind) => {
      const model = playing([failure(kind)]);
      const answer = await withRetry()(model).generate(request, auto());

      expect(textsOf(answer)).toEqual(['s0']);
      expect(model.times).toHaveLength(2);
    },
  );

  test.each([
    failure('auth'),
    failure('bad-request'),
    failure('network', { retryable: false }),
    new Error('A plain error.'),
    new EspalierError('budget', 'Nothing is left.'),
  ])('is nothing else: %s', async (error) => {
    const model = playing([error]);

    expect(await rejectionOf(withRetry()(model).generate(request, auto()))).toBe(error);
    expect(model.times).toHaveLength(1);
  });

  test('is a call to a reward model and to an embedding model too', async () => {
    let calls = 0;
    const once = async <Answer>(answer: Answer) => {
      if (calls++ % 2 === 0) throw busy;
      return answer;
    };
    const reward: RewardModel = {
      provider: 'test',
      modelId: 'reward',
      score: () => once({ scores: [[0.5]] }),
    };
    const embedding: EmbeddingModel = {
      provider: 'test',
      modelId: 'embedding',
      embed: () => once({ embeddings: [[1]] }),
    };
    const retry = withRetry();

    expect(await retry(reward).score({ solutions: [] }, auto())).toEqual({
      scores: [[0.5]],
    });
    expect(await retry(embedding).embed(['a'], auto())).toEqual({ embeddings: [[1]] });
    expect(calls).toBe(4);
  });
});

describe('giving up', () => {
  test('throws the last error, with what was tried', async () => {
    const errors = [1, 2, 3].map((index) =>
      failure('timeout', { message: `No answer ${index}.`, status: 504, requestId: `r${index}` }),
    );
    const model = playing(errors);
    const options = { attempts: 3, random: drawing(0.5) };
    const error = await rejectionOf(withRetry(options)(model).generate(request, auto()));

    expect(model.times).toHaveLength(3);
    expect(ModelCallError.isInstance(error)).toBe(true);
    // 375 + 750 ms.
    expect(error).toMatchObject({
      message: 'Gave up after 3 attempts in 1.1 s: No answer 3.',
      kind: 'timeout',
      status: 504,
      requestId: 'r3',
      charged: true,
      retryable: true,
      cause: errors[2],
    });
  });

  test('keeps that the last attempt was not charged', async () => {
    const model = playing([failure('network', { charged: false })]);
    const error = await rejectionOf(withRetry({ attempts: 1 })(model).generate(request, auto()));

    expect(error).toMatchObject({ charged: false, kind: 'network' });
  });

  test('is at once where the server asks for more time than is left', async () => {
    const { call, clock } = testCall();
    const model = playing([busy, failure('rate-limit', { retryAfterMs: 60_000 })]);
    const options = { totalMs: 60_000, random: drawing(0.5) };
    const answering = rejectionOf(withRetry(options)(model).generate(request, call));
    await clock.advance(375);

    expect(clock.sleepers).toBe(0);
    expect(await answering).toHaveProperty(
      'message',
      'Gave up after 2 attempts in 0.4 s, because the next one would have to wait 60.0 s, ' +
        'as the server asks, and 59.6 s of 60.0 s are left: The server is busy.',
    );
  });

  test('is where the time is up, however many attempts are left', async () => {
    const model = playing(Array(100).fill(busy));
    const options = { attempts: 100, totalMs: 3000, random: drawing(0.5) };
    const error = await rejectionOf(
      withRetry({ ...options, breaker: false })(model).generate(request, auto()),
    );

    // 375 + 750 + 1 500 = 2 625; the next wait is 3 000.
    expect(model.times).toEqual([0, 375, 1125, 2625]);
    expect(error).toHaveProperty(
      'message',
      'Gave up after 4 attempts in 2.6 s, because the next one would have to wait 3.0 s and ' +
        '0.4 s of 3.0 s are left: The server is busy.',
    );
  });
});

describe('leave for another attempt', () => {
  test('is asked each time, before the wait, with what failed', async () => {
    const asked: [number, FailedAttempt][] = [];
    const clock = manualClock({ auto: true });
    const { call } = testCall({
      clock,
      retry: async (attempt) => void asked.push([clock.now(), attempt]),
    });
    const lost = failure('timeout', { message: 'No answer.' });
    await withRetry({ random: drawing(0.5) })(playing([busy, lost])).generate(request, call);

    expect(asked).toEqual([
      [0, { message: 'The server is busy.', charged: false }],
      [375, { message: 'No answer.', charged: true }],
    ]);
  });

  test('may be refused: then that is the error, and no attempt follows', async () => {
    const refusal = new EspalierError('budget', 'Nothing is left.');
    const { call } = testCall({ retry: () => Promise.reject(refusal) });
    const model = playing([busy]);

    expect(await rejectionOf(withRetry()(model).generate(request, call))).toBe(refusal);
    expect(model.times).toHaveLength(1);
  });

  test('is not asked when it gives up', async () => {
    let asked = 0;
    const { call } = testCall({ retry: async () => void asked++ });
    await rejectionOf(withRetry({ attempts: 1 })(playing([busy])).generate(request, call));

    expect(asked).toBe(0);
  });
});

describe('an abort', () => {
  test('ends the wait at once, with its reason', async () => {
    const { call, clock, abort } = testCall();
    const model = playing([busy]);
    const answering = rejectionOf(withRetry()(model).generate(request, call));
    await clock.advance(1);
    expect(clock.sleepers).toBe(1);
    const reason = new Error('Enough.');
    abort(reason);

    expect(await answering).toBe(reason);
    expect(clock.sleepers).toBe(0);
    expect(model.times).toEqual([0]);
  });

  test('during an attempt is no failure to repeat', async () => {
    const { call, abort } = testCall();
    const model = playing([
      () => {
        abort(new Error('Enough.'));
        return Promise.reject(busy);
      },
    ]);

    expect(await rejectionOf(withRetry()(model).generate(request, call))).toBe(busy);
    expect(model.times).toHaveLength(1);
  });
});

test.each([
  [{ attempts: 0 }, 'Expected `attempts` to be an integer from 1 up, got `0`.'],
  [{ baseMs: -1 }, 'Expected `baseMs` to be a finite number from 0 up, got `-1`.'],
  [{ maxMs: Number.NaN }, 'Expected `maxMs` to be a finite number from 0 up, got `NaN`.'],
  [{ totalMs: -5 }, 'Expected `totalMs` to be a finite number from 0 up, got `-5`.'],
  [
    { breaker: { failures: 0 } },
    'Expected `breaker.failures` to be an integer from 1 up, got `0`.',
  ],
  [
    { breaker: { coolDownMs: -1 } },
    'Expected `breaker.coolDownMs` to be a finite number from 0 up, got `-1`.',
  ],
])('refuses %j', (options, message) => {
  expect(() => withRetry(options)).toThrow(message);
});
