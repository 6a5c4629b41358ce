import fc from 'fast-check';
import { expect } from 'vitest';
import { turn } from '#platform';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { EspalierError } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { CallSpend } from '../../src/calls/call-spend.ts';
import type { JournalLine } from '../../src/calls/journal-lines.ts';
import { sealLine } from '../../src/calls/journal-reader.ts';
import { Ledger, type Reservation } from '../../src/calls/ledger.ts';
import { Sequencer } from '../../src/calls/sequencer.ts';
import { standingClock } from '../calls/harness.ts';
import { linesIn } from '../calls/lines-in.ts';
import { property } from '../support/property.ts';

const json = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** The same value with the keys of every object in reverse. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reversed(part)]),
  );
}

property([json])('canonical JSON is JSON of the same value', (value) => {
  expect(JSON.parse(canonicalJson('value', value))).toEqual(value);
});

property([json])('canonical JSON does not depend on the order of keys', (value) => {
  expect(canonicalJson('value', reversed(value))).toBe(canonicalJson('value', value));
});

property([json, json])('canonical JSON is equal for equal values only', (one, other) => {
  const equal = canonicalJson('one', one) === canonicalJson('other', other);

  expect(equal).toBe(JSON.stringify(sortedDeep(one)) === JSON.stringify(sortedDeep(other)));
});

/** A value with its objects turned into sorted lists of pairs: independent of how an object keeps its keys. */
function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return { list: value.map(sortedDeep) };
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([key, part]) => [key, sortedDeep(part)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 6 });
const label = fc.oneof(printable, fc.integer(), fc.double({ noNaN: true }));
const labels = fc.array(label, { maxLength: 4 });

property([labels, fc.nat(20), fc.nat(20)])(
  'a split does not depend on what was drawn or split before it',
  (names, draws, splits) => {
    const fresh = seededRandom('property');
    const used = seededRandom('property');
    for (let draw = 0; draw < draws; draw++) used.next();
    for (let split = 0; split < splits; split++) used.split('other', split).next();

    expect(used.split(...names).next()).toBe(fresh.split(...names).next());
  },
);

property([labels, labels])('other labels name other streams', (one, other) => {
  // 0 and −0 are one label.
  const text = (names: readonly (string | number)[]) =>
    JSON.stringify(names.map((name) => [typeof name, String(name)]));
  fc.pre(text(one) !== text(other));
  const numbers = (names: readonly (string | number)[]) => {
    const random = seededRandom('property').split(...names);
    return [random.next(), random.next()];
  };

  expect(numbers(one)).not.toEqual(numbers(other));
});

property([fc.integer(), fc.integer({ min: 1, max: 2 ** 31 })])(
  'integers lie in [0, limit)',
  (seed, limit) => {
    const random = seededRandom(seed);
    for (let draw = 0; draw < 20; draw++) {
      const number = random.integer(limit);
      expect(Number.isInteger(number) && number >= 0 && number < limit).toBe(true);
    }
  },
);

const spend = { calls: 1, tokens: 1, usd: 0 };
const line: fc.Arbitrary<JournalLine> = fc.oneof(
  fc.record({ type: fc.constant('start' as const), state: fc.string({ unit: 'grapheme' }) }),
  fc.record({
    type: fc.constant('result' as const),
    call: fc.nat(),
    key: fc.string({ unit: 'grapheme' }),
    spend: fc.constant(spend),
    output: json.map((value) => value as never),
  }),
);

property([fc.array(line, { maxLength: 6 }), fc.nat()])(
  'a journal that is cut off at any byte is read as far as its last whole line',
  (lines, place) => {
    for (const version of [1, 3]) {
      const all: JournalLine[] = [{ type: 'journal', version, run: {} }, ...lines];
      const written = version < 3 ? JSON.stringify : sealLine;
      const rows = all.map((own) => Buffer.from(`${written(own)}\n`));
      const whole = Buffer.concat(rows);
      const cut = place % (whole.length + 1);
      const ends = rows.map((_, index) => Buffer.concat(rows.slice(0, index + 1)).length);
      // A line that lacks only its end is whole: no part of an object is one.
      const kept = ends.filter((end) => end - 1 <= cut);

      expect(linesIn(whole.subarray(0, cut))).toEqual(all.slice(0, kept.length));
    }
  },
);

property(
  [fc.nat(8).chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count }))],
  {
    numRuns: 30,
  },
)('results take effect as they arrive, or as they were issued', async (arrivals) => {
  for (const order of ['arrival', 'issued'] as const) {
    const sequencer = new Sequencer(order);
    const applied: number[] = [];
    const tickets = arrivals.map(() => sequencer.issue());
    for (const index of arrivals) {
      tickets[index]?.arrive(() => applied.push(index), { isLast: true });
    }
    while (sequencer.pending > 0) await turn();

    expect(applied).toEqual(order === 'arrival' ? arrivals : arrivals.map((_, index) => index));
  }
});

