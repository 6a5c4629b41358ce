import { describe, expect, test } from 'vitest';
import { turn } from '#platform';
import { EventQueue } from '../../src/search/event-queue.ts';

async function readAll<Event>(queue: EventQueue<Event>): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of queue) events.push(event);
  return events;
}

describe('EventQueue', () => {
  test('hands over what was pushed before, and after, in order, until it is closed', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.push(2);
    const reading = readAll(queue);
    await turn();
    queue.push(3);
    await turn();
    queue.push(4);
    queue.close();

    expect(await reading).toEqual([1, 2, 3, 4]);
  });

  test('hands over what is pushed while the reader is at work', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    const seen: number[] = [];
    for await (const event of queue) {
      seen.push(event);
      if (event < 4) queue.push(event + 1);
      else queue.close();
    }

    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test('ends at once where it was closed empty', async () => {
    const queue = new EventQueue<number>();
    queue.close();

    expect(await readAll(queue)).toEqual([]);
  });

  test('takes a burst of a hundred thousand events in its stride', async () => {
    const queue = new EventQueue<number>();
    for (let event = 0; event < 100_000; event++) queue.push(event);
    queue.close();
    const events = await readAll(queue);

    expect(events).toHaveLength(100_000);
    expect(events.at(-1)).toBe(99_999);
  });
});

describe('drained', () => {
  test('is nothing to wait for while the queue is empty', () => {
    expect(new EventQueue<number>().drained()).toBeUndefined();
  });

  test('resolves when the reader comes back for more', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.push(2);
    let drained = false;
    const waiting = queue.drained()?.then(() => {
      drained = true;
    });
    const reader = queue[Symbol.asyncIterator]();
    await reader.next();
    await reader.next();
    await turn();
    expect(drained).toBe(false);

    const next = reader.next();
    await waiting;
    expect(drained).toBe(true);
    queue.close();
    expect((await next).done).toBe(true);
  });

  test('makes all writers wait for the same moment', () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    const first = queue.drained();
    queue.push(2);

    expect(first).toBeInstanceOf(Promise);
    expect(queue.drained()).toBe(first);
  });

  test('does not wait for a reader that will never come back', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    const waiting = queue.drained();
    queue.close();

    await waiting;
    expect(queue.drained()).toBeUndefined();
  });
});
