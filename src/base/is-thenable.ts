/** Whether a value is a promise, native or from a library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/**
 * The same promise as one of this realm, so that `instanceof` recognises it: a promise of a library or of another realm
 * is none. Other values are returned as they are.
 */
export function asNative<Value>(value: Value | Promise<Value>): Value | Promise<Value> {
  if (value instanceof Promise || !isThenable(value)) return value;
  return Promise.resolve(value as PromiseLike<Value>);
}

/** Nothing awaits a promise that is refused, so its rejection must not end the process. */
export function ignoreRejection(refused: unknown): void {
  if (isThenable(refused)) void Promise.resolve(refused).catch(() => {});
}
