import { describe, expect, test } from 'vitest';
import { withCache } from '../../../src/calls/index.ts';
import { rangesOf, recordingModel, samplesOf, textsOf } from '../harness.ts';
import {
  type Act,
  besides,
  failure,
  playing,
  rejectionOf,
  request,
  testCall,
  watched,
} from './harness.ts';

const noTokens = { inputTokens: 0, outputTokens: 0 };

const slow =
  (text: string): Act =>
  async ({ clock, signal }, { samples = 1 }) => {
    await clock.sleep(100, signal);
    return {
      completions: Array(samples).fill({ text }),
      usage: { inputTokens: 1, outputTokens: 1 },
    };
  };

describe('equal calls under way', () => {
  test('are one, and only one of them used tokens', async () => {
    const inner = playing([slow('one')]);
    const model = withCache()(inner);
    const around = testCall();
    const calls = [around, besides(around)].map(({ call }) => model.generate(request, call));
    await around.clock.advance(100);

    expect(await Promise.all(calls)).toEqual([
      { completions: [{ text: 'one' }], usage: { inputTokens: 1, outputTokens: 1 } },
      { completions: [{ text: 'one' }], usage: noTokens, fromCache: true },
    ]);
    expect(inner.times).toEqual([0]);
  });

  test('share the samples that they have in common', async () => {
    const inner = playing([slow('first'), slow('second')]);
    const model = withCache()(inner);
    const around = testCall();
    const first = model.generate({ ...request, samples: 2 }, around.call);
    const second = model.generate({ ...request, offset: 1, samples: 2 }, besides(around).call);
    await around.clock.advance(100);

    expect(textsOf(await first)).toEqual(['first', 'first']);
    expect(textsOf(await second)).toEqual(['first', 'second']);
    expect(inner.requests.map(({ offset, samples }) => [offset, samples])).toEqual([
      [0, 2],
      [2, 1],
    ]);
  });

  test('fail together, and who made no request is not charged', async () => {
    const inner = playing([
      async ({ clock, signal }) => {
        await clock.sleep(100, signal);
        throw failure('timeout', { message: 'No answer.', status: 504 });
      },
    ]);
    const model = withCache()(inner);
    const around = testCall();
    const calls = [around, besides(around)].map(({ call }) =>
      rejectionOf(model.generate(request, call)),
    );
    await around.clock.advance(100);
    const [maker, sharer] = await Promise.all(calls);

    expect(maker).toMatchObject({ kind: 'timeout', charged: true });
    expect(sharer).toMatchObject({
      kind: 'timeout',
      charged: false,
      status: 504,
      message: 'No answer.',
    });
    expect(inner.times).toEqual([0]);
  });
});

describe('who shares a call', () => {
  test('goes on when the one that made the request is aborted, even by a deaf model', async () => {
    const deaf: Act = () => new Promise(() => {});
    for (const act of [slow('one'), deaf]) {
      const inner = playing([act, slow('two')]);
      const model = withCache()(inner);
      const around = testCall();
      const maker = besides(around);
      const made = rejectionOf(model.generate({ ...request, samples: 2 }, maker.call));
      const others = [1, 2].map(() =>
        watched(model.generate({ ...request, samples: 2 }, besides(around).call)),
      );
      await around.clock.advance(50);
      maker.abort(new Error('Enough.'));
      expect(await made).toHaveProperty('message', 'Enough.');
      await around.clock.advance(100);

      expect(others.map(({ state }) => state !== 'open' && textsOf(state))).toEqual([
        ['two', 'two'],
        ['two', 'two'],
      ]);
      expect(inner.times).toEqual([0, 50]);
    }
  });

  test('leaves at once when it is aborted itself', async () => {
    const inner = playing([slow('one')]);
    const model = withCache()(inner);
    const around = testCall();
    const made = model.generate(request, around.call);
    const sharer = besides(around);
    const shared = rejectionOf(model.generate(request, sharer.call));
    await around.clock.advance(50);
    sharer.abort(new Error('Enough.'));

    expect(await shared).toHaveProperty('message', 'Enough.');
    await around.clock.advance(50);
    expect(textsOf(await made)).toEqual(['one']);
  });
});

describe('a call of several requests', () => {
  test('asks leave for each after the first', async () => {
    const reasons: string[] = [];
    const inner = recordingModel({ n: true });
    const model = withCache()(inner);
    const { call } = testCall({ requestExtraCall: async (reason) => void reasons.push(reason) });
    await model.generate({ ...request, offset: 1 }, call);
    await model.generate({ ...request, samples: 3 }, call);

    expect(rangesOf(inner)).toEqual([
      [1, 1],
      [0, 1],
      [2, 1],
    ]);
    expect(reasons).toEqual(['Only some of the samples were in the cache.']);
  });

  test('that bought something is charged though its last request was not, and keeps what it bought', async () => {
    const fine: Act = async (_call, asked) => samplesOf(asked);
    const inner = playing([fine, failure('rate-limit')], { capabilities: {} });
    const model = withCache()(inner);
    const { call } = testCall();
    const error = await rejectionOf(model.generate({ ...request, samples: 2 }, call));

    expect(error).toMatchObject({ kind: 'rate-limit', charged: true });
    await model.generate({ ...request, samples: 2 }, call);
    expect(rangesOf({ ...recordingModel(), requests: [...inner.requests] })).toEqual([
      [0, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  test('fails where the model gives another number of samples', async () => {
    const inner = playing([async () => samplesOf({ ...request, samples: 2 })]);
    const error = await rejectionOf(
      withCache()(inner).generate({ ...request, samples: 3 }, testCall().call),
    );

    expect(error).toMatchObject({
      kind: 'malformed',
      message: 'test:playing gave 2 of 3 completions.',
    });
  });
});
