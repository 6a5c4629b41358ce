import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../../src/base/errors.ts';
import {
  type Journal,
  type JournalLine,
  memoryJournal,
  openJournal,
  readJournal,
  replayed,
  withCache,
  withRecording,
  withRetry,
  wrapModel,
} from '../../../src/calls/index.ts';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.ts';
import type { RewardModel } from '../../../src/contracts/reward-model.ts';
import { openGate, recordingModel, samplesOf, textsOf } from '../harness.ts';
import { failure, playing, rejectionOf, request, testCall } from './harness.ts';

const typesOf = ({ lines }: Pick<Journal, 'lines'>) => [...lines].map(({ type }) => type);

/** The lines of calls, without what names them. */
const withoutKeys = (lines: readonly JournalLine[]) =>
  lines.filter(({ type }) => type !== 'journal').map((line) => ({ ...line, key: '' }));

describe('a recorded call', () => {
  test('is in the journal as a search would have written it', async () => {
    const price = { input: 1, output: 2 };
    const journal = memoryJournal();
    const model = withRecording({ journal, prices: { recording: price } })(recordingModel());
    await model.generate({ ...request, offset: 3, samples: 2, temperature: 0.5 }, testCall().call);
    const { gate, calls, journal: own } = openGate({ prices: { recording: price } });
    await calls.generate(recordingModel({ n: true }), {
      ...request,
      offset: 3,
      samples: 2,
      temperature: 0.5,
    });

    expect(gate.issued).toBe(1);
    expect(own.lines).toHaveLength(2);
    expect(journal.lines.slice(1)).toEqual(own.lines);
    // 10 + 2 · 5 tokens: 10 · 1 and 10 · 2 millionths.
    expect(journal.lines[2]).toMatchObject({ spend: { calls: 2, tokens: 20, usd: 0.00003 } });
  });

  test('can be replayed by a search, from a file too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-recording-'));
    const path = join(folder, 'journal.jsonl');
    {
      using journal = openJournal(path);
      const model = withRecording({ journal })(recordingModel());
      await model.generate(request, testCall().call);
    }
    const silent = playing([], { modelId: 'recording' });
    const { calls, gate } = openGate({ journal: replayed(readJournal(path)) });

    expect(textsOf(await calls.generate(silent, request))).toEqual(['s0']);
    rmSync(folder, { recursive: true });
    expect(silent.times).toEqual([]);
    expect(gate.coverage).toEqual({ recorded: 1, unrecorded: 0 });
  });
});

describe('the number of a recorded call', () => {
  test('is named in its samples', async () => {
    const journal = memoryJournal();
    const model = withRecording({ journal })(recordingModel());
    const { call } = testCall();
    await model.generate(request, call);
    const { completions } = await model.generate({ ...request, offset: 1 }, call);

    expect(completions).toEqual([{ text: 's1', callId: '1' }]);
    expect(journal.lines.at(-1)).toMatchObject({
      call: 1,
      output: { completions: [{ text: 's1' }] },
    });
    expect(JSON.stringify(journal.lines)).not.toContain('callId');
  });

  test('goes on from what the journal holds, whoever wrote it', async () => {
    const journal = memoryJournal();
    const [one, two] = [1, 2].map(() => withRecording({ journal })(recordingModel()));
    const { call } = testCall();
    await one?.generate(request, call);
    await two?.generate(request, call);
    await one?.generate(request, call);
    const numbers = journal.lines.flatMap((line) => (line.type === 'intent' ? [line.call] : []));

    expect(numbers).toEqual([0, 1, 2]);
  });
});

describe('a recording', () => {
  test('may be one of a reward model or an embedding model', async () => {
    const reward: RewardModel = {
      provider: 'test',
      modelId: 'reward',
      score: async () => ({ scores: [[0.25]], usage: { inputTokens: 7, outputTokens: 0 } }),
    };
    const embedding: EmbeddingModel = {
      provider: 'test',
      modelId: 'embedding',
      embed: async () => ({ embeddings: [[1, 2]], usage: { inputTokens: 3, outputTokens: 0 } }),
    };
    const journal = memoryJournal();
    const record = withRecording({ journal });
    const { call } = testCall();
    await record(reward).score({ solutions: [{ prompt: 'p', steps: ['s'] }] }, call);
    await record(embedding).embed(['t'], call);
    const { calls } = openGate({ journal: replayed(journal) });

    expect(await calls.score(reward, { solutions: [{ prompt: 'p', steps: ['s'] }] })).toMatchObject(
      {
        scores: [[0.25]],
      },
    );
    expect(await calls.embed(embedding, ['t'])).toEqual([[1, 2]]);
    expect(typesOf(journal)).toEqual(['journal', 'intent', 'result', 'intent', 'result']);
  });
});

