import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { ModelCallError } from '../../src/base/errors.ts';
import type { CallSpend } from '../../src/calls/call-spend.ts';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import { JournalIndex } from '../../src/calls/journal-index.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import type { Ledger } from '../../src/calls/ledger.ts';
import type { ModelCall } from '../../src/contracts/language-model.ts';
import { deferred, openGate } from './harness.ts';
import {
  again,
  calling,
  caught,
  free,
  none,
  paid,
  quiet,
  used,
  worst,
} from './middleware/attempting.ts';

const noOverdraft = { tokens: 0, usd: 0 };

describe('an attempt that failed', () => {
  test('is charged as reserved where the server may have charged for it', async () => {
    const { gate, ledger, reports } = openGate();
    await gate.call(calling(ledger, (call) => call.retry?.(paid) ?? Promise.resolve()));

    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 13, usd: 0.625 });
    expect(reports).toMatchObject([{ spend: { calls: 1, tokens: 13, usd: 0.625 } }]);
    expect(ledger.overdraft).toEqual(noOverdraft);
  });

  test('costs nothing where it did not', async () => {
    const { gate, ledger, reports } = openGate({ budget: { tokens: 10 } });
    await gate.call(
      calling(ledger, async (call) => {
        for (let attempt = 0; attempt < 5; attempt++) await call.retry?.(free);
      }),
    );

    expect(ledger.spend).toMatchObject(used);
    expect(reports).toMatchObject([{ spend: used }]);
  });

  test('is written down when it is known, before the next one', async () => {
    const { gate, ledger, journal } = openGate();
    const lines: JournalLine[] = [];
    await gate.call(
      calling(ledger, async (call) => {
        await call.retry?.(free);
        await call.retry?.(paid);
        lines.push(...journal.lines);
      }),
    );
    const { key } = lines[0] as { key: string };

    expect(lines.slice(1)).toEqual([
      { type: 'attempt', call: 0, key, spend: none, message: 'Too many requests.' },
      { type: 'attempt', call: 0, key, spend: again, asks: true, message: 'No answer.' },
      { type: 'grant', call: 0, key, reserved: again },
    ]);
    expect(journal.lines[4]).toEqual({
      type: 'result',
      call: 0,
      key,
      spend: used,
      output: 'answer',
    });
  });

  test('holds its worst case until the call is over', async () => {
    const { gate, ledger } = openGate({ budget: { tokens: 100 } });
    const answer = deferred<void>();
    const done = gate.call(
      calling(ledger, async (call) => {
        await call.retry?.(paid);
        await answer.promise;
      }),
    );
    await quiet();
    expect(ledger.remaining.tokens).toBe(80);
    expect(ledger.spend.tokens).toBe(0);
    answer.resolve();
    await done;

    expect(ledger.remaining.tokens).toBe(87);
  });
});