const settled = () => new Promise((resolve) => setImmediate(resolve));
const cents = fc.nat(40).map((count) => count / 100);
const estimate = fc.record({ calls: fc.nat(3), tokens: fc.nat(40), usd: cents });
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 });

/** What happens: somebody asks for a reservation, or the oldest or newest one in flight is settled. */
const action = fc.oneof(
  fc.record({ type: fc.constant('reserve' as const), estimate, child: fc.boolean() }),
  fc.record({ type: fc.constant('settle' as const), newest: fc.boolean() }),
);

interface Asked {
  readonly estimate: CallSpend;
  readonly child: boolean;
}

interface Held extends Asked {
  readonly reservation: Reservation;
}

const limits = { calls: 12, tokens: 100, usd: 1 };
const childLimits = { calls: 6, tokens: 60, usd: 0.5 };

/** A parent and its child, and everybody who has, or waits for, a reservation of theirs. */
class Stage {
  readonly parent: Ledger = new Ledger({ budget: limits, clock: standingClock() });
  readonly child: Ledger = new Ledger({
    budget: childLimits,
    clock: standingClock(),
    parent: this.parent,
  });
  readonly held: Held[] = [];
  /** The places in line of those who waited and were served. */
  readonly served: number[] = [];
  waiting = 0;
  #asked = 0;

  reserve(asked: Asked): void {
    const place = this.#asked++;
    let answer: Reservation | Promise<Reservation>;
    try {
      answer = (asked.child ? this.child : this.parent).reserve(asked.estimate);
    } catch (error) {
      expect(EspalierError.isInstance(error) && error.code).toBe('budget');
      return;
    }
    if (answer instanceof Promise) this.#wait(place, asked, answer);
    else this.held.push({ ...asked, reservation: answer });
  }

  #wait(place: number, asked: Asked, answer: Promise<Reservation>): void {
    this.waiting++;
    answer.then(
      (reservation) => {
        this.waiting--;
        this.served.push(place);
        this.held.push({ ...asked, reservation });
      },
      () => {
        this.waiting--;
      },
    );
  }

  /** Settles the newest or the oldest one, of which this share was used. */
  settle(newest: boolean, share: number): void {
    const own = newest ? this.held.pop() : this.held.shift();
    if (own === undefined) return;
    const { calls, tokens, usd } = own.estimate;
    own.reservation.settle({
      calls: Math.floor(calls * share),
      tokens: Math.floor(tokens * share),
      usd: usd * share,
    });
  }

  expectWithinBudget(): void {
    expectWithin(this.parent, this.held, limits);
    expectWithin(
      this.child,
      this.held.filter(({ child }) => child),
      childLimits,
    );
  }
}

function expectWithin(ledger: Ledger, held: readonly Held[], budget: CallSpend): void {
  const { spend } = ledger;
  for (const unit of ['calls', 'tokens', 'usd'] as const) {
    const reserved = held.reduce((sum, own) => sum + own.estimate[unit], 0);
    expect(spend[unit] + reserved).toBeLessThanOrEqual(budget[unit] + 1e-9);
    expect(ledger.remaining[unit]).toBeGreaterThanOrEqual(-1e-9);
  }
}

property([fc.array(action, { maxLength: 60 }), shares])(
  'no sequence of reservations and settlements exceeds the budget, and nobody waits for ever',
  async (actions, used) => {
    const stage = new Stage();
    for (const [index, step] of actions.entries()) {
      if (step.type === 'reserve') stage.reserve(step);
      else stage.settle(step.newest, used[index % used.length] ?? 0);
      await settled();
      stage.expectWithinBudget();
    }
    while (stage.held.length > 0) {
      stage.settle(false, 1);
      await settled();
    }

    expect(stage.waiting).toBe(0);
    expect(stage.served).toEqual([...stage.served].sort((a, b) => a - b));
  },
);

property([fc.array(estimate, { maxLength: 20 })])(
  'what is given back unused can be spent again, to the last token and cent',
  (estimates) => {
    const ledger = new Ledger({ budget: limits, clock: standingClock() });
    const held: Reservation[] = [];
    for (const own of estimates) {
      try {
        const answer = ledger.reserve(own);
        if (answer instanceof Promise) answer.catch(() => {});
        else held.push(answer);
      } catch (error) {
        expect(EspalierError.isInstance(error) && error.code).toBe('budget');
      }
    }
    ledger.close();
    for (const reservation of held) reservation.settle({ calls: 0, tokens: 0, usd: 0 });

    expect(ledger.remaining).toMatchObject(limits);
  },
);
