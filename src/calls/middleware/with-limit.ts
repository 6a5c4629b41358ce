import pLimit, { type LimitFunction } from 'p-limit';
import { EspalierError, ModelCallError } from '../../base/errors.ts';
import { expectInteger } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { ModelCall, RateLimits } from '../../contracts/language-model.ts';
import type { Answer } from '../operations/model-operation.ts';
import { actualCost, mostCost } from '../pricing.ts';
import { type Booking, RateWindow } from './rate-window.ts';
import { type AnyMiddleware, type Asked, aroundCalls, type Make, withoutWaiting } from './wrap.ts';

/** Options of {@link withLimit}. Missing limits do not apply. */
export interface LimitOptions {
  /** Concurrent calls, from 1 up. @defaultValue unlimited */
  readonly concurrency?: number;
  /** Calls started within any 60 s, from 1 up. @defaultValue unlimited */
  readonly requestsPerMinute?: number;
  /**
   * Tokens read and written by the calls started within any 60 s, from 1 up. A call counts with its worst case until
   * its usage is known. A call larger than the limit runs alone.
   *
   * @defaultValue unlimited
   */
  readonly tokensPerMinute?: number;
}

/**
 * Limits concurrent calls and calls per minute. Each `withLimit()` is one limit, shared by all models it wraps and all
 * searches that use them. First come, first served; a call aborted while waiting leaves the queue at once.
 *
 * It also follows the server: if it reports an exhausted limit, or how long to wait, no call starts before then,
 * whatever the options. If the wait is more than ten minutes, calls are refused at once with an `EspalierError`
 * `unavailable`, which ends a search with its best result.
 *
 * @throws EspalierError `usage` for an option out of range.
 */
export function withLimit(options: LimitOptions = {}): AnyMiddleware {
  expectOptions('withLimit', options, 'concurrency requestsPerMinute tokensPerMinute');
  const limiter = new Limiter(options);
  return aroundCalls(() => (asked, call, make) => limiter.make(asked, call, make));
}

/** The limits that a call has already passed, so that it does not wait for itself. */
const passed: unique symbol = Symbol('espalier.limits');

interface MarkedCall extends ModelCall {
  readonly [passed]?: readonly Limiter[];
}

class Limiter {
  readonly #places: LimitFunction;
  /** Calls that have a slot wait here, one behind another, for room within the minute. */
  readonly #turns: LimitFunction = pLimit(1);
  readonly #window: RateWindow | undefined;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => {};

  constructor(options: LimitOptions) {
    for (const name of ['concurrency', 'requestsPerMinute', 'tokensPerMinute'] as const) {
      if (options[name] !== undefined)
        expectInteger(name, options[name], { min: 1, max: Infinity });
    }
    const { concurrency = Infinity, requestsPerMinute, tokensPerMinute } = options;
    this.#places = pLimit(concurrency);
    if (requestsPerMinute !== undefined || tokensPerMinute !== undefined) {
      const [requests, tokens] = [requestsPerMinute ?? Infinity, tokensPerMinute ?? Infinity];
      this.#window = new RateWindow({ requests, tokens });
    }
  }

