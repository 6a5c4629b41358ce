import { describe, expect, test } from 'vitest';
import { turn } from '../../src/runtime/clock.ts';
import { Sequencer } from '../../src/runtime/sequencer.ts';
import { deferred } from './harness.ts';

/** Lets the event loop turn until nothing is left to release. */
async function quiet(): Promise<void> {
  for (let round = 0; round < 20; round++) await turn();
}

/** Issues tickets with these recorded places, and hands them in by the place in the list. */
function issueAll(sequencer: Sequencer, recorded: readonly (number | undefined)[]) {
  const applied: number[] = [];
  const tickets = recorded.map((place) => sequencer.issue(place));
  const arrive = (...indices: readonly number[]): void => {
    for (const index of indices) tickets[index]?.(() => applied.push(index));
  };
  return { applied, arrive };
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
    sequencer.issue()(() => {
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
  sequencer.issue()(() => {
    log.push('first');
    sequencer.issue()(() => log.push('its consequence'));
  });
  sequencer.issue()(() => log.push('second'));
  await quiet();

  expect(log).toEqual(['first', 'second', 'its consequence']);
});

describe('rest', () => {
  test('lets no result take effect until it is over', async () => {
    const sequencer = new Sequencer('arrival');
    const log: string[] = [];
    const resting = sequencer.rest().then(() => log.push('rested'));
    sequencer.issue()(() => log.push('applied'));
    await quiet();
    await resting;

    expect(log).toEqual(['rested', 'applied']);
  });

  test('holds what was already on its way', async () => {
    const sequencer = new Sequencer('arrival');
    const log: string[] = [];
    sequencer.issue()(() => log.push('applied'));
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
