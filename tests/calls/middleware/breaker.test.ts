import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../../src/base/errors.ts';
import { withRetry, wrapModel } from '../../../src/calls/index.ts';
import type { LanguageModel } from '../../../src/contracts/language-model.ts';
import { scriptedModel, syntheticTree } from '../../../src/testing/index.ts';
import { manualClock } from '../../../src/testing/manual-clock.ts';
import { hashedAnswer, throughModel } from '../../../src/testing/through-model.ts';
import { searchOf } from '../../support/search-of.ts';
import {
  besides,
  drawing,
  failure,
  type PlayingModel,
  playing,
  rejectionOf,
  request,
  type TestCall,
  testCall,
  watched,
} from './harness.ts';

const busy = failure('overloaded');
const lost = failure('timeout', { message: 'No answer came.' });

/** A model whose calls are single attempts, given up after so many failures. */
function guarded(model: LanguageModel, failures: number, attempts = 1): LanguageModel {
  const breaker = { failures, coolDownMs: 1000 };
  return withRetry({ attempts, breaker, baseMs: 100, random: drawing(0.5) })(model);
}

async function outcomesOf(model: LanguageModel, { call }: TestCall, calls: number) {
  const outcomes: string[] = [];
  for (let made = 0; made < calls; made++) {
    outcomes.push(
      await model.generate(request, call).then(
        () => 'answer',
        (error: unknown) => (EspalierError.isInstance(error) ? error.code : 'other'),
      ),
    );
  }
  return outcomes;
}

/** A model that has just been given up, after two failures, at 0 ms. */
async function opened(
  acts: Parameters<typeof playing>[0] = [],
): Promise<{ model: LanguageModel; inner: PlayingModel; around: TestCall }> {
  const inner = playing([busy, busy, ...acts]);
  const model = guarded(inner, 2);
  const around = testCall();
  expect(await outcomesOf(model, around, 2)).toEqual(['model-call', 'unavailable']);
  return { model, inner, around };
}

describe('a model that fails again and again', () => {
  test('is given up in one sentence, and not asked any more', async () => {
    const inner = playing([busy, busy, lost]);
    const model = guarded(inner, 3);
    const around = testCall();
    await outcomesOf(model, around, 2);
    const last = await rejectionOf(model.generate(request, around.call));
    const refused = await rejectionOf(model.generate(request, around.call));

    for (const error of [last, refused]) {
      expect(error).toMatchObject({
        code: 'unavailable',
        message:
          'test:playing failed 3 times in a row, last with “No answer came”; ' +
          'check that it can be reached, then run again.',
      });
    }
    expect(inner.times).toHaveLength(3);
    // The one was charged for its own attempt, the other made none.
    expect(last).toHaveProperty('cause', lost);
    expect(refused).not.toHaveProperty('cause');
  });

  test('is given up in the middle of a call too', async () => {
    const inner = playing([busy, busy, busy, busy]);
    const model = guarded(inner, 3, 10);
    const around = testCall();
    const answering = watched(model.generate(request, around.call));
    await around.clock.advance(10_000);

    expect(answering.error).toHaveProperty('code', 'unavailable');
    // Waits of 75 and 150 ms.
    expect(inner.times).toEqual([0, 75, 225]);
  });

  test('is not one that answers in between', async () => {
    const fine = () => Promise.resolve({ completions: [{ text: '' }], usage: {} });
    const inner = playing([busy, busy, fine, busy, busy, fine, busy, busy]);

    expect(await outcomesOf(guarded(inner, 3), testCall(), 9)).not.toContain('unavailable');
    expect(inner.times).toHaveLength(9);
  });

  test.each([
    failure('rate-limit'),
    failure('bad-request'),
    failure('context-length'),
    new Error('A plain error.'),
  ])('is not one that says %s', async (error) => {
    const inner = playing(Array(5).fill(error));

    expect(await outcomesOf(guarded(inner, 2), testCall(), 5)).not.toContain('unavailable');
  });

  test('is given up alone', async () => {
    const retry = withRetry({ attempts: 1, breaker: { failures: 1 } });
    const around = testCall();
    const [dead, alive] = [retry(playing([busy, busy])), retry(playing())];

    expect(await outcomesOf(dead, around, 2)).toEqual(['unavailable', 'unavailable']);
    expect(await outcomesOf(alive, around, 1)).toEqual(['answer']);
  });

  test('is asked on and on without a breaker', async () => {
    const inner = playing(Array(20).fill(busy));
    const model = withRetry({ attempts: 1, breaker: false })(inner);

    expect(await outcomesOf(model, testCall(), 20)).not.toContain('unavailable');
  });
});

