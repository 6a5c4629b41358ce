import { EspalierError, type ModelCallError } from '../../base/errors.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { ModelCall } from '../../contracts/language-model.ts';

/** Permission to make one attempt. */
export interface Pass {
  /** Whether the attempt tests if the model answers again. */
  readonly isTrial: boolean;
}

/** Prevents repeated calls to a dead server. There is one per model. */
export class Breaker {
  readonly #model: string;
  readonly #limits: Readonly<Record<'coolDownMs' | 'failures', number>>;
  readonly #sleepers = new Set<(reason: unknown) => void>();
  #failures = 0;
  #last = '';
  #openedAt: number | undefined;
  #isTried = false;

  constructor(model: string, limits: Readonly<Record<'coolDownMs' | 'failures', number>>) {
    this.#model = model;
    this.#limits = limits;
  }

  /**
   * Permits an attempt. After the cool-down, one attempt at a time is permitted.
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

  /** The attempt ended in a way that does not show whether the model answers. */
  left({ isTrial }: Pass): void {
    if (isTrial) this.#isTried = false;
  }

  /**
   * The attempt failed.
   *
   * @throws EspalierError `unavailable` if no other attempt may follow. Its cause is the failure, which has not been
   * charged yet.
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

  /** Sleeps. Rejects at once if the model is given up in the meantime. */
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
    return this.#failures >= this.#limits.failures;
  }

  #isCool(clock: Clock): boolean {
    return clock.now() - (this.#openedAt ?? 0) >= this.#limits.coolDownMs;
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
