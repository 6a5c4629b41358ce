import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { Generation } from '../../src/contracts/language-model.ts';
import {
  type Deferred,
  deferred,
  openGate,
  rangesOf,
  recordingModel,
  samplesOf,
  textsOf,
} from './harness.ts';

const messages = [{ role: 'user', content: 'Next step?' }] as const;

async function quiet(): Promise<void> {
  for (let round = 0; round < 10; round++) await turn();
}

describe('samples: k', () => {
  test('are one request where the server honours `n`', async () => {
    const { calls, ledger } = openGate();
    const model = recordingModel({ n: true });
    const generation = await calls.generate(model, { messages, samples: 4, temperature: 1 });

    expect(textsOf(generation)).toEqual(['s0', 's1', 's2', 's3']);
    expect(model.requests).toEqual([{ messages, samples: 4, offset: 0, temperature: 1 }]);
    expect(generation.usage).toEqual({ inputTokens: 10, outputTokens: 20 });
    expect(ledger.spend).toMatchObject({ calls: 4, tokens: 30 });
  });

  test('are one request that warms the prefix cache, then the others at once', async () => {
    const { calls, ledger } = openGate();
    const open: Deferred<Generation>[] = [];
    const model = recordingModel({
      answer: () => {
        const answer = deferred<Generation>();
        open.push(answer);
        return answer.promise;
      },
    });
    const asking = calls.generate(model, { messages, samples: 3 });
    await quiet();
    expect(rangesOf(model)).toEqual([[0, 1]]);

    open[0]?.resolve(samplesOf({ messages, samples: 1, offset: 0 }));
    await quiet();
    expect(rangesOf(model)).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    open[2]?.resolve(samplesOf({ messages, samples: 1, offset: 2 }));
    open[1]?.resolve(samplesOf({ messages, samples: 1, offset: 1 }));
    const generation = await asking;
    expect(textsOf(generation)).toEqual(['s0', 's1', 's2']);
    expect(generation.usage).toEqual({ inputTokens: 30, outputTokens: 15, requests: 3 });
    expect(ledger.spend).toMatchObject({ calls: 3, tokens: 45 });
  });

  test('is one sample, the first, where nothing is said', async () => {
    const { calls } = openGate();
    const model = recordingModel();

    expect(textsOf(await calls.generate(model, { messages }))).toEqual(['s0']);
    expect(rangesOf(model)).toEqual([[0, 1]]);
  });

  test('name the call that bought each of them', async () => {
    const { calls } = openGate();
    const together = await calls.generate(recordingModel({ n: true }), { messages, samples: 2 });
    expect(together.completions.map(({ callId }) => callId)).toEqual(['0', '0']);

    const single = { ...recordingModel(), modelId: 'single' };
    const apart = await calls.generate(single, { messages, samples: 2 });
    expect(apart.completions.map(({ callId }) => callId)).toEqual(['1', '2']);
  });

  test.each([
    [{ samples: 0 }, 'Expected `samples` to be an integer from 1 up, got `0`.'],
    [{ samples: 1.5 }, 'Expected `samples` to be an integer from 1 up, got `1.5`.'],
    [{ offset: -1 }, 'Expected `offset` to be an integer from 0 up, got `-1`.'],
  ])('are refused where they are none: %j', async (wrong, message) => {
    const { calls } = openGate();

    await expect(calls.generate(recordingModel(), { messages, ...wrong })).rejects.toThrow(message);
  });
});

describe('a server that gives another number of completions than was asked for', () => {
  test.each([
    { given: 3, sentence: 'test:recording gave 3 of 4 completions.' },
    { given: 1, sentence: 'test:recording gave 1 of 4 completions.' },
    { given: 5, sentence: 'test:recording gave 5 of 4 completions.' },
  ])('is an error: $sentence', async ({ given, sentence }) => {
    const { calls, ledger, journal } = openGate({ budget: { calls: 10 } });
    const model = recordingModel({
      n: true,
      answer: () => Promise.resolve(samplesOf({ messages, samples: given })),
    });

    await expect(calls.generate(model, { messages, samples: 4 })).rejects.toThrow(sentence);
    expect(journal.lines.at(-1)).toMatchObject({ type: 'failure', message: sentence });
    expect(ledger.spend.calls).toBe(4);
  });
});

