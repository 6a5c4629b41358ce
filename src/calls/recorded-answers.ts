import type { CallInFlight } from './call-in-flight.ts';
import { type Outcome, unavailable } from './call-outcome.ts';
import { type CallSpend, nothing } from './call-spend.ts';
import type { CallsUnderWay } from './calls-under-way.ts';
import type { RecordedCall, RecordedEnd } from './journal-index.ts';
import type { JournalUse } from './journal-use.ts';
import type { Recall } from './recall.ts';

interface Surroundings {
  readonly recall: Recall;
  readonly journal: JournalUse;
  readonly underWay: CallsUnderWay;
  /** Whether a call may wait for others that are under way. */
  readonly mayWait: boolean;
}

/** Answers calls with what a journal says became of them. */
export class RecordedAnswers {
  readonly #around: Surroundings;
  /** What kinds of failures of an earlier run this one has repeated. */
  readonly failures: Set<'transient' | 'final'> = new Set();
  #count = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** How many calls were answered, each solution and sample counted. */
  get count(): number {
    return this.#count;
  }

  /** Lets happen what the journal says became of a call. */
  repeat(call: CallInFlight, record: RecordedCall): void {
    call.record = record;
    const { mayWait } = this.#around;
    for (const { place, spend, isFurther } of record.attempts ?? []) {
      const again = (): void => {
        if (call.account.isSettled) return;
        if (isFurther) call.account.extend();
        else call.account.fail(spend);
        // Where the budget refused it, it refuses it again.
        call.account.hold(mayWait).catch(() => {});
      };
      call.ticket.arrive(again, { place });
    }
    if (record.reused !== undefined) this.give(call, record.reused, nothing);
    else if (record.isHung) call.ticket.stall();
    else this.give(call, record, (record.end as RecordedEnd).spend);
  }

  /** Lets the recorded outcome of a call take effect in its turn. */
  give(call: CallInFlight, { end, cost }: RecordedCall, spend: CallSpend): void {
    const { place } = end as RecordedEnd;
    this.#count += call.request.reserve.calls;
    const outcome = () => this.#outcomeOf(end as RecordedEnd);
    call.ended = { spend, outcome };
    const apply = (): void => {
      const { failure } = end as RecordedEnd;
      if (failure !== undefined && failure.interrupted !== true) {
        this.failures.add(failure.transient === true ? 'transient' : 'final');
      }
      this.#around.underWay.charge(call);
      this.#around.underWay.settle(call, outcome(), { spend: cost, replayed: true });
    };
    call.ticket.arrive(apply, { place, isLast: true });
  }

  /** What a journal says of a call. */
  #outcomeOf(end: RecordedEnd): Outcome {
    const { failure } = end;
    if (failure?.unavailable === true) return { fatal: unavailable(failure.message, undefined) };
    if (failure !== undefined) return failure;
    try {
      return { output: this.#around.journal.with(() => this.#around.recall.outputOf(end)) };
    } catch (error) {
      return { fatal: error };
    }
  }
}
