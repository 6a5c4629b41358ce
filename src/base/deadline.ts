import { longestTimer } from './clock.ts';
import { unlessAborted } from './unless-aborted.ts';

/**
 * Runs something that has to be over in time, on a signal of its own. Rejects with the reason of the
 * caller's signal, or with a `TimeoutError`, even where what runs does not listen; and leaves neither a timer
 * nor a listener behind.
 *
 * The time is that of the machine: a connection does not follow the clock of a search.
 *
 * @param run - What runs. Its second parameter begins the time anew, for what comes bit by bit.
 */
export async function withDeadline<Value>(
  signal: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal, renew: () => void) => Promise<Value>,
): Promise<Value> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  let late = 'no whole answer within';
  const expire = () =>
    controller.abort(new DOMException(`${late} ${timeoutMs} ms`, 'TimeoutError'));
  signal.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(expire, Math.min(timeoutMs, longestTimer));
  let isOver = false;
  const renew = () => {
    // Who was given up may still call; a timer that is refreshed then would be left behind.
    if (isOver || controller.signal.aborted) return;
    late = 'nothing more of the answer for';
    timer.refresh();
  };
  try {
    return await unlessAborted(run(controller.signal, renew), controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}
