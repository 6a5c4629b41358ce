/** An environment with something live behind it, to be closed when it is no longer needed. */
export type Live<E> = E &
  AsyncDisposable & {
    /** Closes what is open. What is stepped later opens it anew. */
    close(): Promise<void>;
    /** Takes back what killed processes have left behind. */
    recover(): Promise<Recovery>;
  };

/** What was taken back. */
export interface Recovery {
  /** How many things were taken back. */
  readonly undone: number;
  /** What could not be taken back, in one sentence each. */
  readonly failed: readonly string[];
}

/** An environment with how it is closed and recovered. */
export function live<E extends object>(
  environment: E,
  { close, recover }: Pick<Live<E>, 'close' | 'recover'>,
): Live<E> {
  return { ...environment, close, recover, [Symbol.asyncDispose]: close };
}
