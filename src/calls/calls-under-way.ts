import { EspalierError } from '../base/errors.ts';
import { Account } from './account.ts';
import { CallInFlight, type CallReport } from './call-in-flight.ts';
import type { Outcome } from './call-outcome.ts';
import type { CallRequest } from './call-request.ts';
import { type CallSpend, nothing } from './call-spend.ts';
import type { JournalUse } from './journal-use.ts';
import type { Ledger, Reservation } from './ledger.ts';
import type { Places } from './places.ts';
import type { InnerCall, Recall } from './recall.ts';
import type { Sequencer } from './sequencer.ts';
import type { SharedCalls } from './shared-calls.ts';

interface Surroundings {
  readonly sequencer: Sequencer;
  readonly journal: JournalUse;
  readonly recall: Recall;
  readonly shared: SharedCalls;
  readonly onCall: (report: CallReport) => void;
}

/** The calls that were issued and have not taken effect. Each is charged once, however it ends. */
export class CallsUnderWay {
  readonly #around: Surroundings;
  readonly #calls = new Set<CallInFlight>();
  #inner = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  get calls(): Iterable<CallInFlight> {
    return this.#calls;
  }

  /** How many calls effects have requested so far, for work outside them: a replay opens them earlier. */
  innerOutside(places: Places): number {
    return this.#inner > 0 && places.isInside ? 0 : this.#inner;
  }

  has(call: CallInFlight): boolean {
    return this.#calls.has(call);
  }

  /** Opens a call with the next number in the order of issue. */
  open(
    asked: Pick<CallInFlight, 'inside' | 'key' | 'number'>,
    request: CallRequest,
    reservation: Reservation,
  ): CallInFlight {
    if (asked.inside !== undefined) this.#inner++;
    const issued = { ...asked, ticket: this.#around.sequencer.issue() };
    const call = new CallInFlight(issued, request, reservation);
    this.#calls.add(call);
    return call;
  }

  /** Opens a recorded call that an effect requested, at the cost of that effect's ledger. */
  openInner(number: number, { record, intent }: InnerCall, ledger: Ledger): CallInFlight {
    const { key, inside, reused } = record;
    const { kind, name, request, reserved } = intent;
    const payer = this.#numbered(inside)?.request.ledger ?? ledger;
    const asked = { kind, name, request, reserve: reserved, repeatable: false, ledger: payer };
    const run = () => Promise.reject(new Error('A recorded call of an effect was made.'));
    const reservation = payer.keep(reused === undefined ? reserved : nothing);
    const call = this.open({ number, key, inside }, { ...asked, run }, reservation);
    this.#around.shared.share(key, call.output);
    return call;
  }

  /**
   * Reserves the worst case of a call. One that an effect in flight requests must not wait for the reservation of that
   * effect; and if the budget refuses it, that is known again when the effect is repeated.
   */
  reserve(
    { ledger, reserve, isFree, onWait }: CallRequest,
    { inside, isAgain }: { readonly inside: number | undefined; readonly isAgain: boolean },
  ): Reservation | Promise<Reservation> {
    if (inside === undefined) {
      const granted = ledger.reserve(reserve, { waits: isFree !== true });
      // What it gave back may have been granted to calls that were to follow it.
      if (isAgain && granted instanceof Promise) onWait?.();
      return granted;
    }
    try {
      return ledger.reserve(reserve, { holds: 1, waits: false });
    } catch (error) {
      const effect = this.#numbered(inside);
      if (effect !== undefined) effect.refused = ledger.needed(reserve);
      throw error;
    }
  }

  #numbered(number: number | undefined): CallInFlight | undefined {
    return [...this.#calls].find((call) => call.number === number);
  }

  /** Lets a call that only the record requested be made for somebody who shares it. */
  adopt(key: string, request: CallRequest): void {
    if (this.#inner === 0) return;
    const call = [...this.#calls].find((inner) => inner.key === key && inner.isInner);
    if (call === undefined) return;
    call.inside = undefined;
    call.request = { ...request, ledger: call.request.ledger };
  }

  /** Gives up calls without an outcome that only the record requested: their effects request them when made again. */
  leave(calls: readonly CallInFlight[]): void {
    for (const call of calls) {
      this.#around.shared.abandon(call.key);
      this.drop(call, new Error('The effect that requested this call is made again.'));
    }
  }

  /** Lets an outcome take effect. */
  settle(
    call: CallInFlight,
    outcome: Outcome,
    { spend, replayed }: { readonly spend: CallSpend; readonly replayed: boolean },
  ): void {
    if (!this.#calls.delete(call)) return;
    call.release();
    const { kind, name } = call.request;
    const failure = 'message' in outcome ? outcome.message : undefined;
    call.request.ledger.addAnswered(spend);
    this.#around.onCall({ callId: call.callId, kind, name, spend, replayed, failure });
    const refused = 'refused' in outcome ? outcome.refused : undefined;
    const unit = refused && call.request.ledger.refuse(refused);
    // One that must not be repeated has failed: a call that ended the search could be requested again.
    const isRefused = unit !== undefined && call.request.repeatable;
    const fatal = isRefused && new EspalierError('budget', failure ?? '', { unit });
    call.tell(fatal === false ? outcome : { fatal });
  }

  drop(call: CallInFlight, reason: unknown): void {
    if (!this.#calls.delete(call)) return;
    call.release();
    call.drop(reason);
  }

  /**
   * Abandons all calls because the search is over. Results that have arrived are kept for a search that continues;
   * calls in flight that are not repeatable will not be repeated.
   */
  abandon(reason: unknown): void {
    const { shared } = this.#around;
    for (const call of this.#calls) {
      const { key, request, ended } = call;
      this.charge(call);
      this.drop(call, reason);
      if (ended !== undefined) shared.share(key, call.outputOf(ended.outcome()));
      else if (!request.repeatable) shared.abandon(key);
    }
  }

  /** Resolves when all calls have taken effect, and are known to have, but for those whose end the journal lacks. */
  async rest(): Promise<void> {
    const { recall, sequencer } = this.#around;
    const isComing = ({ record }: CallInFlight) => record === undefined || !recall.isHung(record);
    while ([...this.#calls].some(isComing)) await sequencer.nextRelease();
    // Whoever shares the last output sees it only now.
    await sequencer.rest();
  }

  /** Charges a call once: its cost or, if that is unknown, its worst case. */
  charge({ account, ended, record }: CallInFlight): CallSpend {
    if (account.isSettled || record === undefined || record.reused !== undefined) {
      return account.settle(ended?.spend);
    }
    this.#around.recall.claim(record.cost);
    // According to the journal, which also has attempts whose turn has not come, and grants that were never used.
    return account.settle(record.lastCost, record.attemptsCost);
  }

  /** Keeps room for calls that are made again in their turn: new calls must not take it. */
  keepRoom(calls: readonly CallInFlight[]): void {
    for (const call of calls) {
      const { ledger, reserve, repeatable } = call.request;
      if (repeatable) call.kept = ledger.keep(reserve);
    }
  }

  /** Sets aside what was kept for a call. Returns whether there was room; if others have spent it, it is given back. */
  takeKept(call: CallInFlight): boolean {
    const { kept } = call;
    if (kept === undefined || call.request.ledger.isOverdrawn) {
      call.release();
      return false;
    }
    call.kept = undefined;
    call.account = new Account(call.request, kept);
    return true;
  }

  /** Reserves the worst case of a repeated call again. */
  async reserveAgain(call: CallInFlight, waits: boolean): Promise<void> {
    const { ledger, reserve } = call.request;
    const account = new Account(call.request, await ledger.reserve(reserve, { waits }));
    // A call that was abandoned meanwhile has been charged.
    if (this.has(call)) call.account = account;
    else account.settle(nothing);
  }

  /** Charges the calls in flight and records what they may have cost, because the search is over. */
  end(): void {
    for (const call of this.#calls) {
      const { number, key, account, ended, record, request } = call;
      const isWritten = ended !== undefined || account.isSettled || record?.isCounted === true;
      this.charge(call);
      // A kept call will be repeated for free, if the run continues once the journal can be written.
      const waits = request.isKept === true && this.#around.journal.error !== undefined;
      if (isWritten || waits) continue;
      const { covered: spend } = record ?? account;
      if (record !== undefined) record.isLost = true;
      const message = 'The search ended while the call was in flight.';
      const line = { type: 'failure', call: number, key, spend, message } as const;
      this.#around.journal.tryToWrite({ ...line, abandoned: true });
    }
  }
}
