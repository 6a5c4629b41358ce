/** A value that one caller is getting, for everybody who wants it. */
interface Flight<Value> {
  readonly value: Promise<Value>;
  readonly owner: Owner;
}

/** The caller that gets it. */
interface Owner {
  readonly signal: AbortSignal;
}

/** Gets items that no other caller is getting, and hands over each value as soon as it arrives. */
export type Get<Item, Value> = (
  items: readonly Item[],
  settle: (key: string, value: Value) => void,
) => Promise<void>;

/** A failure of another caller that was getting the same item. */
export class ForeignFailure extends Error {
  override readonly name = 'ForeignFailure';
}

/** Ensures that the same item is not fetched twice at the same time. */
export class Flights<Value> {
  readonly #flights = new Map<string, Flight<Value>>();

  /**
   * The values of all items, in order. Items that another caller is already getting are waited for; if that caller
   * gives up, they are requested again, and if it fails, so does this call.
   *
   * @throws ForeignFailure with the failure of another caller as its cause; the signal's reason; or what `get` throws.
   */
  async share<Item extends { readonly key: string }>(
    items: readonly Item[],
    { signal, get }: { readonly signal: AbortSignal; readonly get: Get<Item, Value> },
  ): Promise<readonly Value[]> {
    const owner: Owner = { signal };
    const values = new Map<string, Value>();
    for (let missing = items; missing.length > 0; ) {
      signal.throwIfAborted();
      const own = missing.filter(({ key }) => !this.#flights.has(key));
      if (own.length > 0) this.#start(own, { owner, get });
      missing = await this.#land(missing, { owner, values });
    }
    return items.map(({ key }) => values.get(key) as Value);
  }

  /** Waits for all items. Returns those whose owner gave up. */
  async #land<Item extends { readonly key: string }>(
    items: readonly Item[],
    { owner, values }: { readonly owner: Owner; readonly values: Map<string, Value> },
  ): Promise<readonly Item[]> {
    const flights = items.map(({ key }) => this.#flights.get(key) as Flight<Value>);
    const landings = await unlessAborted(
      owner.signal,
      Promise.allSettled(flights.map(({ value }) => value)),
    );
    return items.filter(({ key }, place) => {
      const landing = landings[place];
      if (landing?.status === 'fulfilled') {
        values.set(key, landing.value);
        return false;
      }
      const by = flights[place]?.owner;
      if (by === owner) throw landing?.reason;
      if (by?.signal.aborted === true) return true;
      throw new ForeignFailure('Another caller failed.', { cause: landing?.reason });
    });
  }

  #start<Item extends { readonly key: string }>(
    items: readonly Item[],
    { owner, get }: { readonly owner: Owner; readonly get: Get<Item, Value> },
  ): void {
    const open = new Map<string, { resolve(value: Value): void; reject(error: unknown): void }>();
    for (const { key } of items) {
      const value = new Promise<Value>((resolve, reject) => open.set(key, { resolve, reject }));
      // Waiting callers get the failure; there may be none.
      value.catch(() => {});
      this.#flights.set(key, { value, owner });
    }
    const settle = (key: string, value: Value): void => {
      open.get(key)?.resolve(value);
      close(key);
    };
    const close = (key: string): void => {
      // If it was given up, another caller may be getting it by now.
      if (open.delete(key)) this.#flights.delete(key);
    };
    const fail = (error: unknown): void => {
      for (const [key, { reject }] of open) {
        reject(error);
        close(key);
      }
    };
    const { signal } = owner;
    const giveUp = (): void => fail(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    void get(items, settle)
      .then(() => fail(new Error('Nobody got it.')), fail)
      .finally(() => signal.removeEventListener('abort', giveUp));
  }
}

/** The result of a promise, or at once the reason of an abort. */
function unlessAborted<Value>(signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
