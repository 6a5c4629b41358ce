import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { DecisionRequest, Decisions } from '../../src/contracts/decision-model.ts';
import { openGate, recordingModel, samplesOf } from './harness.ts';

const messages = [{ role: 'user', content: 'hello' }] as const;
const prices = { recording: { input: 3, output: 15 } };

describe('what a generation costs', () => {
  test('is what the server says it used', async () => {
    const { calls, ledger } = openGate({ budget: { usd: 1 }, prices });
    await calls.generate(recordingModel({ n: true }), { messages, samples: 2, maxTokens: 50 });

    // (10 · 3 + 10 · 15) / 1 000 000
    expect(ledger.spend).toMatchObject({ calls: 2, tokens: 20, usd: 0.00018 });
  });

  test('is all that was reserved where the server does not say', async () => {
    const { calls, ledger } = openGate({ budget: { usd: 1 }, prices });
    const model = recordingModel({
      n: true,
      answer: (request) => Promise.resolve({ ...samplesOf(request), usage: {} }),
    });
    const { usage } = await calls.generate(model, { messages, samples: 2, maxTokens: 50 });

    // 16 + (5 + 16) = 37 in, 2 · 50 = 100 out: (37 · 3 + 100 · 15) / 1 000 000.
    expect(ledger.spend).toMatchObject({ calls: 2, tokens: 137, usd: 0.001611 });
    expect(usage).toEqual({});
  });

  test('is reserved before the request, in full', async () => {
    const { calls, ledger } = openGate({ budget: { tokens: 136 } });
    const model = recordingModel({ n: true });

    await expect(calls.generate(model, { messages, samples: 2, maxTokens: 50 })).rejects.toThrow(
      'The budget has 136 tokens left; the next call may need 137.',
    );
    expect(model.requests).toEqual([]);
    expect(ledger.spend.tokens).toBe(0);
  });

  test('may exceed what was allowed, and is then recorded as an overdraft', async () => {
    const { calls, ledger } = openGate({ budget: { tokens: 200 } });
    const model = recordingModel({
      answer: (request) =>
        Promise.resolve({
          ...samplesOf(request),
          usage: { inputTokens: 37, outputTokens: 90 },
        }),
    });
    await calls.generate(model, { messages, maxTokens: 50 });

    // 37 + 50 were reserved, 127 were used.
    expect(ledger.spend.tokens).toBe(127);
    expect(ledger.overdraft).toEqual({ tokens: 40, usd: 0 });
  });

  test('needs a price where dollars are limited', async () => {
    const { calls } = openGate({ budget: { usd: 1 } });

    await expect(calls.generate(recordingModel(), { messages })).rejects.toThrow(
      'Expected `prices` (`--price-in` and `--price-out`) to hold a price for `recording`, because dollars are limited, got none.',
    );
  });
});

test('the usage of a generation is unknown where one of its requests did not tell it', async () => {
  const { calls } = openGate();
  const model = recordingModel({
    answer: ({ offset = 0, ...request }) => {
      const usage = offset === 1 ? { inputTokens: 10 } : { inputTokens: 10, outputTokens: 5 };
      return Promise.resolve({ ...samplesOf({ ...request, offset }), usage });
    },
  });
  const { usage } = await calls.generate(model, { messages, samples: 2 });

  expect(usage).toEqual({ inputTokens: 20, requests: 2 });
});

describe('decide', () => {
  const request: DecisionRequest = {
    messages,
    questions: { sound: { type: 'yes-no', text: 'Is it sound?' } },
  };
  const model = (answers: Decisions['answers']) => {
    let asked = 0;
    return {
      provider: 'test',
      modelId: 'decisions',
      asked: () => asked,
      decide: () => {
        asked++;
        return Promise.resolve({ answers, usage: { inputTokens: 9, outputTokens: 0 } });
      },
    };
  };

  test('gives one decision a question, once', async () => {
    const { calls, ledger } = openGate();
    const sound = { sound: { type: 'yes-no', probability: 0.75 } } as const;
    const decider = model(sound);

    expect((await calls.decide(decider, request)).answers).toEqual(sound);
    expect((await calls.decide(decider, { ...request })).answers).toEqual(sound);
    expect(decider.asked()).toBe(1);
    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 9 });
  });

  test('is an error where a decision is missing', async () => {
    const { calls } = openGate();

    await expect(calls.decide(model({}), request)).rejects.toThrow(
      'test:decisions gave no decision on `sound`.',
    );
  });
});

