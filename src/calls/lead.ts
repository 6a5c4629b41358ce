import { unlessAborted } from '../base/unless-aborted.ts';
import type { ModelCall } from '../contracts/language-model.ts';

/** The first of several requests that begin alike: the others are sent once its answer has begun to come, and so filled the server's cache. */
export class Lead {
  #begin: () => void = () => {};
  readonly #begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });

  /** What the first is made with: it tells of its answer. */
  first(call: ModelCall): ModelCall {
    const began = (): void => {
      this.#begin();
      call.began?.();
    };
    return { ...call, began };
  }

  /** Waits for the first, however it ends. */
  begun(signal: AbortSignal): Promise<void> {
    return unlessAborted(this.#begun, signal);
  }

  /** However it ends, nobody waits for it any more. */
  endsWith(answer: Promise<unknown>): void {
    answer.then(this.#begin, this.#begin);
  }
}
