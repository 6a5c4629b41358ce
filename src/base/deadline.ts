import { longestTimer } from './clock.ts';
import { unlessAborted } from './unless-aborted.ts';

/**
 * Runs something that has to be over in time, on a signal of its own. Rejects with the reason of the
 * caller's signal, or with a `TimeoutError`, even where what runs does not listen; and leaves neither a timer
 * nor a listener behind.
 *
 * The time is that of the machine: a connection does not follow the clock of a search.
 */
export async function withDeadline<Value>(
  signal: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  const expire = () =>
    controller.abort(new DOMException(`no whole answer within ${timeoutMs} ms`, 'TimeoutError'));
  signal.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(expire, Math.min(timeoutMs, longestTimer));
  try {
    return await unlessAborted(run(controller.signal), controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}
