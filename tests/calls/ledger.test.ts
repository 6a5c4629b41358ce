import { describe, expect, test } from 'vitest';
import { EspalierError } from '../../src/base/errors.ts';
import { Ledger, type Reservation } from '../../src/calls/ledger.ts';
import type { Budget } from '../../src/contracts/spend.ts';
import { standingClock } from './harness.ts';

const open = (budget: Budget, parent?: Ledger): Ledger =>
  new Ledger({ budget, clock: standingClock(), parent });
const tokens = (count: number) => ({ calls: 1, tokens: count, usd: 0 });

/** A reservation that was granted at once. */
function granted(answer: Reservation | Promise<Reservation>): Reservation {
  if (answer instanceof Promise) throw new Error('The reservation had to wait.');
  return answer;
}

/** A reservation that waits, and what has become of it. */
function waiting(answer: Reservation | Promise<Reservation>): {
  readonly state: () => 'waiting' | 'granted' | 'refused';
  readonly reservation: Promise<Reservation>;
} {
  if (!(answer instanceof Promise)) throw new Error('The reservation did not wait.');
  let state: 'waiting' | 'granted' | 'refused' = 'waiting';
  answer.then(
    () => {
      state = 'granted';
    },
    () => {
      state = 'refused';
    },
  );
  return { state: () => state, reservation: answer };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a reservation', () => {
  test('is held until it is settled, and then only what was used is charged', () => {
    const ledger = open({ calls: 5, tokens: 100, usd: 1 });
    const reservation = granted(ledger.reserve({ calls: 2, tokens: 60, usd: 0.5 }));
    expect(ledger.remaining).toMatchObject({ calls: 3, tokens: 40, usd: 0.5 });
    expect(ledger.spend).toMatchObject({ calls: 0, tokens: 0, usd: 0 });

    reservation.settle({ calls: 2, tokens: 25, usd: 0.25 });
    expect(ledger.remaining).toMatchObject({ calls: 3, tokens: 75, usd: 0.75 });
    expect(ledger.spend).toMatchObject({ calls: 2, tokens: 25, usd: 0.25 });
  });

  test('is charged in full if no usage is reported', () => {
    const ledger = open({ tokens: 100 });
    granted(ledger.reserve(tokens(60))).settle();

    expect(ledger.spend).toMatchObject({ calls: 1, tokens: 60 });
  });

  test('may be exactly what is left', () => {
    const ledger = open({ calls: 1, tokens: 60 });

    expect(ledger.reserve(tokens(60))).not.toBeInstanceOf(Promise);
    expect(ledger.remaining).toMatchObject({ calls: 0, tokens: 0 });
  });

  test('gives dollars back to the last digit: 0.05 + 0.15 − 0.05 − 0.15 is not 0 in binary', () => {
    const ledger = open({ usd: 0.2 });
    const dollars = (usd: number) => ({ calls: 1, tokens: 0, usd });
    const first = granted(ledger.reserve(dollars(0.05)));
    const second = granted(ledger.reserve(dollars(0.15)));
    first.settle(dollars(0));
    second.settle(dollars(0));

    expect(ledger.remaining.usd).toBe(0.2);
    expect(ledger.reserve(dollars(0.2))).not.toBeInstanceOf(Promise);
  });

  test('cannot be settled twice', () => {
    const reservation = granted(open({}).reserve(tokens(1)));
    reservation.settle();

    expect(() => reservation.settle()).toThrow('A reservation was settled twice.');
  });
});

