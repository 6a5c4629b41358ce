import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { turn } from '#platform';
import { systemClock } from '../../src/base/clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('sleep', () => {
  test('ends after its time and not before', async () => {
    vi.useFakeTimers();
    let over = false;
    const sleep = systemClock.sleep(1_000).then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(over).toBe(false);

    await vi.advanceTimersByTimeAsync(1);
    await sleep;
    expect(over).toBe(true);
  });

  test('holds for longer than the 2³¹ − 1 milliseconds of a platform timer', async () => {
    vi.useFakeTimers();
    let over = false;
    const sleep = systemClock.sleep(2 ** 31 + 500).then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(2 ** 31 - 1);
    await vi.advanceTimersByTimeAsync(500);
    expect(over).toBe(false);

    await vi.advanceTimersByTimeAsync(1);
    await sleep;
    expect(over).toBe(true);
  });

  test('rejects with the reason of its signal, and leaves no timer behind', async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const sleep = systemClock.sleep(1_000, controller.signal);
    const reason = new Error('Enough.');
    controller.abort(reason);

    await expect(sleep).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('does not begin where its signal has already aborted', async () => {
    const reason = new Error('Before.');

    await expect(systemClock.sleep(1_000_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(systemClock.sleep(0, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('takes its listener away again', async () => {
    const controller = new AbortController();
    const added = vi.spyOn(controller.signal, 'addEventListener');
    const removed = vi.spyOn(controller.signal, 'removeEventListener');
    await systemClock.sleep(1, controller.signal);

    expect(added).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls[0]?.[1]).toBe(added.mock.calls[0]?.[1]);
  });

  test.each([0, -5])('of %d milliseconds is over at once', async (ms) => {
    vi.useFakeTimers();
    await systemClock.sleep(ms);

    expect(vi.getTimerCount()).toBe(0);
  });
});

test('now goes forward', async () => {
  const before = systemClock.now();
  await delay(2);

  expect(systemClock.now()).toBeGreaterThan(before);
});

test('a turn lets every promise that is ready go first', async () => {
  const order: string[] = [];
  const chain = Promise.resolve()
    .then(() => Promise.resolve())
    .then(() => order.push('promises'));
  await turn();
  order.push('turn');
  await chain;

  expect(order).toEqual(['promises', 'turn']);
});
