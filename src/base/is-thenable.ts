/** Whether a value is a promise, native or from a library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** Nothing awaits a promise that is refused, so its rejection must not end the process. */
export function ignoreRejection(refused: unknown): void {
  if (isThenable(refused)) void Promise.resolve(refused).catch(() => {});
}
