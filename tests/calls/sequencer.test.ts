import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { Sequencer } from '../../src/calls/sequencer.ts';
import { deferred } from './harness.ts';

/** Lets the event loop turn until nothing is left to release. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 20; round++) await turn();
}

/** Issues tickets, and hands in the outcomes, with these recorded places, by the place in the list. */
function issueAll(sequencer: Sequencer, recorded: readonly (number | undefined)[]) {
  const applied: number[] = [];
  const tickets = recorded.map(() => sequencer.issue());
  const arrive = (...indices: readonly number[]): void => {
    for (const index of indices) {
      const place = recorded[index];
      tickets[index]?.arrive(() => void applied.push(index), {
        ...(place !== undefined && { place }),
        isLast: true,
      });
    }
  };
  return { applied, arrive };
}

/** Issues a call whose outcome is there already. */
function applySoon(sequencer: Sequencer, apply: () => void): void {
  sequencer.issue().arrive(apply, { isLast: true });
}

const live = [undefined, undefined, undefined];

describe('the order of arrival', () => {
  test('is the order in which results take effect', async () => {
    const { applied, arrive } = issueAll(new Sequencer('arrival'), live);
    arrive(2, 0, 1);
    await quiet();

    expect(applied).toEqual([2, 0, 1]);
  });

  test('does not wait for what has not arrived', async () => {
    const sequencer = new Sequencer('arrival');
    const { applied, arrive } = issueAll(sequencer, live);
    arrive(2);
    await quiet();

    expect(applied).toEqual([2]);
    expect(sequencer).toMatchObject({ pending: 2, released: 1 });
  });

  test('puts recorded results first, in the order of their journal', async () => {
    const { applied, arrive } = issueAll(new Sequencer('arrival'), [undefined, 8, 3, undefined, 5]);
    arrive(3, 0, 1, 2, 4);
    await quiet();

    expect(applied).toEqual([2, 4, 1, 3, 0]);
  });
});

describe('the order of issue', () => {
  test('is the order in which results take effect, however they arrive', async () => {
    const sequencer = new Sequencer('issued');
    const { applied, arrive } = issueAll(sequencer, live);
    arrive(2, 1);
    await quiet();
    expect(applied).toEqual([]);

    arrive(0);
    await quiet();
    expect(applied).toEqual([0, 1, 2]);
    expect(sequencer).toMatchObject({ pending: 0, released: 3 });
  });

  test('holds for recorded results as well', async () => {
    const { applied, arrive } = issueAll(new Sequencer('issued'), [2, 1, 0]);
    arrive(0, 1, 2);
    await quiet();

    expect(applied).toEqual([0, 1, 2]);
  });
});

test('a result takes effect only when all that the one before set off has happened', async () => {
  const sequencer = new Sequencer('arrival');
  const log: string[] = [];
  for (const name of ['first', 'second']) {
    applySoon(sequencer, () => {
      log.push(`${name} applied`);
      let chain = Promise.resolve();
      for (let link = 0; link < 50; link++) chain = chain.then(() => Promise.resolve());
      void chain.then(() => log.push(`${name} at rest`));
    });
  }
  await quiet();

  expect(log).toEqual(['first applied', 'first at rest', 'second applied', 'second at rest']);
});

test('a result that the one before has led to takes its place among those that wait', async () => {
  const sequencer = new Sequencer('issued');
  const log: string[] = [];
  applySoon(sequencer, () => {
    log.push('first');
    applySoon(sequencer, () => log.push('its consequence'));
  });
  applySoon(sequencer, () => log.push('second'));
  await quiet();

  expect(log).toEqual(['first', 'second', 'its consequence']);
});

describe('rest', () => {
  test('lets no result take effect until it is over', async () => {
    const sequencer = new Sequencer('arrival');
    const log: string[] = [];
    const resting = sequencer.rest().then(() => log.push('rested'));
    applySoon(sequencer, () => log.push('applied'));
    await quiet();
    await resting;

    expect(log).toEqual(['rested', 'applied']);
  });

  test('holds what was already on its way', async () => {
    const sequencer = new Sequencer('arrival');
    const log: string[] = [];
    applySoon(sequencer, () => log.push('applied'));
    const first = sequencer.rest().then(() => sequencer.rest());
    await first.then(() => log.push('rested'));
    await quiet();

    expect(log).toEqual(['rested', 'applied']);
  });
});

test('nothing takes effect before the readers of events are ready', async () => {
  const reader = deferred<void>();
  const sequencer = new Sequencer('arrival', () => reader.promise);
  const { applied, arrive } = issueAll(sequencer, [undefined]);
  arrive(0);
  await quiet();
  expect(applied).toEqual([]);

  reader.resolve();
  await quiet();
  expect(applied).toEqual([0]);
});

