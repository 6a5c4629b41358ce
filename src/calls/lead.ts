import { unlessAborted } from '../base/unless-aborted.ts';
import type { ModelCall } from '../contracts/language-model.ts';

/**
 * The first of several requests with a common prefix. The others are sent once its answer has begun to arrive, because
 * its prompt is then in the server's cache.
 */
export class Lead {
  #send: () => void = () => {};
  readonly #begun = new Promise<void>((resolve) => {
    this.#send = resolve;
  });

  /** Sends the others. */
  begin(): void {
    this.#send();
  }

  /**
   * The context for the first request, which reports when its answer begins. Before it asks for more of the budget, the
   * others are sent: it may have to wait until they give back what they have reserved.
   */
  first(call: ModelCall): ModelCall {
    const { began, retry, requestExtraCall } = call;
    return {
      ...call,
      began: () => {
        this.begin();
        began?.();
      },
      ...(retry !== undefined && {
        retry: (attempt) => {
          if (attempt.charged) this.begin();
          return retry(attempt);
        },
      }),
      ...(requestExtraCall !== undefined && {
        requestExtraCall: (reason, options) => {
          this.begin();
          return requestExtraCall(reason, options);
        },
      }),
    };
  }

  /** Waits for the first request to begin its answer, or to end in any way. */
  begun(signal: AbortSignal): Promise<void> {
    return unlessAborted(this.#begun, signal);
  }

  /** Ends the waiting when the first request has ended in any way. */
  endsWith(answer: Promise<unknown>): void {
    answer.then(this.#send, this.#send);
  }
}