describe('room for another attempt', () => {
  const retrying = (ledger: Ledger, name = 'model', before?: Promise<unknown>) =>
    calling(
      ledger,
      async (call) => {
        await before;
        await call.retry?.(paid);
      },
      { name },
    );

  test('is there where the budget holds it to the token', async () => {
    const { gate, ledger } = openGate({ budget: { tokens: 20 } });
    await gate.call(retrying(ledger));

    expect(ledger.spend.tokens).toBe(13);
  });

  test('is refused where it does not, and then the failed one is charged', async () => {
    const { gate, ledger, journal, reports } = openGate({ budget: { tokens: 19 } });
    await expect(gate.call(retrying(ledger))).rejects.toThrow(
      'The budget has 9 tokens left; the next call may need 10.',
    );

    expect(ledger.spend).toMatchObject(worst);
    expect(reports).toMatchObject([{ spend: worst }]);
    expect(journal.lines.map(({ type }) => type)).toEqual(['intent', 'attempt', 'failure']);
    // The attempt is charged on its own line, and the call on the last one.
    expect(journal.lines[1]).toMatchObject({ spend: again, asks: true });
    expect(journal.lines[2]).toMatchObject({ spend: { ...none, calls: 1 }, transient: true });
  });

  test('may come from a call in flight', async () => {
    const { gate, ledger } = openGate({ budget: { tokens: 26 } });
    const other = deferred<void>();
    const failing = gate.call(retrying(ledger));
    const settling = gate.call(calling(ledger, () => other.promise, { name: 'other' }));
    await turn();
    expect(ledger.remaining.tokens).toBe(6);
    other.resolve();
    await Promise.all([failing, settling]);

    // 10 and 3 of the one, 3 of the other.
    expect(ledger.spend.tokens).toBe(16);
  });

  test('is not waited for by calls that wait for one another', async () => {
    const { gate, ledger } = openGate({ budget: { tokens: 25 } });
    const outcomes = await Promise.all(
      ['one', 'two'].map((name) => caught(gate.call(retrying(ledger, name)))),
    );

    // The second is refused and charged 10 of 25; 5 are not enough for the first.
    expect(outcomes).toEqual([
      'CallFailure: The budget has 5 tokens left; the next call may need 10.',
      'CallFailure: The budget has 5 tokens left; the next call may need 10.',
    ]);
    expect(ledger.spend.tokens).toBe(20);
    expect(ledger.remaining.tokens).toBe(5);
  });

  test('is given back by a call that is abandoned while it waits', async () => {
    const { gate, ledger, controller } = openGate({ budget: { tokens: 26 } });
    const [first, second] = [deferred<void>(), deferred<void>()];
    const waiting = caught(gate.call(retrying(ledger, 'one', first.promise)));
    const open = caught(gate.call(calling(ledger, () => second.promise, { name: 'two' })));
    await turn();
    first.resolve();
    await turn();
    controller.abort(new Error('Enough.'));
    await Promise.all([waiting, open]);
    await turn();

    // Each of the two may have been paid for once.
    expect(ledger.spend.tokens).toBe(20);
    expect(ledger.remaining.tokens).toBe(6);
  });
});

test('another attempt is refused a third time too where it never fits, and does not hang', async () => {
  const { gate, ledger } = openGate({ budget: { tokens: 25 } });
  const twice = async (call: ModelCall) => {
    await call.retry?.(paid);
    await call.retry?.(paid);
  };
  await expect(gate.call(calling(ledger, twice))).rejects.toThrow(
    'The budget has 5 tokens left; the next call may need 10.',
  );

  expect(ledger.spend.tokens).toBe(20);
  expect(ledger.exhausted).toBeUndefined();
});

test('a model that heeds no abort is granted nothing after it', async () => {
  const { gate, ledger, controller, journal } = openGate({ budget: { tokens: 50 } });
  const go = deferred<void>();
  const refused: unknown[] = [];
  const deaf = async (call: ModelCall) => {
    await go.promise;
    for (const ask of [call.retry?.(paid), call.requestExtraCall?.('More.')]) {
      await ask?.catch((error: unknown) => refused.push(error));
    }
  };
  const outcome = caught(gate.call(calling(ledger, deaf)));
  await turn();
  const enough = new Error('Enough.');
  controller.abort(enough);
  go.resolve();
  await outcome;
  await turn();

  expect(refused).toEqual([enough, enough]);
  expect(ledger.remaining.tokens).toBe(40);
  expect(journal.lines).toHaveLength(1);
});

