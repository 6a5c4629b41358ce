import { describe, expect, test } from 'vitest';
import {
  type AnyMiddleware,
  memoryJournal,
  withCache,
  withLimit,
  withRecording,
  withRetry,
  withTelemetry,
  wrapModel,
} from '../../../src/calls/index.ts';
import type {
  LanguageModel,
  Middleware,
  ModelPrice,
} from '../../../src/contracts/language-model.ts';
import type { RewardModel } from '../../../src/contracts/reward-model.ts';
import { describeLanguageModel } from '../../../src/testing/index.ts';
import { sensibleModel } from '../../support/sensible-model.ts';
import { textsOf } from '../harness.ts';
import { failure, playing, request, testCall } from './harness.ts';

const tracer = {
  startSpan: () => ({
    setAttributes: () => {},
    recordException: () => {},
    setStatus: () => {},
    end: () => {},
  }),
};

const every: readonly (readonly [string, () => Middleware])[] = [
  ['withRecording', () => withRecording({ journal: memoryJournal() })],
  ['withCache', () => withCache()],
  ['withRetry', () => withRetry()],
  ['withLimit', () => withLimit({ concurrency: 4 })],
  ['withTelemetry', () => withTelemetry({ tracer })],
];

const marking =
  (mark: string): Middleware =>
  (next) => ({
    ...next,
    async generate(asked, call) {
      const { completions, usage } = await next.generate(asked, call);
      return { completions: completions.map(({ text }) => ({ text: `${mark}(${text})` })), usage };
    },
  });

describe('wrapModel', () => {
  test('puts the first outermost', async () => {
    const model = wrapModel(playing(), marking('a'), marking('b'), marking('c'));

    expect(textsOf(await model.generate(request, testCall().call))).toEqual(['a(b(c(s0)))']);
  });

  test('without middleware is the model itself', () => {
    const model = playing();

    expect(wrapModel(model)).toBe(model);
  });

  test('takes a reward model with middleware of any kind', async () => {
    let scored = 0;
    const model: RewardModel = {
      provider: 'test',
      modelId: 'reward',
      score: async () => {
        if (scored++ === 0) throw failure('overloaded');
        return { scores: [[1]] };
      },
    };
    const layers: readonly AnyMiddleware[] = [withRetry({ baseMs: 0 }), withLimit()];
    const { call, clock } = testCall();
    const done = wrapModel(model, ...layers).score({ solutions: [] }, call);
    await clock.advance(0);

    expect(await done).toEqual({ scores: [[1]] });
  });
});

describe.each(every)('a model behind %s', (_name, middleware) => {
  test('is described by the model within, as that is now', () => {
    let logprobs = false;
    let price: ModelPrice | undefined;
    const inner: LanguageModel = {
      ...playing(),
      provider: 'somebody',
      modelId: 'something',
    };
    Object.defineProperty(inner, 'capabilities', { get: () => ({ logprobs }) });
    Object.defineProperty(inner, 'price', { get: () => price });
    const model = middleware()(inner);
    expect(model).toMatchObject({ provider: 'somebody', modelId: 'something' });
    expect([model.capabilities, model.price]).toEqual([{ logprobs: false }, undefined]);
    logprobs = true;
    price = { input: 1, output: 2 };

    expect([model.capabilities, model.price]).toEqual([{ logprobs: true }, price]);
  });

  test('shows nothing of it in JSON but its description', () => {
    const inner = Object.assign(playing(), { client: { apiKey: 'sk-secret' } });

    expect(JSON.parse(JSON.stringify(middleware()(inner)))).toEqual({
      provider: 'test',
      modelId: 'playing',
      capabilities: { n: true },
    });
  });
});

// A cache tells what was used and not what an answer is worth, so the contract's counts do not hold for it.
const honest = every.filter(([name]) => name !== 'withCache');
const create = () => wrapModel(sensibleModel(), ...honest.map(([, middleware]) => middleware()));
describeLanguageModel('with everything around it', { create }, { describe, test });
