import Keyv from 'keyv';
import { describe, expect, test } from 'vitest';
import { type CacheOptions, withCache } from '../../../src/calls/index.ts';
import type { ModelWarning } from '../../../src/contracts/language-model.ts';
import { rangesOf, recordingModel, textsOf } from '../harness.ts';
import { playing, request, testCall } from './harness.ts';

describe('the memory', () => {
  test('holds so many samples, and forgets those not used for longest', async () => {
    const inner = recordingModel();
    const model = withCache({ maxEntries: 2 })(inner);
    const { call } = testCall();
    for (const offset of [0, 1, 0, 2, 0, 1]) await model.generate({ ...request, offset }, call);

    expect(rangesOf(inner).map(([offset]) => offset)).toEqual([0, 1, 2, 1]);
  });

  test('holds them for so long, on the clock of the call', async () => {
    const inner = recordingModel();
    const model = withCache({ ttlMs: 1000 })(inner);
    const { call, clock } = testCall();
    await model.generate(request, call);
    await clock.advance(999);
    await model.generate(request, call);
    expect(inner.requests).toHaveLength(1);
    await clock.advance(1);
    await model.generate(request, call);

    expect(inner.requests).toHaveLength(2);
  });
});

describe('a store', () => {
  test('may be a Keyv instance, as it is', async () => {
    const keyv = new Keyv();
    const { call } = testCall();
    const [first, second] = [recordingModel(), recordingModel()];
    await withCache({ store: keyv })(first).generate(request, call);
    const again = await withCache({ store: keyv })(second).generate(request, call);

    expect(textsOf(again)).toEqual(['s0']);
    expect(second.requests).toHaveLength(0);
  });

  test('is told how long to keep what it gets', async () => {
    const calls: unknown[][] = [];
    const store: NonNullable<CacheOptions['store']> = {
      get: () => undefined,
      set: (...args) => calls.push(args.slice(1)),
    };
    await withCache({ store, ttlMs: 5000 })(playing()).generate(request, testCall().call);
    await withCache({ store })(playing()).generate(request, testCall().call);

    const value = { completion: { text: 's0' } };
    expect(calls).toEqual([[value, 5000], [value]]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'sample'],
    ['another shape', { text: 's0' }],
    ['a sample without a text', { completion: { finishReason: 'stop' } }],
    ['a reason that there is not', { completion: { text: 'x', finishReason: 'tired' } }],
    ['a log-probability that is none', { completion: { text: 'x', logprobs: [{ token: 'x' }] } }],
    ['a call without an input', { completion: { text: 'x', toolCalls: [{ id: '', name: '' }] } }],
  ])('that gives %s has no such sample', async (_title, value) => {
    const store: NonNullable<CacheOptions['store']> = { get: () => value, set: () => {} };

    expect(
      textsOf(await withCache({ store })(playing()).generate(request, testCall().call)),
    ).toEqual(['s0']);
  });

  test.each<[string, NonNullable<CacheOptions['store']>]>([
    [
      'throws',
      {
        get: () => {
          throw new Error('Down');
        },
        set: () => {
          throw new Error('Full.');
        },
      },
    ],
    [
      'rejects',
      {
        get: () => Promise.reject(new Error('Down')),
        set: () => Promise.reject(new Error('Full.')),
      },
    ],
  ])('that %s is a warning', async (_title, store) => {
    const warnings: ModelWarning[] = [];
    const { call } = testCall({ warn: (warning) => warnings.push(warning) });
    const answer = await withCache({ store })(playing()).generate(request, call);

    expect(textsOf(answer)).toEqual(['s0']);
    expect(warnings).toEqual([
      {
        model: 'test:playing',
        about: 'cache',
        message: 'The cache could not be read, so the model is asked: Down.',
      },
      {
        model: 'test:playing',
        about: 'cache',
        message: 'The cache could not be written to, so the sample will be bought again: Full.',
      },
    ]);
  });
});
