/** How a promise is settled. */
export interface Settle<Value> {
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A promise that is settled by what is begun here.
 *
 * @param begin - Begins it. Returns what is to be done where the signal aborts before, or has aborted.
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
