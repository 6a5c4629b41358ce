import { EspalierError, ModelCallError } from '../base/errors.ts';
import type { CallRequest } from './call-request.ts';
import { addSpend, type CallSpend, nothing } from './call-spend.ts';
import type { Reservation } from './ledger.ts';

/** The reservations of one call: its worst case, once for each request that may have been paid for. */
export class Account {
  readonly #payer: Pick<CallRequest, 'ledger' | 'reserve'>;
  readonly #held: Reservation[];
  /** The charges of earlier attempts. */
  #attempts: CallSpend = nothing;
  /** The reservation for the current attempt. */
  #covered: CallSpend;
  /** Whether the current attempt has made requests that must be paid for, however it ends. */
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

  /** The reservation for the current attempt, which is lost if the process dies. */
  get covered(): CallSpend {
    return this.#covered;
  }

  /** The charge of a failed attempt, depending on whether its server charges for it. */
  chargeOf(charged: boolean): CallSpend {
    return charged || this.#isPaid ? { ...this.#covered, calls: 0 } : nothing;
  }

  /** Charges a failed attempt. */
  fail(spend: CallSpend): void {
    this.#attempts = addSpend(this.#attempts, spend);
    this.#covered = { ...nothing, calls: this.#covered.calls };
    this.#isPaid = false;
  }

  /** Notes that the current attempt needs a further request: the earlier ones must be paid for. */
  extend(): void {
    this.#isPaid = true;
  }

  /**
   * Reserves the worst case of another request. Samples count as calls only once, however many requests they take.
   *
   * @param waits - Whether it may wait for calls in flight.
   * @throws EspalierError `budget` if it does not fit.
   */
  async hold(waits: boolean): Promise<CallSpend> {
    const { ledger, reserve } = this.#payer;
    const again = { ...reserve, calls: 0 };
    const reservation = await ledger.reserve(again, { holds: this.#held.length, waits });
    // If the call was abandoned meanwhile, it has already given back its reservations.
    if (this.#isSettled) reservation.settle(nothing);
    else this.#held.push(reservation);
    this.#covered = addSpend(this.#covered, again);
    return again;
  }

  /**
   * The charge of the last attempt. If it equals one request's reservation, the usage is unknown, and all reservations
   * are charged.
   */
  answered(spend: CallSpend): CallSpend {
    return spend === this.#payer.reserve ? this.#covered : spend;
  }

  /** The charge of the last attempt if it failed, or if the budget allowed no other. */
  failed(error: unknown): CallSpend {
    if (this.#isPaid) return this.#covered;
    const charge = chargeOf(error, this.#covered);
    // The attempt was made, even if no other was granted.
    return this.#attempts === nothing ? charge : { ...charge, calls: this.#covered.calls };
  }

  /** Charges all attempts, the last one by default with its whole reservation. Returns the sum. */
  settle(last: CallSpend = this.#covered, attempts: CallSpend = this.#attempts): CallSpend {
    const cost = addSpend(attempts, last);
    if (this.#isSettled) return cost;
    this.#isSettled = true;
    const [first, ...others] = this.#held.splice(0);
    // Charged before anything is given back, so that nobody is granted what is already spent.
    this.#payer.ledger.charge(attempts);
    first?.settle(last, this.#covered);
    for (const other of others) other.settle(nothing);
    return cost;
  }
}

/** The charge of a failed attempt. One that was made counts as a call, so that a limit on calls holds whatever happens. */
export function chargeOf(error: unknown, reserved: CallSpend): CallSpend {
  if (isUnmade(error)) return nothing;
  return isFree(error) ? { ...nothing, calls: reserved.calls } : reserved;
}

/** Whether no attempt was made: the budget refused it, or the model was given up before. Either ends the search. */
function isUnmade(error: unknown): boolean {
  if (!EspalierError.isInstance(error)) return false;
  return error.code === 'budget' || (error.code === 'unavailable' && error.cause === undefined);
}

/**
 * Whether a failed attempt costs nothing. If a model was given up after an attempt, the cause says whether that was
 * charged.
 */
function isFree(error: unknown): boolean {
  if (ModelCallError.isInstance(error)) return !error.charged;
  if (!EspalierError.isInstance(error)) return false;
  // A model that plays a recording has asked no server.
  if (error.code === 'unrecorded') return true;
  // Nor has a model whose package is missing.
  if (error.code === 'usage' && error.scope === 'run') return true;
  if (error.code !== 'unavailable') return false;
  return !ModelCallError.isInstance(error.cause) || isFree(error.cause);
}
