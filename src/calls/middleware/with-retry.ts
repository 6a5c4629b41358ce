import { counted } from '../../base/counted.ts';
import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { expectInteger, expectMethods, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { modelName } from '../../base/model-name.ts';
import { seededRandom } from '../../base/random.ts';
import type { Random } from '../../contracts/context.ts';
import type { ModelCall } from '../../contracts/language-model.ts';
import { Breaker } from './breaker.ts';
import { remade } from './remade-error.ts';
import { type AnyMiddleware, aroundCalls } from './wrap.ts';

/** Options of {@link withRetry}. */
export interface RetryOptions {
  /** The total number of attempts, from 1 up. @defaultValue 4 */
  readonly attempts?: number;
  /** The approximate wait after the first failure, in milliseconds; doubled with each further one. @defaultValue 500 */
  readonly baseMs?: number;
  /** The maximum wait, in milliseconds, unless the server asks for more. @defaultValue 30 000 */
  readonly maxMs?: number;
  /**
   * The latest start of an attempt after the start of its call, in milliseconds, waits for a limit included. A running
   * attempt is not cut short.
   *
   * @defaultValue 600 000
   */
  readonly totalMs?: number;
  /**
   * Jitter for the waits, so that calls that failed together do not retry together. Use different ones in processes
   * that share a server.
   *
   * @defaultValue seeded by its name
   */
  readonly random?: Random;
  /** When to stop calling a model altogether; `false` for never. @defaultValue after 8 failures in a row, for 30 s */
  readonly breaker?:
    | {
        /** The number of consecutive failures over all calls of the model: from 1 up. @defaultValue 8 */
        readonly failures?: number;
        /** Milliseconds until a trial call is allowed: from 0 up. @defaultValue 30 000 */
        readonly coolDownMs?: number;
      }
    | false;
}

type Settings = Required<Omit<RetryOptions, 'breaker'>>;

/**
 * Retries failed calls that may succeed later, with exponential backoff. Only a `retryable` {@link ModelCallError} is
 * retried; other errors pass through.
 *
 * A wait is between half and all of `baseMs · 2^(k − 1)` after the k-th attempt, at most `maxMs`, and never less than
 * the server asks for. Each further attempt is requested through `ModelCall.retry`, so that ledger and journal see
 * every one. When it gives up, it throws the last error, with the number of attempts.
 *
 * A circuit breaker stops calls to a model that keeps failing: they are then refused with an `EspalierError`
 * `unavailable`, which ends a search with its best result. Rate-limit failures do not count, unless the server asks for a
 * longer wait than `totalMs`: the call is then refused in the same way.
 *
 * @throws EspalierError `usage` for an option out of range.
 */
export function withRetry(options: RetryOptions = {}): AnyMiddleware {
  expectOptions('withRetry', options, 'attempts baseMs maxMs totalMs random breaker');
  const { attempts = 4, baseMs = 500, maxMs = 30_000, totalMs = 600_000 } = options;
  const { random = seededRandom('retry'), breaker: patience = {} } = options;
  if (patience !== false) expectOptions('breaker', patience, 'failures coolDownMs');
  const { failures = 8, coolDownMs = 30_000 } = patience === false ? {} : patience;
  expectMethods('random', random, ['next']);
  expectInteger('attempts', attempts, { min: 1 });
  expectNumber('baseMs', baseMs, { min: 0 });
  expectNumber('maxMs', maxMs, { min: 0 });
  expectNumber('totalMs', totalMs, { min: 0 });
  expectInteger('breaker.failures', failures, { min: 1 });
  expectNumber('breaker.coolDownMs', coolDownMs, { min: 0 });
  const settings = { attempts, baseMs, maxMs, totalMs, random };
  const limits = { failures: patience === false ? Infinity : failures, coolDownMs };
  return aroundCalls((next) => {
    const breaker = new Breaker(modelName(next), limits);
    return (_asked, call, make) => repeat(make, call, { settings, breaker });
  });
}

async function repeat<Answer>(
  make: (call: ModelCall) => Promise<Answer>,
  call: ModelCall,
  { settings, breaker }: { readonly settings: Settings; readonly breaker: Breaker },
): Promise<Answer> {
  const { clock, signal, batch } = call;
  let startedAt = clock.now();
  const passed: ModelCall = batch === undefined ? call : { ...call, batch: waiting(batch) };
  // A call that waits in a batch has no time limit of its own.
  function waiting(send: NonNullable<typeof batch>): typeof send {
    return async (asked, live) => {
      const since = clock.now();
      let until: number | undefined;
      try {
        return await send(asked, () => {
          until = clock.now();
          return live();
        });
      } finally {
        startedAt += (until ?? clock.now()) - since;
      }
    };
  }
  for (let made = 1; ; made++) {
    const pass = breaker.enter(clock);
    let failure: ModelCallError;
    try {
      const answer = await make(passed);
      breaker.succeeded();
      return answer;
    } catch (error) {
      if (signal.aborted || !isRetryable(error)) {
        breaker.left(pass);
        throw error;
      }
      failure = error;
    }
    breaker.failed(pass, failure, clock);
    const waitMs = waitAfter(failure, made, settings);
    expectLeave(failure, settings, { made, waitMs, elapsedMs: clock.now() - startedAt });
    await call.retry?.({ message: failure.message, charged: failure.charged });
    await breaker.sleep(waitMs, call);
  }
}

function isRetryable(error: unknown): error is ModelCallError {
  return ModelCallError.isInstance(error) && error.retryable;
}

/** Equal jitter: half of the wait is fixed, so that it grows whatever number is drawn. */
function waitAfter({ retryAfterMs = 0 }: ModelCallError, made: number, settings: Settings): number {
  const { baseMs, maxMs, random } = settings;
  const fullMs = Math.min(maxMs, baseMs * 2 ** (made - 1));
  return Math.max((fullMs / 2) * (1 + random.next()), retryAfterMs);
}

/** Throws if no other attempt may be made. */
function expectLeave(
  failure: ModelCallError,
  settings: Settings,
  { made, waitMs, elapsedMs }: Readonly<Record<'elapsedMs' | 'made' | 'waitMs', number>>,
): void {
  const leftMs = settings.totalMs - elapsedMs;
  if (made < settings.attempts && waitMs <= leftMs) return;
  const attempts = counted(made, 'attempt');
  const reason =
    made < settings.attempts
      ? `, because the next one would have to wait ${seconds(waitMs)}${
          waitMs === failure.retryAfterMs ? ', as the server asks,' : ''
        } and ${seconds(leftMs)} of ${seconds(settings.totalMs)} are left`
      : '';
  const message = `Gave up after ${attempts} in ${seconds(elapsedMs)}${reason}: ${failure.message}`;
  // Whatever is asked of a server before it wants to be asked again is refused too.
  const { retryAfterMs = 0 } = failure;
  if (retryAfterMs > settings.totalMs) {
    throw new EspalierError('unavailable', message, { cause: failure });
  }
  throw remade(failure, { message });
}

function seconds(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
}