describe('what a call has set aside', () => {
  /** A call that waits for one of which this is known, and whether it is granted what that one gives back. */
  async function nextAfter(before: (call: ModelCall) => Promise<unknown>, spend: CallSpend) {
    const { gate, ledger } = openGate({ budget: { tokens: 30 } });
    const first = gate.call(calling(ledger, before, { spend }));
    await quiet();
    expect(ledger.remaining.tokens).toBe(10);
    const larger = { ...worst, tokens: 15 };
    const next = { ...calling(ledger, () => turn(), { name: 'next' }), reserve: larger };
    const outcome = caught(gate.call(next));
    await first;
    return { outcome: await outcome, left: ledger.remaining.tokens };
  }

  test('is not granted to another where attempts have used it up', async () => {
    const before = async (call: ModelCall) => {
      await call.retry?.(paid);
      await quiet();
    };

    expect(await nextAfter(before, worst)).toEqual({ outcome: 'budget', left: 10 });
  });

  test('is not granted to another where further requests have used it up', async () => {
    const before = async (call: ModelCall) => {
      await call.requestExtraCall?.('More.');
      await quiet();
    };

    expect(await nextAfter(before, { ...used, tokens: 18 })).toEqual({
      outcome: 'budget',
      left: 12,
    });
  });
});

describe('a further request', () => {
  test('is set aside, and what it used counts with the rest', async () => {
    const { gate, ledger, reports } = openGate({ budget: { tokens: 20 } });
    const spend = { calls: 1, tokens: 15, usd: 0.75 };
    await gate.call(
      calling(ledger, (call) => call.requestExtraCall?.('One was missing.') ?? turn(), { spend }),
    );

    expect(ledger.spend).toMatchObject(spend);
    expect(reports).toMatchObject([{ spend }]);
    // 15 of 2 · 10 is no more than was set aside.
    expect(ledger.overdraft).toEqual(noOverdraft);
  });

  test('counts as reserved where no usage was told', async () => {
    const { gate, ledger } = openGate();
    await gate.call(
      calling(ledger, (call) => call.requestExtraCall?.('One was missing.') ?? turn(), {
        spend: worst,
      }),
    );

    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 20, usd: 1 });
  });

  test.each([
    [
      'though the last one was not charged',
      new ModelCallError({ kind: 'rate-limit', message: 'Busy.' }),
    ],
    ['where the call breaks', new Error('Broken.')],
  ])('counts as reserved %s', async (_title, error) => {
    const { gate, ledger } = openGate();
    const failing = async (call: ModelCall) => {
      await call.requestExtraCall?.('One was missing.');
      throw error;
    };
    await caught(gate.call(calling(ledger, failing)));

    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 20, usd: 1 });
  });
});

describe('a further request that the end comes upon', () => {
  test('counts as reserved where the call is abandoned', async () => {
    const { gate, ledger, controller } = openGate();
    const hanging = async (call: ModelCall) => {
      await call.requestExtraCall?.('One was missing.');
      await new Promise(() => {});
    };
    const outcome = caught(gate.call(calling(ledger, hanging)));
    await quiet();
    controller.abort(new Error('Enough.'));
    await outcome;

    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 20, usd: 1 });
  });

  test('is not charged where it was not granted: it was not made', async () => {
    const { gate, ledger, controller } = openGate();
    let granted = 0;
    const hanging = async (call: ModelCall) => {
      await call.requestExtraCall?.('One was missing.');
      granted++;
    };
    const outcome = caught(gate.call(calling(ledger, hanging)));
    await turn();
    controller.abort(new Error('Enough.'));
    await outcome;
    await quiet();

    expect(granted).toBe(0);
    expect(ledger.spend).toMatchObject(worst);
  });

  test('leaves the first one to be charged where it is refused', async () => {
    const { gate, ledger } = openGate({ budget: { tokens: 15 } });
    await caught(gate.call(calling(ledger, (call) => call.requestExtraCall?.('More.') ?? turn())));

    expect(ledger.spend).toMatchObject(worst);
  });

  test('is charged with the attempt that failed, even where the failure was free', async () => {
    const { gate, ledger, journal } = openGate();
    await gate.call(
      calling(ledger, async (call) => {
        await call.requestExtraCall?.('One was missing.');
        await call.retry?.(free);
      }),
    );

    // 2 · 10 for the attempt, 3 for the call.
    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 23, usd: 1.125 });
    expect(journal.lines[3]).toMatchObject({
      type: 'attempt',
      spend: { calls: 0, tokens: 20, usd: 1 },
    });
    // What may have been paid for where the process is killed after so many lines: one request once the call is there,
    // two once the other is granted, these as a failed attempt, and a third once that is granted.
    expect(
      [1, 2, 3, 4, 5].map((cut) => new JournalIndex(journal.lines.slice(0, cut)).total.tokens),
    ).toEqual([10, 10, 20, 20, 30]);
    expect(new JournalIndex(journal.lines.slice(0, 5)).lost).toEqual(worst);
  });
});

