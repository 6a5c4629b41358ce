import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import type { JsonValue } from '../../src/contracts/json.ts';
import { deferred, effectCall, openGate } from './harness.ts';

const typesOf = (lines: readonly JournalLine[]) => lines.map(({ type }) => type);

/** A content address. */
const address: unknown = expect.stringMatching(/^[\w-]{43}$/);

describe('a call', () => {
  test('is written down before it starts, and its result before it is used', async () => {
    const { gate, journal, ledger } = openGate();
    const log: string[] = [];
    const { callId, output } = await gate.call(
      effectCall(ledger, 'look', () => {
        log.push(...typesOf(journal.lines));
        return Promise.resolve({ seen: 1 });
      }),
    );

    expect(log).toEqual(['intent']);
    expect(output).toEqual({ seen: 1 });
    expect(callId).toBe('0');
    expect(journal.lines).toEqual([
      {
        type: 'intent',
        call: 0,
        key: address,
        kind: 'effect',
        name: 'look',
        reserved: { calls: 1, tokens: 0, usd: 0 },
        request: null,
      },
      {
        type: 'result',
        call: 0,
        key: address,
        spend: { calls: 1, tokens: 0, usd: 0 },
        output: { seen: 1 },
      },
    ]);
  });

  test('is charged and reported when it takes effect', async () => {
    const { gate, ledger, reports } = openGate({ budget: { calls: 2 } });
    const calling = gate.call(effectCall(ledger, 'look'));
    expect(ledger.spend.calls).toBe(0);
    expect(ledger.remaining.calls).toBe(1);

    await calling;
    expect(ledger.spend.calls).toBe(1);
    expect(reports).toEqual([
      {
        callId: '0',
        kind: 'effect',
        name: 'look',
        spend: { calls: 1, tokens: 0, usd: 0 },
        replayed: false,
        failure: undefined,
      },
    ]);
  });
});

describe('an equal call', () => {
  test('is made once however often it is asked for', async () => {
    const { gate, ledger } = openGate();
    let runs = 0;
    const run = () => Promise.resolve(++runs);
    const together = await Promise.all([
      gate.call(effectCall(ledger, 'look', run)),
      gate.call(effectCall(ledger, 'look', run)),
    ]);
    const later = await gate.call(effectCall(ledger, 'look', run));

    expect([...together, later].map(({ output }) => output)).toEqual([1, 1, 1]);
    expect(gate.issued).toBe(1);
    expect(ledger.spend.calls).toBe(1);
  });

  test('is another one where kind, name, request or samples differ', async () => {
    const { gate, ledger } = openGate();
    const call = effectCall(ledger, 'look');
    await Promise.all([
      gate.call(call),
      gate.call({ ...call, kind: 'score' }),
      gate.call({ ...call, name: 'listen' }),
      gate.call({ ...call, request: { at: 1 } }),
      gate.call({ ...call, samples: [0, 1] }),
      gate.call({ ...call, samples: [1, 1] }),
    ]);

    expect(gate.issued).toBe(6);
  });

  test('is the same one whatever the order of keys in its request', async () => {
    const { gate, ledger } = openGate();
    const call = effectCall(ledger, 'look');
    await gate.call({ ...call, request: { a: 1, b: 2 } });
    await gate.call({ ...call, request: { b: 2, a: 1 } });

    expect(gate.issued).toBe(1);
  });
});

describe('a call that fails', () => {
  const failing = () => Promise.reject(new Error('Out of order.'));

  test('is written down, charged as reserved, and reported', async () => {
    const { gate, journal, ledger, reports } = openGate();

    await expect(gate.call(effectCall(ledger, 'look', failing))).rejects.toThrow('Out of order.');
    expect(journal.lines[1]).toMatchObject({
      type: 'failure',
      call: 0,
      message: 'Out of order.',
      spend: { calls: 1, tokens: 0, usd: 0 },
    });
    expect(ledger.spend.calls).toBe(1);
    expect(reports[0]?.failure).toBe('Out of order.');
  });

  test('is not made again', async () => {
    const { gate, ledger } = openGate();
    let runs = 0;
    const call = effectCall(ledger, 'look', () => {
      runs++;
      return failing();
    });

    await expect(gate.call(call)).rejects.toThrow('Out of order.');
    await expect(gate.call(call)).rejects.toThrow('Out of order.');
    expect(runs).toBe(1);
  });

  test('keeps the error as its cause', async () => {
    const { gate, ledger } = openGate();

    await expect(gate.call(effectCall(ledger, 'look', failing))).rejects.toHaveProperty(
      'cause.message',
      'Out of order.',
    );
  });

  test('may throw before it returns a promise, or throw what is no error', async () => {
    const { gate, ledger } = openGate();
    const broken = (): never => {
      throw new Error('At once.');
    };
    const odd = () => Promise.reject('a word');

    await expect(gate.call(effectCall(ledger, 'one', broken))).rejects.toThrow('At once.');
    await expect(gate.call(effectCall(ledger, 'two', odd))).rejects.toThrow('a word');
  });

  test('is one whose result is not JSON: the path is named', async () => {
    const { gate, ledger, journal } = openGate();
    const run = () => Promise.resolve({ board: [new Map()] } as unknown as JsonValue);

    await expect(gate.call(effectCall(ledger, 'look', run))).rejects.toThrow(
      'Expected `result of look` to be JSON, got a Map at `result of look.board.0`.',
    );
    expect(typesOf(journal.lines)).toEqual(['intent', 'failure']);
  });
});

