import { type Outcome, unavailable } from './call-outcome.ts';
import { addSpend, beyond, type CallSpend, nothing } from './call-spend.ts';
import type { Journal } from './journal.ts';
import {
  JournalIndex,
  LeftCalls,
  type RecordedCall,
  type RecordedEnd,
  type RecordedResume,
} from './journal-index.ts';
import type { LineOf } from './journal-lines.ts';
import type { JournalUse } from './journal-use.ts';

/** The losses of earlier processes, and the amount charged to this run for their payments. */
export type Losses = Pick<LineOf<'resume'>, 'charged' | 'lost'>;

export const noLosses: Losses = { lost: nothing, charged: nothing };

/** A recorded call that an effect requested, and the line of its request. */
export interface InnerCall {
  readonly record: RecordedCall;
  readonly intent: LineOf<'intent'>;
}

type RecordedFailure = NonNullable<RecordedEnd['failure']>;

/**
 * The recorded calls of a run.
 *
 * A run repeats its journal call by call, as long as its calls match the record. From the first call that the journal
 * cannot answer, it is live: all recorded calls that it has not reached are then charged at once, and answer equal
 * calls.
 */
export class Recall {
  readonly #journal: Journal;
  readonly #index: JournalIndex;
  /** The number of places passed at which an earlier process had resumed. */
  #passed = 0;
  /** The number of places passed at which it repeated failed calls. */
  #retried = 0;
  #isLive: boolean;
  #left: LeftCalls | undefined;
  /** The keys of all calls in the journal. */
  #keys: ReadonlySet<string> | undefined;
  #beside: LeftCalls | undefined;
  #retries: (failure: RecordedFailure) => boolean;
  /** The part of the recorded payments that has been charged. */
  #claimed: CallSpend = nothing;
  /** The line at which this run, or one that it repeats, diverged from the record. */
  differsAt: number | undefined;

  constructor(journal: Journal, retryFailed: boolean) {
    this.#journal = journal;
    this.#index = new JournalIndex(journal.lines);
    const { calls, left, deadlines } = this.#index;
    const isNew = calls.length === 0 && left.calls.length === 0 && deadlines.size === 0;
    this.#isLive = isNew && journal.mode === 'record';
    this.#retries = retriesOf(retryFailed);
    this.retryFailed = retryFailed;
  }

  /** Whether all failed calls are repeated. */
  readonly retryFailed: boolean;