describe('the index of a sample', () => {
  test('is bought once: 0 to 7 after 0 to 3 buys 4 to 7', async () => {
    const { calls, ledger } = openGate();
    const model = recordingModel({ n: true });
    await calls.generate(model, { messages, samples: 4 });
    const generation = await calls.generate(model, { messages, samples: 8 });

    expect(textsOf(generation)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']);
    expect(rangesOf(model)).toEqual([
      [0, 4],
      [4, 4],
    ]);
    expect(ledger.spend.calls).toBe(8);
  });

  test('is bought once also while it is being bought', async () => {
    const { calls } = openGate();
    const model = recordingModel({ n: true });
    const [some, all] = await Promise.all([
      calls.generate(model, { messages, samples: 2 }),
      calls.generate(model, { messages, samples: 3 }),
    ]);

    expect(textsOf(some)).toEqual(['s0', 's1']);
    expect(textsOf(all)).toEqual(['s0', 's1', 's2']);
    expect(rangesOf(model)).toEqual([
      [0, 2],
      [2, 1],
    ]);
  });

  test('leaves gaps to be filled, each run in one request', async () => {
    const { calls } = openGate();
    const model = recordingModel({ n: true });
    await calls.generate(model, { messages, samples: 2, offset: 2 });
    const generation = await calls.generate(model, { messages, samples: 6 });

    expect(textsOf(generation)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5']);
    expect(rangesOf(model)).toEqual([
      [2, 2],
      [0, 2],
      [4, 2],
    ]);
  });

  test('belongs to the rest of the request: another temperature is another sample', async () => {
    const { calls } = openGate();
    const model = recordingModel();
    await calls.generate(model, { messages, temperature: 0.5 });
    await calls.generate(model, { messages, temperature: 1 });
    await calls.generate(model, { temperature: 0.5, messages });

    expect(model.requests).toHaveLength(2);
  });

  test('belongs to the model', async () => {
    const { calls } = openGate();
    const [one, other] = [recordingModel(), { ...recordingModel(), modelId: 'other' }];
    await calls.generate(one, { messages });
    await calls.generate(other, { messages });

    expect([one.requests.length, other.requests.length]).toEqual([1, 1]);
  });
});

describe('samples in a journal', () => {
  test('are not bought again, however they are asked for', async () => {
    const first = openGate();
    await first.calls.generate(recordingModel({ n: true }), { messages, samples: 4 });
    const { calls, ledger } = openGate({ journal: replayed(first.journal) });
    const model = recordingModel();

    expect(textsOf(await calls.generate(model, { messages, offset: 2 }))).toEqual(['s2']);
    expect(textsOf(await calls.generate(model, { messages, samples: 4 }))).toHaveLength(4);
    expect(model.requests).toEqual([]);
    expect(ledger.spend.calls).toBe(4);
  });

  test('are continued where they end', async () => {
    const first = openGate();
    await first.calls.generate(recordingModel({ n: true }), { messages, samples: 4 });
    const { calls } = openGate({ journal: memoryJournal(first.journal.lines) });
    const model = recordingModel({ n: true });
    const generation = await calls.generate(model, { messages, samples: 8 });

    expect(textsOf(generation).slice(3, 5)).toEqual(['s3', 's4']);
    expect(rangesOf(model)).toEqual([[4, 4]]);
  });

  test('that failed first fail first again, and succeed when the larger request did', async () => {
    let failures = 1;
    const answer = (request: Parameters<typeof samplesOf>[0]) =>
      failures-- > 0 ? Promise.reject(new Error('Busy.')) : Promise.resolve(samplesOf(request));
    const outcomes = async (calls: ReturnType<typeof openGate>['calls']) => {
      const model = recordingModel({ n: true, answer });
      const ask = (samples: number) =>
        calls.generate(model, { messages, samples }).then(textsOf, (error: Error) => error.message);
      return [await ask(2), await ask(3), await ask(2)];
    };
    const live = openGate();
    const recorded = await outcomes(live.calls);
    expect(recorded).toEqual(['Busy.', ['s0', 's1', 's2'], ['s0', 's1']]);

    const replay = openGate({ journal: replayed(live.journal) });
    expect(await outcomes(replay.calls)).toEqual(recorded);
  });
});