describe('a reservation that does not fit', () => {
  test('waits for a call in flight to give back what it did not use', async () => {
    const ledger = open({ tokens: 100 });
    const first = granted(ledger.reserve(tokens(80)));
    const second = waiting(ledger.reserve(tokens(50)));
    await settled();
    expect(second.state()).toBe('waiting');

    first.settle(tokens(30));
    await settled();
    expect(second.state()).toBe('granted');
    expect(ledger.remaining.tokens).toBe(20);
  });

  test('is refused where nothing is in flight that could give back', () => {
    const ledger = open({ tokens: 100 });

    expect(() => ledger.reserve(tokens(101))).toThrow(
      'The budget has 100 tokens left; the next call may need 101.',
    );
  });

  test('is refused once nothing is in flight any more', async () => {
    const ledger = open({ tokens: 100 });
    const first = granted(ledger.reserve(tokens(80)));
    const second = waiting(ledger.reserve(tokens(50)));
    first.settle();

    await expect(second.reservation).rejects.toThrow(
      'The budget has 20 tokens left; the next call may need 50.',
    );
    await expect(second.reservation).rejects.toSatisfy(
      (error) => EspalierError.isInstance(error) && error.code === 'budget',
    );
  });

  test.each([
    ['calls', { calls: 3, tokens: 0, usd: 0 }],
    ['tokens', { calls: 1, tokens: 11, usd: 0 }],
    ['usd', { calls: 1, tokens: 1, usd: 0.6 }],
  ] as const)('names %s as the unit that is short', (unit, estimate) => {
    const ledger = open({ calls: 2, tokens: 10, usd: 0.5 });

    expect(() => ledger.reserve(estimate)).toThrow(`; the next call may need ${estimate[unit]}.`);
    expect(ledger.exhausted).toBe(unit);
  });

  test('waits its turn: a small call does not overtake a large one', async () => {
    const ledger = open({ tokens: 100 });
    const first = granted(ledger.reserve(tokens(90)));
    const large = waiting(ledger.reserve(tokens(60)));
    const small = waiting(ledger.reserve(tokens(10)));
    await settled();
    expect(small.state()).toBe('waiting');

    first.settle(tokens(20));
    await settled();
    expect([large.state(), small.state()]).toEqual(['granted', 'granted']);
    expect(ledger.remaining.tokens).toBe(10);
  });

  test('keeps those behind it waiting until it is served or refused', async () => {
    const ledger = open({ tokens: 100 });
    const [one, two] = [granted(ledger.reserve(tokens(50))), granted(ledger.reserve(tokens(50)))];
    const large = waiting(ledger.reserve(tokens(70)));
    const small = waiting(ledger.reserve(tokens(10)));
    one.settle(tokens(20));
    await settled();
    expect([large.state(), small.state()]).toEqual(['waiting', 'waiting']);

    two.settle(tokens(50));
    await settled();
    // 30 are left: the large one can never fit again, the small one can.
    expect([large.state(), small.state()]).toEqual(['refused', 'granted']);
  });
});

describe('closing', () => {
  test('refuses everything that waits', async () => {
    const ledger = open({ tokens: 100 });
    const first = granted(ledger.reserve(tokens(90)));
    const second = waiting(ledger.reserve(tokens(20)));
    ledger.close();

    await expect(second.reservation).rejects.toThrow('The budget has 10 tokens left');
    first.settle(tokens(5));
    expect(ledger.spend.tokens).toBe(5);
  });

  test('says that the search is over to one that would fit but for its turn', async () => {
    const ledger = open({ tokens: 100 });
    granted(ledger.reserve(tokens(90)));
    const large = waiting(ledger.reserve(tokens(20)));
    const small = waiting(ledger.reserve(tokens(5)));
    ledger.close();

    await expect(small.reservation).rejects.toThrow(
      'The search is over; no further call was made.',
    );
    await expect(large.reservation).rejects.toThrow('may need 20');
  });
});

describe('overdraft', () => {
  test('is what a server used beyond what it was allowed, and is charged as well', () => {
    const ledger = open({ tokens: 100 });
    granted(ledger.reserve(tokens(50))).settle(tokens(70));
    granted(ledger.reserve(tokens(30))).settle(tokens(10));
    granted(ledger.reserve(tokens(10))).settle(tokens(11));

    expect(ledger.overdraft).toEqual({ tokens: 21, usd: 0 });
    expect(ledger.spend.tokens).toBe(91);
  });

  test('leaves less than nothing where it breaks the budget', () => {
    const ledger = open({ tokens: 100 });
    granted(ledger.reserve(tokens(100))).settle(tokens(130));

    expect(ledger.remaining.tokens).toBe(-30);
    expect(ledger.exhausted).toBe('tokens');
  });
});
