/** Hands events from many writers to one reader, in order. */
export class EventQueue<Event> implements AsyncIterable<Event> {
  readonly #events: Event[] = [];
  #wakeReader: (() => void) | undefined;
  #wakeWriters: (() => void) | undefined;
  #drained: Promise<void> | undefined;
  #closed = false;

  push(event: Event): void {
    this.#events.push(event);
    this.#wakeReader?.();
  }

  /** No more events will come; the reader gets those that are left. */
  close(): void {
    this.#closed = true;
    this.#wakeReader?.();
    this.#release();
  }

  /** Resolves when the reader has taken everything; `undefined` if it already has. */
  drained(): Promise<void> | undefined {
    if (this.#events.length === 0 || this.#closed) return undefined;
    this.#drained ??= new Promise((resolve) => {
      this.#wakeWriters = resolve;
    });
    return this.#drained;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      // Taken by index and cleared at once: shifting one by one is quadratic for long bursts.
      const batch = this.#events.splice(0);
      for (const event of batch) yield event;
      if (this.#events.length > 0) continue;
      this.#release();
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
      this.#wakeReader = undefined;
    }
  }

  #release(): void {
    this.#wakeWriters?.();
    this.#wakeWriters = undefined;
    this.#drained = undefined;
  }
}