  /** The repetition of a call at the place that the run has reached, if it was repeated there. */
  nextOf(call: RecordedCall): RecordedCall | undefined {
    if (this.#isLive) return undefined;
    const here = this.#index.resumes[this.#passed - 1]?.ordinal ?? 0;
    let next = call.next;
    while (next !== undefined && next.resumes < here) next = next.next;
    return next?.resumes === here ? next : undefined;
  }

  /** Whether calls are new, because the journal has been repeated to its end. */
  get isLive(): boolean {
    return this.#isLive;
  }

  get deadlines(): JournalIndex['deadlines'] {
    return this.#index.deadlines;
  }

  /** Whether a call that this run has not repeated was in flight when its process died or its search ended. */
  isOpen(key: string): boolean {
    return this.#left?.isOpen(key) === true;
  }

  /** The calls of an earlier run that may contain parts of this one. `undefined` if the journal has the call itself. */
  leftBeside(keyOf: () => string): LeftCalls | undefined {
    if (this.#isLive) return this.#left;
    const { calls, left } = this.#index;
    this.#keys ??= new Set(calls.map(({ key }) => key));
    if (this.#keys.has(keyOf())) return undefined;
    // If the run had been resumed, the calls left at that point take precedence.
    this.#beside ??= new LeftCalls([...calls, ...(this.#left ?? left).calls]);
    return this.#beside;
  }

  /** The recorded answer to a call that the earlier run made at another point. */
  leftAnswer(key: string): RecordedCall | undefined {
    return this.#left?.answer(key, (failure) => !this.#retries(failure));
  }

  /** Whether the run was resumed, or must be, before the next call. */
  mustResume(number: number, key: string): boolean {
    if (this.#isLive) return false;
    if (this.isResumedAt(number)) return true;
    const call = this.#at(number);
    if (call === undefined) return true;
    if (call.key !== key) {
      this.#differ(call);
      return true;
    }
    return this.#isAskedAgain(call);
  }

  /**
   * Whether a repeated call does not end but is made again: the journal has no outcome of it, or a failure that ended
   * its search.
   */
  isHung(call: RecordedCall): boolean {
    return call.isHung || this.#isAskedAgain(call);
  }

  /** The place at which an earlier process repeated failed calls, if the run has reached it. */
  takeRetry(number: number, search: number): LineOf<'retry'> | undefined {
    if (!this.isRetriedAt(number, search)) return undefined;
    return this.#index.retries[this.#retried++];
  }

  /** Whether an earlier process repeated failed calls at this place. */
  isRetriedAt(number: number, search: number): boolean {
    const retry = this.#index.retries[this.#retried];
    return !this.#isLive && retry?.call === number && (retry.search ?? 0) === search;
  }

  /** Whether the whole record of the run has been repeated. */
  isAtEnd(number: number): boolean {
    const { calls, first, resumes } = this.#index;
    return this.#isLive || (number >= first + calls.length && this.#passed === resumes.length);
  }

  /** Whether an earlier process had resumed the run before the call with this number. */
  isResumedAt(number: number): boolean {
    return !this.#isLive && this.#index.resumes[this.#passed]?.call === number;
  }

  /** Whether addresses of effects lack the state that they act on, as before version 3. */
  get knowsNoStates(): boolean {
    return this.#index.version < 3;
  }

  /** Whether prompts were not counted, as before version 4. */
  get knowsNoCounts(): boolean {
    return this.#index.version < 4;
  }

  /** The maximum cost of all calls in the journal. */
  get total(): CallSpend {
    return this.#index.total;
  }

  /** The recorded call with this number, if the run repeats it. */
  take(number: number): RecordedCall | undefined {
    return this.#isLive ? undefined : this.#at(number);
  }

  /** The recorded call with this number, if an effect requested it; `undefined` if the run makes it by itself. */
  takeInner(number: number): InnerCall | undefined {
    const record = this.isResumedAt(number) ? undefined : this.take(number);
    if (record?.inside === undefined) return undefined;
    // A call that was answered or given up at once has its request in an earlier life.
    const { calls, left } = this.#index;
    const isRequest = ({ key, place }: RecordedCall) => key === record.key && place !== undefined;
    const place = record.place ?? [...calls, ...left.calls].find(isRequest)?.place;
    return { record, intent: this.#journal.lines.at(place as number) as LineOf<'intent'> };
  }

  /** Notes the charge of a repeated call. */
  claim(cost: CallSpend): void {
    this.#claimed = addSpend(this.#claimed, cost);
  }

  /**
   * The losses of earlier processes, and the recorded payments beyond what this run has been charged and is about to be
   * charged.
   */
  losses(claiming: CallSpend): Losses {
    const { total, lost } = this.#index;
    const claimed = addSpend(this.#claimed, claiming);
    const rest = (unit: keyof CallSpend) => beyond(total[unit], claimed[unit]);
    return { lost, charged: { calls: rest('calls'), tokens: rest('tokens'), usd: rest('usd') } };
  }

  /** The place before this call, or at the end of the record, at which an earlier process resumed. */
  takeResume(number: number): RecordedResume | undefined {
    const resume = this.#index.resumes[this.#passed];
    if (resume === undefined || !this.isResumedAt(number)) return undefined;
    this.#passed += 1;
    this.differsAt ??= resume.differsAt;
    this.#left = resume.left;
    this.#beside = undefined;
    this.#retries = retriesOf(resume.retryFailed === true);
    return resume;
  }

  /** From this call on, the run is live. The outcomes of calls that are now repeated also count as left. */
  goLive(number: number, again: readonly RecordedCall[]): void {
    this.#isLive = true;
    const { calls } = this.#index.left;
    this.#left = new LeftCalls([...again, ...calls, ...this.#from(number)]);
    this.#retries = this.#journal.mode === 'replay' ? () => false : retriesOf(this.retryFailed);
  }

  /** The outcome of a call. */
  outcomeOf({ failure, place }: RecordedEnd, journal: JournalUse): Outcome {
    if (failure?.unavailable === true) return { fatal: unavailable(failure.message, undefined) };
    if (failure !== undefined) return failure;
    try {
      return { output: journal.with(({ lines }) => (lines.at(place) as LineOf<'result'>).output) };
    } catch (error) {
      return { fatal: error };
    }
  }

  #at(number: number): RecordedCall | undefined {
    return this.#index.calls[number - this.#index.first];
  }

  #from(number: number): readonly RecordedCall[] {
    return this.#index.calls.slice(Math.max(0, number - this.#index.first));
  }

  /** Whether a call that ended its search is repeated; one that was already repeated in its own run is not. */
  #isAskedAgain({ end, isSuperseded, next }: RecordedCall): boolean {
    if (end?.failure?.unavailable !== true || isSuperseded) return false;
    // A replay ends as the record does, unless a later process has made the call again.
    return this.#journal.mode !== 'replay' || next !== undefined;
  }

  #differ({ place }: RecordedCall): void {
    if (place === undefined) return;
    let number = 0;
    for (const [at] of this.#journal.lines.entries()) {
      number += 1;
      if (at === place) this.differsAt ??= number;
    }
  }
}

/**
 * Which failures are retried when a run is resumed. A call that may have had an effect is never repeated automatically.
 */
function retriesOf(retryFailed: boolean): (failure: RecordedFailure) => boolean {
  return ({ unavailable, transient, interrupted, abandoned }) =>
    interrupted !== true &&
    abandoned !== true &&
    (retryFailed || unavailable === true || transient === true);
}
