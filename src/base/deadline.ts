import { longestTimer } from './clock.ts';
import { unlessAborted } from './unless-aborted.ts';

/**
 * Runs something with a time limit and its own signal. Rejects with the reason of the caller's signal, or with a
 * `TimeoutError`, even if the task ignores its signal; and leaves neither a timer nor a listener behind.
 *
 * It uses the machine's time: a connection does not follow the clock of a search.
 *
 * @param run - The task. Its second parameter restarts the time limit, for results that arrive in parts.
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
    // An abandoned task may still call this; restarting the timer then would leak it.
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