describe('nextRelease', () => {
  test('resolves once, when the next result has taken effect', async () => {
    const sequencer = new Sequencer('arrival');
    const { applied, arrive } = issueAll(sequencer, live);
    const next = sequencer.nextRelease().then(() => applied.push(-1));
    arrive(0, 1);
    await next;
    await quiet();

    expect(applied).toEqual([0, -1, 1]);
  });

  test('does not resolve with an attempt: a search that goes on has others, and must decide the same', async () => {
    const sequencer = new Sequencer('issued');
    const ticket = sequencer.issue();
    const heard: string[] = [];
    void sequencer.nextRelease().then(() => heard.push('released'));
    ticket.arrive(() => heard.push('attempt'));
    await quiet();
    expect(heard).toEqual(['attempt']);
    ticket.arrive(() => heard.push('outcome'), { isLast: true });
    await quiet();
    expect(heard).toEqual(['attempt', 'outcome', 'released']);
  });

  test('resolves when all is dropped, so that nobody waits for ever', async () => {
    const sequencer = new Sequencer('arrival');
    const { applied, arrive } = issueAll(sequencer, live);
    const next = sequencer.nextRelease();
    sequencer.clear();
    await next;
    arrive(0, 1, 2);
    await quiet();

    expect(applied).toEqual([]);
    expect(sequencer).toMatchObject({ pending: 0, released: 0 });
  });
});

test('what is dropped does not take effect even where it was on its way', async () => {
  const sequencer = new Sequencer('arrival');
  const { applied, arrive } = issueAll(sequencer, live);
  arrive(0);
  sequencer.clear();
  await quiet();

  expect(applied).toEqual([]);
});

describe('what takes effect before the outcome of a call', () => {
  /** A call with two happenings before its outcome, and another whose outcome is there. */
  function staged(order: 'arrival' | 'issued', places: readonly number[]) {
    const sequencer = new Sequencer(order);
    const log: string[] = [];
    const [first, second] = [sequencer.issue(), sequencer.issue()];
    for (const [index, place] of places.entries()) {
      const isLast = index === places.length - 1;
      first.arrive(() => log.push(`first ${index}`), { place, isLast });
    }
    second.arrive(() => log.push('second'), { place: 5, isLast: true });
    return { sequencer, log };
  }

  test('has its own turn in the order of arrival, by its place', async () => {
    const { sequencer, log } = staged('arrival', [3, 4, 6]);
    await quiet();

    expect(log).toEqual(['first 0', 'first 1', 'second', 'first 2']);
    expect(sequencer).toMatchObject({ pending: 0, released: 4 });
  });

  test('does not overtake what the same call has handed in before', async () => {
    const { log } = staged('arrival', [6, 1, 2]);
    await quiet();

    expect(log).toEqual(['second', 'first 0', 'first 1', 'first 2']);
  });

  test('keeps others waiting in the order of issue, until the outcome', async () => {
    const { log } = staged('issued', [6, 7, 8]);
    await quiet();

    expect(log).toEqual(['first 0', 'first 1', 'first 2', 'second']);
  });

  test('leaves the call where it is: it is not over', async () => {
    const sequencer = new Sequencer('issued');
    const log: string[] = [];
    const [first, second] = [sequencer.issue(), sequencer.issue()];
    second.arrive(() => log.push('second'), { isLast: true });
    first.arrive(() => log.push('attempt'));
    await quiet();
    expect(log).toEqual(['attempt']);
    expect(sequencer.pending).toBe(2);

    first.arrive(() => log.push('first'), { isLast: true });
    await quiet();
    expect(log).toEqual(['attempt', 'first', 'second']);
  });
});

describe('a call that has stalled', () => {
  function stalling(order: 'arrival' | 'issued') {
    const sequencer = new Sequencer(order);
    const log: string[] = [];
    sequencer.onStalled = () => log.push('stalled');
    return { sequencer, log, tickets: [sequencer.issue(), sequencer.issue()] as const };
  }

  test('is told of only when nothing else can take effect', async () => {
    const { sequencer, log, tickets } = stalling('arrival');
    tickets[1].arrive(() => log.push('second'), { isLast: true });
    tickets[0].stall();
    await quiet();

    expect(log).toEqual(['second', 'stalled']);
    expect(sequencer.pending).toBe(1);
  });

  test('is told of in the order of issue when it is the head', async () => {
    const { log, tickets } = stalling('issued');
    tickets[1].stall();
    await quiet();
    expect(log).toEqual([]);

    tickets[0].arrive(() => log.push('first'), { isLast: true });
    await quiet();
    expect(log).toEqual(['first', 'stalled']);
  });

  test('holds up nobody else once it has been given up', async () => {
    const { sequencer, log, tickets } = stalling('issued');
    tickets[1].arrive(() => log.push('second'), { isLast: true });
    tickets[0].stall();
    tickets[0].drop();
    await quiet();

    expect(log).toEqual(['second']);
    expect(sequencer.pending).toBe(0);
  });

  test('goes on when something arrives after all', async () => {
    const { log, tickets } = stalling('issued');
    tickets[0].stall();
    tickets[0].arrive(() => log.push('first'), { isLast: true });
    await quiet();

    expect(log).toEqual(['first']);
  });
});