describe('the budget', () => {
  test('refuses a call that it cannot hold, which leaves no trace', async () => {
    const { gate, ledger, journal } = openGate({ budget: { calls: 0 } });
    let runs = 0;
    const call = effectCall(ledger, 'look', () => Promise.resolve(++runs));

    await expect(gate.call(call)).rejects.toHaveProperty('code', 'budget');
    expect(runs).toBe(0);
    expect(journal.lines).toEqual([]);
    expect(gate.issued).toBe(0);
  });

  test('lets a refused call be asked for again, with more to spend', async () => {
    const { gate, ledger } = openGate({ budget: { calls: 0 } });
    const more = openGate();
    await expect(gate.call(effectCall(ledger, 'look'))).rejects.toHaveProperty('code', 'budget');

    expect(await gate.call(effectCall(more.ledger, 'look'))).toMatchObject({ output: 'look' });
  });

  test('makes a call wait for one in flight', async () => {
    const { gate, ledger } = openGate({ budget: { calls: 1 } });
    const first = deferred<JsonValue>();
    const one = effectCall(ledger, 'one', () => first.promise);
    const free = { calls: 0, tokens: 0, usd: 0 };
    const calling = gate.call({
      ...one,
      run: async (...made) => ({ ...(await one.run(...made)), spend: free }),
    });
    const second = gate.call(effectCall(ledger, 'two'));
    await turn();
    expect(gate.issued).toBe(1);

    first.resolve('done');
    await calling;
    expect(await second).toMatchObject({ output: 'two', callId: '1' });
  });
});

describe('a gate that goes on where another ended', () => {
  test('shares its calls and numbers on', async () => {
    const journal = memoryJournal();
    const first = openGate({ journal });
    await first.gate.call(effectCall(first.ledger, 'look'));
    const second = openGate({ journal, before: first.gate });
    const again = await second.gate.call(
      effectCall(second.ledger, 'look', () => Promise.resolve('made again')),
    );
    const next = await second.gate.call(effectCall(second.ledger, 'listen'));

    expect(again).toEqual({ callId: '0', output: 'look' });
    expect(next.callId).toBe('1');
    expect(second.ledger.spend.calls).toBe(1);
  });

  test('answers from the journal what another process has bought, for what it cost', async () => {
    const first = openGate();
    await first.gate.call(effectCall(first.ledger, 'look'));
    const second = openGate({ journal: memoryJournal(first.journal.lines) });
    const again = await second.gate.call(
      effectCall(second.ledger, 'look', () => Promise.resolve('made again')),
    );

    expect(again).toEqual({ callId: '0', output: 'look' });
    expect(second.reports[0]?.replayed).toBe(true);
    expect(second.ledger.spend.calls).toBe(1);
    expect(second.journal.lines).toHaveLength(2);
    expect(second.gate.coverage).toEqual({ recorded: 1, unrecorded: 0 });
  });

  test('fails again what failed there', async () => {
    const first = openGate();
    const failing = () => Promise.reject(new Error('Out of order.'));
    await expect(first.gate.call(effectCall(first.ledger, 'look', failing))).rejects.toThrow();
    const second = openGate({ journal: memoryJournal(first.journal.lines) });

    await expect(second.gate.call(effectCall(second.ledger, 'look'))).rejects.toThrow(
      'Out of order.',
    );
  });
});

describe('a replay', () => {
  test('makes no call and applies results in the order of its journal', async () => {
    const live = openGate();
    const [slow, fast] = [deferred<JsonValue>(), deferred<JsonValue>()];
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const calling = [
      live.gate.call(effectCall(live.ledger, 'slow', () => slow.promise)).then(note('slow')),
      live.gate.call(effectCall(live.ledger, 'fast', () => fast.promise)).then(note('fast')),
    ];
    await turn();
    fast.resolve('f');
    await turn();
    await turn();
    slow.resolve('s');
    await Promise.all(calling);
    const { gate, ledger } = openGate({ journal: replayed(live.journal) });
    const never = () => Promise.reject(new Error('A replay makes no call.'));
    await Promise.all([
      gate.call(effectCall(ledger, 'slow', never)).then(note('slow again')),
      gate.call(effectCall(ledger, 'fast', never)).then(note('fast again')),
    ]);

    expect(order).toEqual(['fast', 'slow', 'fast again', 'slow again']);
  });

  test('refuses a call that is not recorded, and counts it', async () => {
    const { gate, ledger } = openGate({ journal: replayed(memoryJournal()) });
    const call = effectCall(ledger, 'look');

    await expect(gate.call(call)).rejects.toHaveProperty('code', 'unrecorded');
    await expect(gate.call(call)).rejects.toThrow(
      'The journal does not contain this effect call of look; a replay makes no new calls.',
    );
    expect(gate.coverage).toEqual({ recorded: 0, unrecorded: 2 });
    expect(ledger.spend.calls).toBe(0);
  });
});