  make({ operation, request }: Asked, call: ModelCall, make: Make): Promise<Answer> {
    const { [passed]: already = [] }: MarkedCall = call;
    if (already.includes(this)) return make(call);
    const isBounded = this.#places.concurrency !== Number.POSITIVE_INFINITY;
    const { batch, retry } = call;
    const marked: MarkedCall = {
      ...call,
      // A retry has no slot for which another call could wait.
      ...(isBounded && { ...withoutWaiting(call), ...(retry && { retry }) }),
      [passed]: [...already, this],
      limits: (limits) => {
        this.#hear(limits, call.clock.now());
        call.limits?.(limits);
      },
    };
    const { tokens } = mostCost(operation.worstCase?.(request));
    const limited = <Reply extends object>(
      send: (slot: Slot) => Promise<Reply>,
    ): Promise<Reply> => {
      const slot = new Slot(this.#places, call.signal);
      return slot.holding(async () => {
        const booking = await inTurn(this.#turns, call.signal, () =>
          this.#room(operation.name, tokens, call),
        );
        return this.#settling(booking, call, () => send(slot));
      });
    };
    // A call that waits in a batch takes no slot, but each part of it that is sent on its own does.
    return batch === undefined
      ? limited((slot) => make({ ...marked, ...(isBounded && slot.sparing(call)) }))
      : make({ ...marked, batch: (part, live) => batch(part, () => limited(live)) });
  }

  /** Waits until a call may start, and counts it. */
  async #room(
    name: string,
    tokens: number,
    { clock, signal }: ModelCall,
  ): Promise<Booking | undefined> {
    for (;;) {
      signal.throwIfAborted();
      const now = clock.now();
      if (this.#pausedUntil - now > longestPauseMs) throw pausedFor(name, this.#pausedUntil - now);
      const waitMs = Math.max(this.#pausedUntil - now, this.#window?.waitMs(now, tokens) ?? 0);
      if (waitMs <= 0) return this.#window?.book(now, tokens);
      const waking = new AbortController();
      this.#wake = () => waking.abort();
      signal.addEventListener('abort', this.#wake, { once: true });
      await clock.sleep(waitMs, waking.signal).catch((error: unknown) => {
        // It was woken because there is more room, or because the caller has given up.
        if (!waking.signal.aborted) throw error;
      });
      signal.removeEventListener('abort', this.#wake);
    }
  }

  /** Replaces the counted worst case by the actual usage. */
  async #settling<Reply extends Pick<Answer, 'usage'>>(
    booking: Booking | undefined,
    { clock }: ModelCall,
    make: () => Promise<Reply>,
  ): Promise<Reply> {
    try {
      const answer = await make();
      if (booking !== undefined) {
        const reserved = { calls: 1, tokens: booking.tokens, usd: 0 };
        booking.tokens = actualCost(answer.usage, reserved, undefined).tokens;
      }
      return answer;
    } catch (error) {
      // A retry within the limit gives up in words of its own.
      const { cause } = Object(error) as { readonly cause?: unknown };
      const failure = ModelCallError.isInstance(error) ? error : cause;
      if (ModelCallError.isInstance(failure)) {
        if (booking !== undefined && !failure.charged) booking.tokens = 0;
        this.#pause(clock.now() + (failure.retryAfterMs ?? 0));
      }
      throw error;
    } finally {
      this.#wake();
    }
  }

  #hear({ requests, tokens }: RateLimits, now: number): void {
    for (const limit of [requests, tokens]) {
      if (limit !== undefined && limit.remaining <= 0) this.#pause(now + limit.resetMs);
    }
  }

  /** Answers may arrive out of order: a later one that allows more does not end a pause. */
  #pause(until: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }
}

/** The longest pause that is waited for, in milliseconds. */
const longestPauseMs = 600_000;

function pausedFor(name: string, ms: number): EspalierError {
  const message = `${name} asks not to be called for another ${Math.ceil(ms / 1_000)} s. Run it again then, or use another model.`;
  return new EspalierError('unavailable', message);
}

/** The slot of a call among those that run at once. */
class Slot {
  readonly #places: LimitFunction;
  readonly #signal: AbortSignal;
  #isOver = false;
  /** How many of its requests wait for the permission to be made again. */
  #asking = 0;
  #leave: (() => void) | undefined;

  constructor(places: LimitFunction, signal: AbortSignal) {
    this.#places = places;
    this.#signal = signal;
  }

  /** Does something as soon as there is a slot, and leaves the slot at the end. */
  async holding<Value>(act: () => Promise<Value>): Promise<Value> {
    try {
      await this.#take();
      return await act();
    } finally {
      this.#isOver = true;
      this.#leave?.();
    }
  }

  /**
   * Lets a call have no slot while a request of it waits for the permission to be made again: the call whose turn is
   * before it may be waiting for the slot. Requests that it makes meanwhile need none.
   */
  sparing({ retry }: ModelCall): Pick<ModelCall, 'retry'> {
    if (retry === undefined) return {};
    return {
      retry: async (attempt) => {
        if (this.#isOver) return retry(attempt);
        this.#asking++;
        this.#leave?.();
        this.#leave = undefined;
        try {
          await retry(attempt);
        } finally {
          this.#asking--;
        }
        if (this.#asking === 0) await this.#take();
      },
    };
  }

  #take(): Promise<void> {
    return new Promise((resolve, reject) => {
      const stay = (): Promise<void> => {
        resolve();
        if (this.#isOver || this.#asking > 0 || this.#leave !== undefined) {
          return Promise.resolve();
        }
        return new Promise((leave) => {
          this.#leave = leave;
        });
      };
      inTurn(this.#places, this.#signal, stay).catch(reject);
    });
  }
}

/** Runs something in its turn. A caller that is aborted before leaves the queue at once. */
function inTurn<Value>(
  queue: LimitFunction,
  signal: AbortSignal,
  act: () => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    void queue(async () => {
      signal.removeEventListener('abort', leave);
      if (!signal.aborted) await act().then(resolve, reject);
    });
  });
}
