import { describe, expect, test } from 'vitest';
import { depthFirst } from '../../src/index.ts';
import { type MdpTable, tableMdp } from '../../src/testing/index.ts';
import { searchOf } from '../support/search-of.ts';

/** Proposes the first action of a state that was not proposed before, and writes down the order. */
async function run(table: MdpTable, options: Parameters<typeof depthFirst>[0] = {}) {
  const order: string[] = [];
  const result = await searchOf({
    ...tableMdp(table),
    policy: {
      propose: ({ state, children }) => {
        const action = Object.keys(table[String(state)] ?? {})[children.length];
        if (action !== undefined) order.push(`${state} ${action}`);
        return action === undefined ? [] : [{ action }];
      },
    },
    algorithm: depthFirst(options),
    budget: { simulations: 1000 },
  });
  return { ...result, order };
}

const table: MdpTable = {
  s: { a: { to: 'a' }, b: { to: 'b' }, c: { to: 'c' } },
  a: { a: { to: 'aa' }, b: { to: 'ab' } },
  aa: { x: { to: 'give up', reward: 0 }, y: { to: 'never seen', reward: 1 } },
  ab: { x: { to: 'give up too', reward: 0 } },
  b: { x: { to: 'answer', reward: 1 } },
  c: { x: { to: 'other answer', reward: 1 } },
};

describe('a depth-first search', () => {
  test('climbs two levels from an end that was given up, and stops at the first answer', async () => {
    const { order, stopReason, best, solved } = await run(table);
    // `aa` gets no second action: the climb from its end leads to `a`.
    expect(order).toEqual(['s a', 'a a', 'aa x', 'a b', 'ab x', 's b', 'b x']);
    expect({ stopReason, state: best.state, solved }).toEqual({
      stopReason: 'solved',
      state: 'answer',
      solved: true,
    });
  });

  test('with a climb of one tries all that the width allows', async () => {
    const { order, best } = await run(table, { climb: 1 });
    expect(order).toEqual(['s a', 'a a', 'aa x', 'aa y']);
    expect(best.state).toBe('never seen');
  });

  test('goes on until it has as many answers as wanted', async () => {
    const { order, stopReason } = await run(table, { answers: 2, width: 3 });
    expect(order.slice(-4)).toEqual(['s b', 'b x', 's c', 'c x']);
    expect(stopReason).toBe('solved');
  });

  test('goes up one level from a path that is too long', async () => {
    const { order, stopReason } = await run(table, { maxDepth: 2 });
    // Neither `aa` nor `ab` is opened.
    expect(order).toEqual(['s a', 'a a', 'a b', 's b', 'b x']);
    expect(stopReason).toBe('solved');
  });

  test('goes on where it was stopped', async () => {
    const problem = tableMdp(table);
    const algorithm = depthFirst();
    const whole = await searchOf({ ...problem, algorithm, budget: { simulations: 100 } });
    let part = await searchOf({ ...problem, algorithm, budget: { simulations: 1 } });
    for (let left = 100; part.stopReason === 'budget' && left > 0; left--) {
      part = await part.resume({ budget: { simulations: 1 } });
    }
    expect(part.actions).toEqual(whole.actions);
    expect([...part.tree.nodes()].map(({ state }) => state)).toEqual(
      [...whole.tree.nodes()].map(({ state }) => state),
    );
  });

  test('is refused where several simulations may be under way, and says why', async () => {
    await expect(
      searchOf({ ...tableMdp(table), algorithm: depthFirst(), concurrency: 2 }),
    ).rejects.toThrow('with the results of the ones before it');
  });
});
