import { unlessAborted } from '../base/unless-aborted.ts';
import type { ModelCall } from '../contracts/language-model.ts';
import { askingMore } from './asking-more.ts';

/**
 * The first of several requests with a common prefix. The others are sent once its answer has begun to arrive, because
 * its prompt is then in the server's cache.
 */
export class Lead {
  /** Sends the others. */
  begin: () => void = () => {};
  readonly #begun = new Promise<void>((resolve) => {
    this.begin = resolve;
  });

  /**
   * The context for the first request, which reports when its answer begins. Before it asks for more of the budget, the
   * others are sent: it may have to wait until they give back what they have reserved.
   */
  first(call: ModelCall): ModelCall {
    const began = (): void => {
      this.begin();
      call.began?.();
    };
    return askingMore({ ...call, began }, (isCharged) => {
      if (isCharged) this.begin();
      return {};
    });
  }

  /** Waits for the first request to begin its answer, or to end in any way. */
  begun(signal: AbortSignal): Promise<void> {
    return unlessAborted(this.#begun, signal);
  }

  /** Ends the waiting when the first request has ended in any way. */
  endsWith(answer: Promise<unknown>): void {
    answer.then(this.begin, this.begin);
  }
}
