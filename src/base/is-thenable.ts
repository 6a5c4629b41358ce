/** Whether a value is a promise, native or from a library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** A promise that is refused is awaited by nobody: its rejection must not end the process. */
export function ignoreRejection(refused: unknown): void {
  if (isThenable(refused)) void Promise.resolve(refused).catch(() => {});
}
