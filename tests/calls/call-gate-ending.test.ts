import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { EspalierError } from '../../src/base/errors.ts';
import { type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import { JournalIndex } from '../../src/calls/journal-index.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import type { JsonValue } from '../../src/contracts/json.ts';
import { deferred, effectCall, openGate } from './harness.ts';

const typesOf = (lines: readonly JournalLine[]) => lines.map(({ type }) => type);
const enough = new Error('Enough.');

describe('an abort', () => {
  test('rejects calls in flight at once, and leaves their intents open', async () => {
    const { gate, ledger, journal, controller, reports } = openGate();
    let seen: AbortSignal | undefined;
    const calling = gate.call(
      effectCall(ledger, 'look', ({ signal }) => {
        seen = signal;
        return new Promise(() => {});
      }),
    );
    await turn();
    controller.abort(enough);

    await expect(calling).rejects.toBe(enough);
    expect(seen?.aborted).toBe(true);
    expect(seen?.reason).toBe(enough);
    expect(typesOf(journal.lines)).toEqual(['intent']);
    expect(new JournalIndex(journal.lines).lost).toEqual({ calls: 1, tokens: 0, usd: 0 });
    expect(reports).toEqual([]);
  });

  test('charges calls in flight as reserved, because it is unknown whether they were paid for', async () => {
    const { gate, ledger, controller } = openGate({ budget: { calls: 3 } });
    const calling = gate.call(effectCall(ledger, 'look', () => new Promise(() => {})));
    controller.abort(enough);

    await expect(calling).rejects.toBe(enough);
    expect(ledger.spend.calls).toBe(1);
    expect(ledger.remaining.calls).toBe(2);
  });

  test('keeps a late result from being written down or used', async () => {
    const { gate, ledger, journal, controller } = openGate();
    const late = deferred<JsonValue>();
    const calling = gate.call(effectCall(ledger, 'look', () => late.promise));
    controller.abort(enough);
    late.resolve('too late');

    await expect(calling).rejects.toBe(enough);
    await turn();
    expect(typesOf(journal.lines)).toEqual(['intent']);
  });

  test('refuses calls that come after it', async () => {
    const { gate, ledger, controller } = openGate();
    controller.abort(enough);

    await expect(gate.call(effectCall(ledger, 'look'))).rejects.toBe(enough);
    expect(gate.issued).toBe(0);
  });

  test('refuses calls that wait for the budget, though it sets some of it free', async () => {
    const { gate, ledger, controller, journal } = openGate({ budget: { tokens: 10, calls: 9 } });
    const never = () => new Promise<JsonValue>(() => {});
    const reserve = { calls: 1, tokens: 6, usd: 0 };
    const first = gate.call({ ...effectCall(ledger, 'one', never), reserve });
    let runs = 0;
    const run = () => Promise.resolve(++runs);
    const second = gate.call({ ...effectCall(ledger, 'two', run), reserve });
    const third = gate.call({
      ...effectCall(ledger, 'three', run),
      reserve: { calls: 1, tokens: 1, usd: 0 },
    });
    await turn();
    expect(gate.issued).toBe(1);
    controller.abort(enough);

    await expect(first).rejects.toBe(enough);
    await expect(second).rejects.toHaveProperty('code', 'budget');
    await expect(third).rejects.toBe(enough);
    await turn();
    expect(runs).toBe(0);
    expect(typesOf(journal.lines)).toEqual(['intent']);
    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 6 });
  });
});

/** The journal of a process that died while this effect was under way. */
async function diedDuring(name: string): Promise<Journal> {
  const { gate, ledger, journal, controller } = openGate();
  const calling = gate.call(effectCall(ledger, name, () => new Promise(() => {})));
  controller.abort(enough);
  await expect(calling).rejects.toBe(enough);
  return memoryJournal(journal.lines);
}

describe('an effect that was under way when the process died', () => {
  test('is not repeated unasked: it is reported as interrupted', async () => {
    const { gate, ledger, journal } = openGate({ journal: await diedDuring('send mail') });
    let runs = 0;
    const call = effectCall(ledger, 'send mail', () => Promise.resolve(++runs));
    const error = await gate.call(call).catch((thrown: unknown) => thrown);

    expect(EspalierError.isInstance(error) && error.code).toBe('interrupted');
    expect(error).toHaveProperty(
      'message',
      'send mail was in progress when its search was interrupted, and its outcome is unknown.',
    );
    expect(runs).toBe(0);
    expect(typesOf(journal.lines)).toEqual(['intent', 'resume', 'failure']);
    await expect(gate.call(call)).rejects.toHaveProperty('code', 'interrupted');
    expect(journal.lines).toHaveLength(3);
  });

  test('is charged once, as lost', async () => {
    const { gate, ledger, journal } = openGate({ journal: await diedDuring('send mail') });
    await expect(gate.call(effectCall(ledger, 'send mail'))).rejects.toThrow();

    const lost = { calls: 1, tokens: 0, usd: 0 };
    expect(journal.lines[1]).toMatchObject({ type: 'resume', lost });
    expect(journal.lines[2]).toMatchObject({ type: 'failure', spend: { calls: 0 } });
    expect(new JournalIndex(journal.lines)).toMatchObject({ lost: { calls: 0 }, total: lost });
    expect(ledger.spend.calls).toBe(1);
  });

  test('stays interrupted in a replay and in the next process', async () => {
    const { gate, ledger, journal } = openGate({ journal: await diedDuring('send mail') });
    await expect(gate.call(effectCall(ledger, 'send mail'))).rejects.toThrow();

    for (const again of [replayed(journal), memoryJournal(journal.lines)]) {
      const next = openGate({ journal: again });
      await expect(next.gate.call(effectCall(next.ledger, 'send mail'))).rejects.toHaveProperty(
        'code',
        'interrupted',
      );
      expect(next.ledger.spend.calls).toBe(1);
      expect(next.journal.lines).toEqual(journal.lines);
    }
  });

  test('is repeated where it may be', async () => {
    const { gate, ledger, journal } = openGate({ journal: await diedDuring('read mail') });
    const call = { ...effectCall(ledger, 'read mail'), repeatable: true };

    expect(await gate.call(call)).toMatchObject({ output: 'read mail' });
    expect(typesOf(journal.lines)).toEqual(['intent', 'resume', 'intent', 'result']);
  });

  test('is unrecorded in a replay that has no outcome of it', async () => {
    const { gate, ledger } = openGate({ journal: replayed(await diedDuring('send mail')) });

    await expect(gate.call(effectCall(ledger, 'send mail'))).rejects.toHaveProperty(
      'code',
      'unrecorded',
    );
  });
});

