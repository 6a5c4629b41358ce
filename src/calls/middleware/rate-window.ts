const minuteMs = 60_000;

/** A request of the last minute. */
export interface Booking {
  readonly at: number;
  tokens: number;
}

/** The requests of the last minute: no 60 seconds contain more than the limits allow. */
export class RateWindow {
  readonly #limits: { readonly requests: number; readonly tokens: number };
  #bookings: Booking[] = [];

  constructor(limits: { readonly requests: number; readonly tokens: number }) {
    this.#limits = limits;
  }

  /**
   * Milliseconds until a request of `tokens` tokens fits; 0 if it does now. One that is larger than the limit fits when
   * nothing else is in the window, because otherwise it would wait forever.
   */
  waitMs(now: number, tokens: number): number {
    this.#bookings = this.#bookings.filter(({ at }) => at + minuteMs > now);
    const used = this.#bookings.reduce((sum, booking) => sum + booking.tokens, 0);
    let excessRequests = this.#bookings.length + 1 - this.#limits.requests;
    let excessTokens = used + tokens - this.#limits.tokens;
    let until = now;
    for (const booking of this.#bookings) {
      if (excessRequests <= 0 && excessTokens <= 0) break;
      excessRequests--;
      excessTokens -= booking.tokens;
      until = booking.at + minuteMs;
    }
    return until - now;
  }

  /** Counts a request. Its tokens are corrected once its usage is known. */
  book(now: number, tokens: number): Booking {
    const booking = { at: now, tokens };
    this.#bookings.push(booking);
    return booking;
  }
}
