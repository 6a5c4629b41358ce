import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withDeadline } from '../../src/base/deadline.ts';
import { rejectionOf } from '../backends/transport/stub-fetch.ts';

const timers = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
const never = () => new Promise<never>(() => {});

describe('a deadline', () => {
  test('passes on what comes in time, and leaves nothing behind', async () => {
    const { signal } = new AbortController();
    const before = timers();
    const answer = await withDeadline(signal, 60_000, async (own) => {
      expect(own.aborted).toBe(false);
      expect(timers()).toBe(before + 1);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      return 'done';
    });
    expect(answer).toBe('done');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(timers()).toBe(before);
  });

  test('ends what does not come, and says so', async () => {
    let own: AbortSignal | undefined;
    const { signal } = new AbortController();
    const error = await rejectionOf(
      withDeadline(signal, 5, (given) => {
        own = given;
        return never();
      }),
    );
    expect(error).toMatchObject({ name: 'TimeoutError', message: 'no whole answer within 5 ms' });
    expect(own?.aborted).toBe(true);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('gives the reason of the caller, whatever is thrown because of it', async () => {
    const reason = new Error('changed my mind');
    const controller = new AbortController();
    const waiting = withDeadline(
      controller.signal,
      60_000,
      (own) =>
        new Promise((_, reject) => {
          own.addEventListener('abort', () => reject(new Error('This operation was aborted')));
        }),
    );
    controller.abort(reason);
    expect(await rejectionOf(waiting)).toBe(reason);
  });

  test('does not wait for what does not listen', async () => {
    const reason = new Error('changed my mind');
    const controller = new AbortController();
    const waiting = withDeadline(controller.signal, 60_000, never);
    controller.abort(reason);
    expect(await rejectionOf(waiting)).toBe(reason);
  });

  test('does not begin where the caller has left already', async () => {
    const reason = new Error('too late');
    let begun = false;
    const waiting = withDeadline(AbortSignal.abort(reason), 60_000, async () => {
      begun = true;
    });
    expect(await rejectionOf(waiting)).toBe(reason);
    expect(begun).toBe(false);
  });
});

describe('a deadline that is renewed', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('begins anew each time that something has come', async () => {
    const { signal } = new AbortController();
    let renew = () => {};
    const waiting = withDeadline(signal, 100, (_own, given) => {
      renew = given;
      return never();
    });
    const error = rejectionOf(waiting);
    for (let part = 0; part < 5; part++) {
      await vi.advanceTimersByTimeAsync(99);
      renew();
    }
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(await error).toMatchObject({
      name: 'TimeoutError',
      message: 'nothing more of the answer for 100 ms',
    });
    // Who was given up may still call: no timer is left behind for it.
    renew();
    expect(vi.getTimerCount()).toBe(0);
  });
});