/** A journal that takes so many lines and then has no more room. */
function fullAfter(lines: number): Journal {
  const journal = memoryJournal();
  return {
    ...journal,
    append(line) {
      if (journal.lines.length >= lines) throw new EspalierError('storage', 'The disk is full.');
      journal.append(line);
    },
  };
}

describe('a journal that cannot be written', () => {
  test('keeps a call from being made', async () => {
    const { gate, ledger } = openGate({ journal: fullAfter(0) });
    let runs = 0;

    await expect(
      gate.call(effectCall(ledger, 'look', () => Promise.resolve(++runs))),
    ).rejects.toHaveProperty('code', 'storage');
    expect(runs).toBe(0);
    expect(gate.storageError?.message).toBe('The disk is full.');
    expect(ledger.spend.calls).toBe(0);
  });

  test('does not use a result that no later run would know of, and is the end', async () => {
    const { gate, ledger } = openGate({ journal: fullAfter(1) });
    let runs = 0;
    const look = effectCall(ledger, 'look', () => Promise.resolve(++runs));

    await expect(gate.call(look)).rejects.toHaveProperty('code', 'storage');
    // It was made, and is charged.
    expect(runs).toBe(1);
    expect(ledger.spend.calls).toBe(1);
    expect(gate.storageError?.message).toBe('The disk is full.');
    await expect(gate.call(look)).rejects.toBe(gate.storageError);
    expect(runs).toBe(1);
    await expect(gate.call(effectCall(ledger, 'listen'))).rejects.toBe(gate.storageError);
  });
});

test('a journal that cannot be read any more is the end as well', async () => {
  const first = openGate();
  await first.gate.call(effectCall(first.ledger, 'look'));
  const { lines } = first.journal;
  const gone: Journal = {
    mode: 'replay',
    append: () => {},
    lines: {
      entries: () => lines.entries(),
      [Symbol.iterator]: () => lines[Symbol.iterator](),
      at() {
        throw new Error('ENOENT');
      },
    },
  };
  const { gate, ledger } = openGate({ journal: gone });

  await expect(gate.call(effectCall(ledger, 'look'))).rejects.toMatchObject({
    code: 'storage',
    message: 'The journal could not be used: ENOENT.',
  });
  expect(ledger.spend.calls).toBe(1);
  await expect(gate.call(effectCall(ledger, 'listen'))).rejects.toBe(gate.storageError);
});

describe('before a recorded deadline, a call without a result never gets one', () => {
  const deadline: JournalLine = { type: 'deadline', ms: 10, simulations: 1, results: 0 };

  test.each<[string, () => Promise<readonly JournalLine[]>]>([
    ['where nothing had been asked', () => Promise.resolve([])],
    [
      'where another call had been answered',
      async () => {
        const { gate, ledger, journal } = openGate();
        await gate.call(effectCall(ledger, 'listen'));
        return journal.lines;
      },
    ],
    ['where it had been under way', async () => [...(await diedDuring('look')).lines]],
  ])('%s', async (_title, before) => {
    for (const mode of ['record', 'replay'] as const) {
      const recorded = memoryJournal([...(await before()), deadline]);
      const { length } = recorded.lines;
      const hasOther = length > 2 && recorded.lines[1]?.type === 'result';
      let ahead = true;
      let expired = 0;
      const { gate, ledger, controller, sequencer } = openGate({
        journal: mode === 'record' ? recorded : replayed(recorded),
        deadlineAhead: () => ahead,
        expire: () => expired++,
      });
      if (hasOther) await gate.call(effectCall(ledger, 'listen'));
      let runs = 0;
      let settled = false;
      const calling = gate.call(effectCall(ledger, 'look', () => Promise.resolve(++runs)));
      void calling
        .catch(() => {})
        .then(() => {
          settled = true;
        });
      for (let round = 0; round < 5; round++) await turn();
      expect({ settled, runs }).toEqual({ settled: false, runs: 0 });
      expect(recorded.lines).toHaveLength(length);
      // Nothing else can happen: the search ends as it did.
      expect(expired).toBeGreaterThan(0);
      expect(sequencer.pending).toBe(1);

      ahead = false;
      controller.abort(enough);
      await expect(calling).rejects.toBe(enough);
    }
  });
});