/** One call with a paid attempt, that used more than it had set aside. */
async function recorded(): Promise<{ journal: ReturnType<typeof memoryJournal>; ledger: Ledger }> {
  const live = openGate();
  const spend = { calls: 1, tokens: 12, usd: 0.5 };
  const before = (call: ModelCall) => call.retry?.(paid) ?? turn();
  await live.gate.call(calling(live.ledger, before, { spend }));
  return live;
}

describe('a journal', () => {
  test('replays to the same spend and the same overdraft', async () => {
    const { journal, ledger } = await recorded();
    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 22, usd: 1 });
    expect(ledger.overdraft).toEqual({ tokens: 2, usd: 0 });
    const replay = openGate({ journal: replayed(journal) });
    await replay.gate.call(calling(replay.ledger, () => Promise.reject(new Error('Live.'))));

    expect(replay.ledger.spend).toEqual(ledger.spend);
    expect(replay.ledger.overdraft).toEqual({ tokens: 2, usd: 0 });
    expect(replay.reports).toMatchObject([{ replayed: true, spend: { tokens: 22 } }]);
  });
});

describe('a journal that breaks off', () => {
  test('between attempt and result has lost the attempt and the next', async () => {
    const { journal } = await recorded();
    expect(journal.lines.map(({ type }) => type)).toEqual(['intent', 'attempt', 'grant', 'result']);
    const killed = memoryJournal(journal.lines.slice(0, 3));
    // The attempt is charged by its line; what came after it, nobody knows.
    expect(new JournalIndex(killed.lines)).toMatchObject({
      lost: worst,
      total: { calls: 1, tokens: 20, usd: 1 },
    });
    const { gate, ledger } = openGate({ journal: killed });
    await gate.call(calling(ledger, () => turn()));

    // Charged 2 · 10 for what was lost, and 3 for what was bought anew.
    expect(ledger.spend).toMatchObject({ calls: 2, tokens: 23, usd: 1.125 });
    expect(killed.lines[3]).toMatchObject({ type: 'resume', call: 1, lost: worst, charged: none });
    // A third process charges the same, and buys nothing.
    const third = openGate({ journal: memoryJournal(killed.lines) });
    await third.gate.call(calling(third.ledger, () => Promise.reject(new Error('Live.'))));
    expect(third.ledger.spend).toEqual(ledger.spend);
    expect(third.journal.lines).toEqual(killed.lines);
  });

  const key = 'k';
  const intent: JournalLine = {
    type: 'intent',
    call: 0,
    key,
    kind: 'generate',
    name: 'm',
    reserved: worst,
    request: null,
  };
  const asked = {
    type: 'attempt',
    call: 0,
    key,
    spend: none,
    asks: true,
    message: 'More.',
  } as const;

  test('after a further request has lost both', () => {
    const lines: JournalLine[] = [intent, asked, { type: 'grant', call: 0, key, reserved: again }];

    expect(new JournalIndex(lines).lost).toEqual({ calls: 1, tokens: 20, usd: 1 });
    // Not granted, it was not made.
    expect(new JournalIndex(lines.slice(0, 2)).lost).toEqual(worst);
  });

  test('of version 2 wrote both in one line', () => {
    const { asks: _asks, ...line } = asked;
    const lines: JournalLine[] = [
      { type: 'journal', version: 2, run: {} },
      intent,
      { ...line, reserved: again },
    ];

    expect(new JournalIndex(lines).lost).toEqual({ calls: 1, tokens: 20, usd: 1 });
  });
});
