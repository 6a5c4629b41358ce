import { describe, expect, test } from 'vitest';
import { Ledger } from '../../src/calls/ledger.ts';
import type { Budget } from '../../src/contracts/spend.ts';
import { standingClock } from './harness.ts';

const open = (budget: Budget, parent?: Ledger): Ledger =>
  new Ledger({ budget, clock: standingClock(), parent });
const one = { calls: 1, tokens: 10, usd: 0.1 };

describe('exhausted', () => {
  test('is undefined while every unit has something left', () => {
    const ledger = open({ simulations: 2, nodes: 2, calls: 2, tokens: 20, usd: 0.2, ms: 2 });
    ledger.addSimulations(1);
    ledger.addNodes(1);
    ledger.charge(one);

    expect(ledger.exhausted).toBeUndefined();
  });

  test.each<[keyof Budget, (ledger: Ledger) => void]>([
    ['simulations', (ledger) => ledger.addSimulations(1)],
    ['nodes', (ledger) => ledger.addNodes(1)],
    ['calls', (ledger) => ledger.charge({ calls: 1, tokens: 0, usd: 0 })],
    ['tokens', (ledger) => ledger.charge({ calls: 0, tokens: 1, usd: 0 })],
    ['usd', (ledger) => ledger.charge({ calls: 0, tokens: 0, usd: 1 })],
  ])('is `%s` once its limit is reached', (unit, spend) => {
    const ledger = open({ [unit]: 2 });
    spend(ledger);
    expect(ledger.exhausted).toBeUndefined();

    spend(ledger);
    expect(ledger.exhausted).toBe(unit);
  });

  test('is `ms` once the deadline is reached', () => {
    const clock = standingClock();
    clock.time = 1_000;
    const ledger = new Ledger({ budget: { ms: 50 }, clock });
    clock.time = 1_049;
    expect(ledger.exhausted).toBeUndefined();
    expect(ledger.remaining.ms).toBe(1);

    clock.time = 1_050;
    expect(ledger.exhausted).toBe('ms');
    expect(ledger.spend.ms).toBe(50);
  });

  test('is never a unit without a limit', () => {
    const ledger = open({});
    ledger.addSimulations(1e9);
    ledger.charge({ calls: 1e9, tokens: 1e12, usd: 1e9 });

    expect(ledger.exhausted).toBeUndefined();
    expect(ledger.remaining).toEqual({
      simulations: Infinity,
      nodes: Infinity,
      calls: Infinity,
      tokens: Infinity,
      usd: Infinity,
      ms: Infinity,
    });
  });

  test('is known from the start for a limit of 0', () => {
    expect(open({ simulations: 0 }).exhausted).toBe('simulations');
    expect(open({ usd: 0 }).exhausted).toBe('usd');
  });
});

test('a simulation that came to nothing is taken back', () => {
  const ledger = open({ simulations: 1 });
  ledger.addSimulations(1);
  ledger.addSimulations(-1);

  expect(ledger.exhausted).toBeUndefined();
  expect(ledger.spend.simulations).toBe(0);
});

describe('a child ledger', () => {
  test('spends from its parent as well', () => {
    const parent = open({ calls: 10, tokens: 100, nodes: 10, simulations: 10 });
    const child = open({ calls: 3 }, parent);
    child.addNodes(2);
    child.addSimulations(1);
    const reservation = child.reserve(one);
    expect(parent.remaining).toMatchObject({ calls: 9, tokens: 90, nodes: 8, simulations: 9 });

    if (!(reservation instanceof Promise)) reservation.settle({ calls: 1, tokens: 4, usd: 0 });
    expect(parent.spend).toMatchObject({ calls: 1, tokens: 4, nodes: 2, simulations: 1 });
    expect(child.spend).toMatchObject({ calls: 1, tokens: 4, nodes: 2, simulations: 1 });
  });

  test('has no more left than its parent', () => {
    const parent = open({ calls: 3, tokens: 100, nodes: 5 });
    const child = open({ calls: 10, nodes: 9 }, parent);
    parent.charge({ calls: 1, tokens: 90, usd: 0 });

    expect(child.remaining).toMatchObject({ calls: 2, tokens: 10, nodes: 5, usd: Infinity });
    expect(child.freeNodes).toBe(5);
    expect(() => child.reserve({ calls: 1, tokens: 11, usd: 0 })).toThrow(
      'The budget has 10 tokens left; the next call may need 11.',
    );
  });

  test('is exhausted with its parent, and not the other way round', () => {
    const parent = open({ calls: 3 });
    const child = open({ calls: 1 }, parent);
    child.charge({ calls: 1, tokens: 0, usd: 0 });
    expect([child.exhausted, parent.exhausted]).toEqual(['calls', undefined]);

    const other = open({ calls: 9 }, parent);
    parent.charge({ calls: 2, tokens: 0, usd: 0 });
    expect([other.exhausted, parent.exhausted]).toEqual(['calls', 'calls']);
  });

  test('waits in one line with its parent and its siblings', async () => {
    const parent = open({ calls: 1 });
    const [left, right] = [open({}, parent), open({}, parent)];
    const first = parent.reserve(one);
    const order: string[] = [];
    const wait = async (ledger: Ledger, name: string) => {
      const reservation = await ledger.reserve(one);
      order.push(name);
      reservation.settle({ calls: 0, tokens: 0, usd: 0 });
    };
    const all = [wait(left, 'left'), wait(right, 'right'), wait(parent, 'parent')];
    if (!(first instanceof Promise)) first.settle({ calls: 0, tokens: 0, usd: 0 });
    await Promise.all(all);

    expect(order).toEqual(['left', 'right', 'parent']);
    expect(parent.root).toBe(parent);
    expect(left.root).toBe(parent);
  });

  test('closes without its parent', async () => {
    const parent = open({ calls: 1 });
    const child = open({}, parent);
    const first = parent.reserve(one);
    const waiting = child.reserve(one);
    const parents = parent.reserve(one);
    child.close();

    await expect(waiting).rejects.toThrow('The budget has 0 calls left, counting refused ones;');
    if (!(first instanceof Promise)) first.settle({ calls: 0, tokens: 0, usd: 0 });
    expect(await parents).toHaveProperty('settle');
  });

  test('passes its overdraft on to its parent', () => {
    const parent = open({ tokens: 100 });
    const child = open({}, open({}, parent));
    const reservation = child.reserve(one);
    if (!(reservation instanceof Promise)) reservation.settle({ calls: 1, tokens: 17, usd: 0 });

    const over = { tokens: 7, usd: 0 };
    expect([child.overdraft, parent.overdraft]).toEqual([over, over]);
  });
});

test('a child waits for nobody in its parent while it repeats what that was charged for', async () => {
  const pool = open({ calls: 3 });
  const other = open({}, pool);
  const ledger = open({ calls: 2 }, pool);
  ledger.prepay({ calls: 2, tokens: 0, usd: 0 });
  ledger.isRepeating = true;
  const held = other.reserve(one);
  const queued = other.reserve(one);
  const [first, second, third] = [1, 2, 3].map(() => ledger.reserve(one));
  const waits = [held, queued, first, second, third].map((each) => each instanceof Promise);
  expect(waits).toEqual([false, true, false, false, true]);

  // From here on it stands in line behind the other one, and gives back nothing that the pool could use.
  ledger.isRepeating = false;
  for (const each of [held, first, second]) (await each)?.settle(one);
  await expect(queued).rejects.toThrow('The budget has 0 calls left');
  await expect(third).rejects.toThrow('The budget has 0 calls left');
  expect(pool.spend.calls).toBe(3);
});
