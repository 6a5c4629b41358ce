import { EspalierError, ModelCallError } from '../base/errors.ts';
import type { CallRequest } from './call-request.ts';
import { addSpend, type CallSpend, nothing } from './call-spend.ts';
import type { Reservation } from './ledger.ts';

/** What one call has set aside: its worst case, once for each request that may have been paid for. */
export class Account {
  readonly #payer: Pick<CallRequest, 'ledger' | 'reserve'>;
  readonly #held: Reservation[];
  /** What earlier attempts are charged. */
  #attempts: CallSpend = nothing;
  /** What is set aside for what is under way. */
  #covered: CallSpend;
  /** Whether requests of the attempt under way count as paid for, whatever becomes of it. */
  #isPaid = false;
  #isSettled = false;

  constructor(payer: Pick<CallRequest, 'ledger' | 'reserve'>, reservation: Reservation) {
    this.#payer = payer;
    this.#held = [reservation];
    this.#covered = payer.reserve;
  }

  /** Whether it has been charged. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** What is set aside for what is under way: lost where the process dies. */
  get covered(): CallSpend {
    return this.#covered;
  }

  /** What a failed attempt is charged, as its server says. */
  chargeOf(charged: boolean): CallSpend {
    return charged || this.#isPaid ? { ...this.#covered, calls: 0 } : nothing;
  }

  /** Charges a failed attempt. */
  fail(spend: CallSpend): void {
    this.#attempts = addSpend(this.#attempts, spend);
    this.#covered = { ...nothing, calls: this.#covered.calls };
    this.#isPaid = false;
  }

  /** The attempt under way takes a further request: what came before was paid for. */
  extend(): void {
    this.#isPaid = true;
  }

  /**
   * Sets aside what another request may cost. The samples are counted once, however many requests they take.
   *
   * @param waits - Whether it may wait for calls in flight.
   * @throws EspalierError `budget` where it does not fit.
   */
  async hold(waits: boolean): Promise<CallSpend> {
    const { ledger, reserve } = this.#payer;
    const again = { ...reserve, calls: 0 };
    const reservation = await ledger.reserve(again, { holds: this.#held.length, waits });
    // Abandoned meanwhile, it has given back all that it held.
    if (this.#isSettled) reservation.settle(nothing);
    else this.#held.push(reservation);
    this.#covered = addSpend(this.#covered, again);
    return again;
  }

  /** What the last attempt is charged. Who was charged just what one request reserves told no usage. */
  answered(spend: CallSpend): CallSpend {
    return spend === this.#payer.reserve ? this.#covered : spend;
  }

  /** What the last attempt is charged where it failed, or where it was the last that the budget held. */
  failed(error: unknown): CallSpend {
    if (this.#isPaid) return this.#covered;
    const charge = chargeOf(error, this.#covered);
    // It was made, even where no other attempt was granted.
    return this.#attempts === nothing ? charge : { ...charge, calls: this.#covered.calls };
  }

  /** Charges the attempts and what the last one used, by default all that it reserved. Returns the sum. */
  settle(last: CallSpend = this.#covered, attempts: CallSpend = this.#attempts): CallSpend {
    const cost = addSpend(attempts, last);
    if (this.#isSettled) return cost;
    this.#isSettled = true;
    const [first, ...others] = this.#held.splice(0);
    // Charged before anything is given back: nobody else may be granted what is spent already.
    this.#payer.ledger.charge(attempts);
    first?.settle(last, this.#covered);
    for (const other of others) other.settle(nothing);
    return cost;
  }
}

/** What a failed attempt is charged. It counts as made, so that a limit on calls binds whatever happens. */
export function chargeOf(error: unknown, reserved: CallSpend): CallSpend {
  if (EspalierError.isInstance(error) && error.code === 'budget') return nothing;
  return isFree(error) ? { ...nothing, calls: reserved.calls } : reserved;
}

/** A model that was given up after an attempt says with the cause whether that was charged. */
function isFree(error: unknown): boolean {
  if (ModelCallError.isInstance(error)) return !error.charged;
  if (!EspalierError.isInstance(error)) return false;
  // A model that plays a recording has not asked anybody.
  if (error.code === 'unrecorded') return true;
  // Nor has one whose package is missing.
  if (error.code === 'usage' && error.scope === 'run') return true;
  if (error.code !== 'unavailable') return false;
  return !ModelCallError.isInstance(error.cause) || isFree(error.cause);
}