test('who waits for another attempt is refused at once when the model is given up', async () => {
  const inner = playing([busy, busy, busy]);
  const model = withRetry({ baseMs: 8000, breaker: { failures: 3 }, random: drawing(0) })(inner);
  const around = testCall();
  const waiting = [1, 2].map(() => watched(model.generate(request, besides(around).call)));
  await around.clock.advance(10);
  expect(around.clock.sleepers).toBe(2);
  const third = await rejectionOf(model.generate(request, besides(around).call));
  await around.clock.advance(0);

  expect(third).toHaveProperty('code', 'unavailable');
  expect(waiting.map(({ error }) => EspalierError.isInstance(error) && error.code)).toEqual([
    'unavailable',
    'unavailable',
  ]);
  // What failed before was accounted for when leave was asked.
  expect(waiting[0]?.error).not.toHaveProperty('cause');
  expect(around.clock.sleepers).toBe(0);
  expect(inner.times).toEqual([0, 0, 10]);
});

describe('after the cool-down', () => {
  test('one call tries, and when it succeeds all go through', async () => {
    const { model, inner, around } = await opened([
      async ({ clock, signal }) => {
        await clock.sleep(100, signal);
        return { completions: [{ text: 'back' }], usage: {} };
      },
    ]);
    await around.clock.advance(999);
    expect(await outcomesOf(model, around, 1)).toEqual(['unavailable']);
    await around.clock.advance(1);
    const trial = watched(model.generate(request, around.call));
    expect(await outcomesOf(model, around, 1)).toEqual(['unavailable']);
    await around.clock.advance(100);

    expect(trial.state).toMatchObject({ completions: [{ text: 'back' }] });
    expect(await outcomesOf(model, around, 2)).toEqual(['answer', 'answer']);
    expect(inner.times).toEqual([0, 0, 1000, 1100, 1100]);
  });

  test('a trial that fails begins another one', async () => {
    const { model, inner, around } = await opened([busy]);
    await around.clock.advance(1500);
    expect(await outcomesOf(model, around, 2)).toEqual(['unavailable', 'unavailable']);
    await around.clock.advance(999);
    expect(await outcomesOf(model, around, 1)).toEqual(['unavailable']);
    await around.clock.advance(1);

    expect(await outcomesOf(model, around, 1)).toEqual(['answer']);
    expect(inner.times).toEqual([0, 0, 1500, 2500]);
  });

  test.each([failure('rate-limit'), failure('bad-request')])(
    'a trial that ends with %s leaves the next one to try',
    async (error) => {
      const { model, around } = await opened([error]);
      await around.clock.advance(1000);

      expect(await outcomesOf(model, around, 2)).toEqual(['model-call', 'answer']);
    },
  );

  test('a trial that is aborted leaves the next one to try', async () => {
    const { model, around } = await opened([
      async ({ clock, signal }) => {
        await clock.sleep(100, signal);
        throw new Error('Never.');
      },
    ]);
    await around.clock.advance(1000);
    const trial = besides(around);
    const trying = rejectionOf(model.generate(request, trial.call));
    await around.clock.advance(10);
    trial.abort(new Error('Enough.'));

    expect(await trying).toHaveProperty('message', 'Enough.');
    expect(await outcomesOf(model, around, 1)).toEqual(['answer']);
  });
});

test('an answer to a call that was under way ends it', async () => {
  const inner = playing([
    async ({ clock, signal }) => {
      await clock.sleep(50, signal);
      return { completions: [{ text: 'late' }], usage: {} };
    },
    busy,
    busy,
  ]);
  const model = guarded(inner, 2);
  const around = testCall();
  const slow = model.generate(request, around.call);
  expect(await outcomesOf(model, around, 3)).toEqual(['model-call', 'unavailable', 'unavailable']);
  await around.clock.advance(50);

  expect(await slow).toHaveProperty('completions', [{ text: 'late' }]);
  expect(await outcomesOf(model, around, 1)).toEqual(['answer']);
});

test('a search whose model dies ends with what it has found', async () => {
  const model = scriptedModel({
    answer(asked) {
      if (model.requests.length > 12) throw lost;
      return hashedAnswer(asked);
    },
  });
  const problem = syntheticTree({ branching: 3 });
  const result = await searchOf({
    ...throughModel(problem, { model: wrapModel(model, withRetry({ breaker: { failures: 5 } })) }),
    budget: { simulations: 60 },
    clock: manualClock({ auto: true }),
  });

  expect(result).toMatchObject({
    stopReason: 'failed',
    failure: {
      message:
        'scripted:script failed 5 times in a row, last with “No answer came”; ' +
        'check that it can be reached, then run again.',
    },
  });
  expect(result.tree.size).toBeGreaterThan(3);
});