test('an effect that is free is written down and costs nothing', async () => {
  const journal = memoryJournal();
  const { calls, ledger } = openGate({ budget: { calls: 0 }, journal });
  const recall = { name: 'recall', repeatable: true, free: true };

  expect(await calls.effect(recall, 'query', async () => ['lesson'])).toEqual(['lesson']);
  expect(ledger.spend.calls).toBe(0);
  const { calls: replaying } = openGate({ journal: replayed(journal) });
  expect(await replaying.effect(recall, 'query', async () => ['another'])).toEqual(['lesson']);
});

describe('embed', () => {
  const model = (vectors: number[][]) => ({
    provider: 'test',
    modelId: 'vectors',
    embed: () => Promise.resolve({ embeddings: vectors }),
  });

  test('gives one vector a text, charged as reserved where nothing is told', async () => {
    const { calls, ledger } = openGate();

    expect(
      await calls.embed(
        model([
          [1, 0],
          [0, 1],
        ]),
        ['a', 'bc'],
      ),
    ).toEqual([
      [1, 0],
      [0, 1],
    ]);
    // 16 + (1 + 16) + (2 + 16)
    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 51 });
  });

  test('is an error where vectors are missing', async () => {
    const { calls } = openGate();

    await expect(calls.embed(model([[1]]), ['a', 'b'])).rejects.toThrow(
      'test:vectors gave 1 vectors for 2 texts.',
    );
  });
});

describe('effect', () => {
  test('is one call and no tokens, made once for equal inputs', async () => {
    const { calls, ledger } = openGate();
    let runs = 0;
    const read = (path: string) =>
      calls.effect('read', { path }, () => Promise.resolve(`${path} ${++runs}`));

    expect(await read('a')).toBe('a 1');
    expect(await read('b')).toBe('b 2');
    expect(await read('a')).toBe('a 1');
    expect(ledger.spend).toMatchObject({ calls: 2, tokens: 0, usd: 0 });
  });

  test('that gives nothing gives `null`, live as in a replay', async () => {
    const live = openGate();
    const run = () => Promise.resolve(undefined);
    expect(await live.calls.effect('write', 'x', run)).toBeNull();

    const replay = openGate({ journal: replayed(live.journal) });
    expect(await replay.calls.effect('write', 'x', run)).toBeNull();
  });

  test('refuses an input that is not JSON by its path', async () => {
    const { calls } = openGate();
    const input = { at: new Date(0) } as unknown as null;

    await expect(calls.effect('read', input, () => Promise.resolve(1))).rejects.toThrow(
      'a Date at `input of read.at`',
    );
  });

  test('is handed a signal and the clock', async () => {
    const { calls } = openGate();
    const seen = await calls.effect('look', null, ({ signal, clock }) =>
      Promise.resolve([signal.aborted, clock.now()]),
    );

    expect(seen).toEqual([false, 0]);
  });
});

test('a free effect fits a budget that is overdrawn', async () => {
  const { calls, ledger } = openGate({ budget: { tokens: 60 } });
  const model = recordingModel({
    answer: (request) =>
      Promise.resolve({ ...samplesOf(request), usage: { inputTokens: 37, outputTokens: 90 } }),
  });
  await calls.generate(model, { messages, maxTokens: 20 });
  expect(ledger.spend.tokens).toBe(127);

  const recall = { name: 'recall', repeatable: true, free: true };
  expect(await calls.effect(recall, 'query', async () => 'lesson')).toBe('lesson');
});