describe('what goes wrong', () => {
  test('is written down with every attempt, and what it was charged', async () => {
    const journal = memoryJournal();
    const inner = playing([
      failure('timeout', { message: 'Late.' }),
      failure('overloaded'),
      failure('network'),
    ]);
    const retry = withRetry({ attempts: 3, baseMs: 0 });
    const model = wrapModel(inner, withRecording({ journal }), retry);
    const { call, clock } = testCall();
    const done = rejectionOf(model.generate({ ...request, maxTokens: 10 }, call));
    await clock.advance(0);
    await done;

    // 16 + (5 + 16) in and 10 out: 47 tokens.
    const reserved = { calls: 1, tokens: 47, usd: 0 };
    const again = { ...reserved, calls: 0 };
    const attempt = { type: 'attempt', call: 0, key: '' };
    expect(withoutKeys(journal.lines).slice(1)).toEqual([
      { ...attempt, spend: again, asks: true, message: 'Late.' },
      { type: 'grant', call: 0, key: '', reserved: again },
      { ...attempt, spend: { calls: 0, tokens: 0, usd: 0 }, message: 'The server is busy.' },
      {
        type: 'failure',
        call: 0,
        key: '',
        spend: reserved,
        message: 'Gave up after 3 attempts in 0.0 s: The server is busy.',
      },
    ]);
  });

  test('says of a wrong key that the model cannot be used', async () => {
    const journal = memoryJournal();
    const error = failure('auth', { message: 'The key is wrong.' });
    const model = withRecording({ journal })(playing([error]));

    expect(await rejectionOf(model.generate(request, testCall().call))).toBe(error);
    expect(journal.lines.at(-1)).toMatchObject({
      type: 'failure',
      unavailable: true,
      message: 'The key is wrong.',
      spend: { calls: 1, tokens: 0, usd: 0 },
    });
  });

  test('leaves an aborted call open', async () => {
    const journal = memoryJournal();
    const { call, abort, clock } = testCall();
    const model = withRecording({ journal })(playing([], { latencyMs: 100 }));
    const done = rejectionOf(model.generate(request, call));
    await clock.advance(1);
    abort(new Error('Enough.'));
    await done;

    expect(typesOf(journal)).toEqual(['journal', 'intent']);
  });

  test('hands on what the surroundings say of an attempt', async () => {
    const journal = memoryJournal();
    const refusal = new EspalierError('budget', 'Nothing is left.');
    const { call } = testCall({ retry: () => Promise.reject(refusal) });
    const model = wrapModel(playing([failure('timeout')]), withRecording({ journal }), withRetry());

    expect(await rejectionOf(model.generate(request, call))).toBe(refusal);
    // It asks for another attempt, and is not granted it.
    expect(typesOf(journal)).toEqual(['journal', 'intent', 'attempt', 'failure']);
    expect(journal.lines[2]).toMatchObject({ asks: true });
  });
});

describe('a journal that cannot be written', () => {
  const failing = (after: number): Journal => {
    const journal = memoryJournal();
    return {
      ...journal,
      append(line) {
        if (journal.lines.length >= after) throw new Error('ENOSPC');
        journal.append(line);
      },
    };
  };

  test('keeps a call from being made', async () => {
    const inner = playing();
    const model = withRecording({ journal: failing(1) })(inner);
    const error = await rejectionOf(model.generate(request, testCall().call));

    expect(error).toMatchObject({
      code: 'storage',
      message: 'The journal could not be used: ENOSPC.',
    });
    expect(inner.times).toEqual([]);
  });

  test('is an error when the answer cannot be kept', async () => {
    const inner = playing();
    const model = withRecording({ journal: failing(2) })(inner);

    expect(await rejectionOf(model.generate(request, testCall().call))).toHaveProperty(
      'code',
      'storage',
    );
    expect(inner.times).toEqual([0]);
  });

  test('is refused where it is a replay', () => {
    expect(() => withRecording({ journal: replayed(memoryJournal()) })).toThrow(
      'Expected `journal` to be one to write to, got `"replay"`.',
    );
  });
});

test('a search does not take the journal of a recording for its own', async () => {
  const journal = memoryJournal();
  await withRecording({ journal })(playing()).generate(request, testCall().call);

  expect(journal.lines[0]).toMatchObject({ type: 'journal', run: { recording: 'models' } });
});

test('a further request is written down as a search would have', async () => {
  const journal = memoryJournal();
  const asked: string[] = [];
  const model = wrapModel(
    recordingModel({ n: true, answer: async (each) => samplesOf(each) }),
    withRecording({ journal }),
    withCache(),
  );
  const { call } = testCall({ requestExtraCall: async (reason) => void asked.push(reason) });
  await model.generate({ ...request, maxTokens: 10, offset: 1 }, call);
  await model.generate({ ...request, maxTokens: 10, samples: 3 }, call);

  expect(asked).toHaveLength(1);
  expect(withoutKeys(journal.lines).slice(3, 5)).toEqual([
    {
      type: 'attempt',
      call: 1,
      key: '',
      spend: { calls: 0, tokens: 0, usd: 0 },
      asks: true,
      message: 'Only some of the samples were in the cache.',
    },
    // 37 in and 3 · 10 out.
    { type: 'grant', call: 1, key: '', reserved: { calls: 0, tokens: 67, usd: 0 } },
  ]);
});
