import type { Clock } from '../contracts/clock.ts';
import { expectSignal } from './expect.ts';

/** The longest delay of a platform timer, in milliseconds; longer sleeps are split. */
export const longestTimer: number = 2 ** 31 - 1;

/** The real time. Only this object reads it. */
export const systemClock: Clock = {
  now: () => performance.now(),

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    expectSignal(signal);
    for (let left = ms; left > 0; left -= longestTimer) {
      await timer(Math.min(left, longestTimer), signal);
    }
    signal?.throwIfAborted();
  },
};

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
