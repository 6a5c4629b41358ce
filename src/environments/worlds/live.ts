/** An environment with live resources, to be closed when no longer needed. */
export type Live<E> = E &
  AsyncDisposable & {
    /** Closes open resources. Later steps reopen them. */
    close(): Promise<void>;
    /** Cleans up what killed processes left behind. */
    recover(): Promise<Recovery>;
  };

/** The result of a recovery. */
export interface Recovery {
  /** The number of things undone. */
  readonly undone: number;
  /** What could not be undone, one sentence each. */
  readonly failed: readonly string[];
}

/** An environment with how it is closed and recovered. */
export function live<E extends object>(
  environment: E,
  { close, recover }: Pick<Live<E>, 'close' | 'recover'>,
): Live<E> {
  return { ...environment, close, recover, [Symbol.asyncDispose]: close };
}
