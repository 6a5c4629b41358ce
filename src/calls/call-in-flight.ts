import type { JsonValue } from '../contracts/json.ts';
import { Account } from './account.ts';
import { errorOf, type Outcome } from './call-outcome.ts';
import type { CallRequest } from './call-request.ts';
import { type CallSpend, nothing } from './call-spend.ts';
import type { RecordedCall } from './journal-index.ts';
import type { Reservation } from './ledger.ts';
import type { Ticket } from './sequencer.ts';

/** A call that has taken effect. */
export interface CallReport {
  /** The number of the call in the order of issue; it identifies the call in the journal. */
  readonly callId: string;
  /** The kind of call. */
  readonly kind: string;
  /** The model or the effect. */
  readonly name: string;
  /** The spend that it was charged. */
  readonly spend: CallSpend;
  /** Whether the journal answered it. */
  readonly replayed: boolean;
  /** Why it failed. */
  readonly failure: string | undefined;
}

/** The output of a call and the number that identifies it. */
export interface CallOutput {
  readonly callId: string;
  readonly output: JsonValue;
}

/** A call that has been issued and has not taken effect. */
export class CallInFlight {
  readonly number: number;
  readonly key: string;
  /** The number of the effect that requested it. */
  inside: number | undefined;
  request: CallRequest;
  readonly ticket: Ticket;
  /** The output, for all callers that share it. */
  readonly output: Promise<CallOutput>;
  account: Account;
  /** Room for the call until its turn to be made again. */
  kept: Reservation | undefined;
  /** The recorded call that it repeats. */
  record: RecordedCall | undefined;
  /** What the budget needed to hold for a call that it requested and that was refused. */
  refused: CallSpend | undefined;
  /** The outcome and charge of its last attempt, known before the outcome takes effect. */
  ended: { readonly spend: CallSpend; readonly outcome: () => Outcome } | undefined;
  readonly #controller = new AbortController();
  #resolve: (output: Promise<CallOutput>) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(
    issued: Pick<CallInFlight, 'inside' | 'key' | 'number' | 'ticket'>,
    request: CallRequest,
    reservation: Reservation,
  ) {
    this.number = issued.number;
    this.key = issued.key;
    this.inside = issued.inside;
    this.ticket = issued.ticket;
    this.request = request;
    this.account = new Account(request, reservation);
    this.output = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get callId(): string {
    return String(this.number);
  }

  /** Aborts when the call is given up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Repeats a recorded call up to its outcome. @param waits - Whether it may wait for other calls in flight. */
  repeat(record: RecordedCall, waits: boolean): void {
    this.record = record;
    for (const { place, spend, isFurther } of record.attempts ?? []) {
      const again = (): void => {
        if (this.account.isSettled) return;
        if (isFurther) this.account.extend();
        else this.account.fail(spend);
        // If the budget refused it, it is refused again.
        this.account.hold(waits && record.inside === undefined).catch(() => {});
      };
      this.ticket.arrive(again, { place });
    }
  }

  /** Whether only the record requests it: the effect that did is repeated without being run. */
  get isInner(): boolean {
    return this.record !== undefined && this.inside !== undefined;
  }

  /** Whether it goes on with what it has set aside when it is asked again: nothing was lost with its process. */
  get isHeld(): boolean {
    if (this.isInner || this.ended !== undefined || this.account.isSettled) return false;
    return this.record?.isKept === true;
  }

  /** Gives back the room that was kept for it. */
  release(): void {
    this.kept?.settle(nothing);
    this.kept = undefined;
  }

  /** Delivers the outcome to the callers. */
  tell(outcome: Outcome): void {
    this.#resolve(this.outputOf(outcome));
  }

  /** The outcome in the form that callers get. */
  async outputOf(outcome: Outcome): Promise<CallOutput> {
    if ('output' in outcome) return { callId: this.callId, output: outcome.output };
    throw 'fatal' in outcome ? outcome.fatal : errorOf(outcome);
  }

  /** Gives up the call. */
  drop(reason: unknown): void {
    this.#controller.abort(reason);
    this.ticket.drop();
    this.#reject(reason);
  }
}
