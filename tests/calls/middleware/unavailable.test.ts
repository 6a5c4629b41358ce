import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { EspalierError, ModelCallError } from '../../../src/base/errors.ts';
import { addSpend } from '../../../src/calls/call-spend.ts';
import { type Journal, memoryJournal, replayed } from '../../../src/calls/index.ts';
import { openGate } from '../harness.ts';
import { calling, caught, none, paid, used, worst } from './attempting.ts';

describe('a failure', () => {
  const failingWith = async (error: Error) => {
    const { gate, ledger } = openGate();
    const outcome = await caught(gate.call(calling(ledger, () => Promise.reject(error))));
    const { calls, tokens, usd } = ledger.spend;
    return { outcome, spend: { calls, tokens, usd } };
  };
  const onlyCounted = { calls: 1, tokens: 0, usd: 0 };

  test('that was not charged counts as a call and costs nothing', async () => {
    const error = new ModelCallError({ kind: 'rate-limit', message: 'Busy.' });

    expect((await failingWith(error)).spend).toEqual(onlyCounted);
  });

  test('that may have been charged costs what was reserved', async () => {
    const error = new ModelCallError({ kind: 'timeout', message: 'Late.' });

    expect((await failingWith(error)).spend).toEqual(worst);
    expect((await failingWith(new Error('Who knows.'))).spend).toEqual(worst);
  });

  test.each([
    ['that nobody was asked', undefined, { calls: 0, tokens: 0, usd: 0 }],
    [
      'that the last attempt was charged',
      new ModelCallError({ kind: 'timeout', message: '' }),
      worst,
    ],
    ['that it was not', new ModelCallError({ kind: 'overloaded', message: '' }), onlyCounted],
  ])('because the model was given up says %s', async (_title, cause, spend) => {
    const error = new EspalierError('unavailable', 'It is dead.', { cause });

    expect(await failingWith(error)).toEqual({ outcome: 'unavailable', spend });
  });
});

describe('a model that cannot be used', () => {
  const dead = new EspalierError('unavailable', 'The server is dead.');

  async function ended(): Promise<Journal> {
    const { gate, ledger, journal } = openGate();
    await caught(
      gate.call(
        calling(ledger, async (call) => {
          await call.retry?.(paid);
          throw dead;
        }),
      ),
    );
    expect(journal.lines.at(-1)).toMatchObject({
      type: 'failure',
      unavailable: true,
      spend: { calls: 1, tokens: 0 },
    });
    return journal;
  }

  test('is asked again when recording goes on, and what was spent on it is not forgotten', async () => {
    const { gate, ledger, journal } = openGate({ journal: memoryJournal((await ended()).lines) });
    const { length } = journal.lines;

    expect(await caught(gate.call(calling(ledger, () => turn())))).toBe('answer');
    // What the dead one was charged, once: 10 and 0.5 for its attempt, and the call.
    const charged = { calls: 1, tokens: 10, usd: 0.5 };
    expect(journal.lines[length]).toMatchObject({ type: 'resume', lost: none, charged });
    expect(ledger.spend).toMatchObject(addSpend(charged, used));
  });

  test('ends a replay in the same words, for the same price', async () => {
    const ending = await ended();
    const { gate, ledger, journal } = openGate({ journal: replayed(ending) });
    const failing = gate.call(calling(ledger, () => turn()));

    await expect(failing).rejects.toMatchObject({ code: 'unavailable', message: dead.message });
    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 10, usd: 0.5 });
    expect(journal.lines).toEqual(ending.lines);
  });
});
