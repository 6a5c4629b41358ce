/** Functions that settle a promise. */
export interface Settle<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A promise that is settled by the work started here.
 *
 * @param begin - Starts the work. Returns what to do if the signal aborts first, or has already aborted.
 */
export async function settledOrLeft<Value>(
  signal: AbortSignal | undefined,
  begin: (settle: Settle<Value>) => () => void,
): Promise<Value> {
  let leave = () => {};
  try {
    return await new Promise<Value>((resolve, reject) => {
      leave = begin({ resolve, reject });
      if (signal?.aborted === true) leave();
      else signal?.addEventListener('abort', leave, { once: true });
    });
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

/** The outcome of a promise, or the reason of a signal if that comes first. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return settledOrLeft(signal, ({ resolve, reject }) => {
    promise.then(resolve, reject);
    return () => reject(signal.reason);
  });
}
