import { EspalierError, type ModelCallError } from '../../base/errors.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { ModelCall } from '../../contracts/language-model.ts';

/** When calls of a model that does not answer are refused. */
export interface BreakerOptions {
  /** So many failures without a success in between, over all calls of the model: from 1 up. @defaultValue 8 */
  readonly failures?: number;
  /** Milliseconds until a single call may try whether the model answers again: from 0 up. @defaultValue 30 000 */
  readonly coolDownMs?: number;
}

/** Leave to make one attempt. */
export interface Pass {
  /** Whether the attempt finds out if the model answers again. */
  readonly isTrial: boolean;
}

/** Keeps a dead server from being asked again and again. One for each model. */
export class Breaker {
  readonly #model: string;
  readonly #options: Required<BreakerOptions>;
  readonly #sleepers = new Set<(reason: unknown) => void>();
  #failures = 0;
  #last = '';
  #openedAt: number | undefined;
  #isTried = false;

  constructor(model: string, { failures = 8, coolDownMs = 30_000 }: BreakerOptions) {
    this.#model = model;
    this.#options = { failures, coolDownMs };
  }

  /**
   * Leave for an attempt. After the cool-down one attempt at a time gets it.
   *
   * @throws EspalierError `unavailable`
   */
  enter(clock: Clock): Pass {
    if (this.#openedAt === undefined) return { isTrial: false };
    if (this.#isTried || !this.#isCool(clock)) throw this.#refusal();
    this.#isTried = true;
    return { isTrial: true };
  }

  /** The attempt succeeded. */
  succeeded(): void {
    this.#failures = 0;
    this.#openedAt = undefined;
    this.#isTried = false;
  }

  /** The attempt came to an end that tells nothing of whether the model answers. */
  left({ isTrial }: Pass): void {
    if (isTrial) this.#isTried = false;
  }

  /**
   * The attempt failed.
   *
   * @throws EspalierError `unavailable` where no other attempt may follow. Its cause is the failure, which
   * nobody has been charged for yet.
   */
  failed(pass: Pass, failure: ModelCallError, clock: Clock): void {
    this.left(pass);
    if (failure.kind !== 'rate-limit') {
      this.#failures++;
      this.#last = failure.message;
      if (pass.isTrial || (this.#openedAt === undefined && this.#isTooMany)) this.#open(clock);
    }
    if (this.#openedAt !== undefined && !this.#isCool(clock)) throw this.#refusal(failure);
  }

  /** Sleeps. Where the model is given up meanwhile, rejects at once. */
  async sleep(ms: number, { clock, signal }: ModelCall): Promise<void> {
    const waking = new AbortController();
    const wake = (reason: unknown): void => waking.abort(reason);
    const onAbort = (): void => wake(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#sleepers.add(wake);
    try {
      await clock.sleep(ms, waking.signal);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#sleepers.delete(wake);
    }
  }

  get #isTooMany(): boolean {
    return this.#failures >= this.#options.failures;
  }

  #isCool(clock: Clock): boolean {
    return clock.now() - (this.#openedAt ?? 0) >= this.#options.coolDownMs;
  }

  #open(clock: Clock): void {
    this.#openedAt = clock.now();
    for (const wake of this.#sleepers) wake(this.#refusal());
  }

  #refusal(cause?: ModelCallError): EspalierError {
    const last = this.#last.replace(/\.$/, '');
    return new EspalierError(
      'unavailable',
      `${this.#model} failed ${this.#failures} times in a row, last with “${last}”; check that it can be reached, then run again.`,
      cause && { cause },
    );
  }
}
