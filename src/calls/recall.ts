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

/** What was lost with earlier processes, and what this run is charged of what they have paid. */
export type Losses = Pick<LineOf<'resume'>, 'charged' | 'lost'>;

export const noLosses: Losses = { lost: nothing, charged: nothing };

type RecordedFailure = NonNullable<RecordedEnd['failure']>;

/**
 * What a journal knows of the calls of a run.
 *
 * A run repeats its journal call by call, for as long as it asks what is written there. From the first call on that
 * the journal cannot answer, it is live: then all that was paid for and not come to is charged at once, and answers
 * calls that ask the same.
 */
export class Recall {
  readonly #journal: Journal;
  readonly #index: JournalIndex;
  /** How many of the places at which an earlier process had resumed have been passed. */
  #passed = 0;
  /** How many of the places at which it asked again for failed calls. */
  #retried = 0;
  #isLive: boolean;
  #left: LeftCalls | undefined;
  /** What all calls of the journal ask. */
  #keys: ReadonlySet<string> | undefined;
  #beside: LeftCalls | undefined;
  #retries: (failure: RecordedFailure) => boolean;
  /** What has been charged of what the journal says was paid. */
  #claimed: CallSpend = nothing;
  /** The line at which this run, or one that it repeats, asked something else than what is written there. */
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

  /** Whether every call that failed is asked again. */
  readonly retryFailed: boolean;

  /** What became of a call that was asked again at the place that the run has come to. */
  nextOf(call: RecordedCall): RecordedCall | undefined {
    if (this.#isLive) return undefined;
    const here = this.#index.resumes[this.#passed - 1]?.ordinal ?? 0;
    let next = call.next;
    while (next !== undefined && next.resumes < here) next = next.next;
    return next?.resumes === here ? next : undefined;
  }

  /** Whether calls are new: the journal has been repeated as far as it goes. */
  get isLive(): boolean {
    return this.#isLive;
  }

  get deadlines(): JournalIndex['deadlines'] {
    return this.#index.deadlines;
  }

  /** Whether a call that this run has not repeated was under way when its process died or its search ended. */
  isOpen(key: string): boolean {
    return this.#left?.isOpen(key) === true;
  }

  /**
   * What an earlier run has asked for, for who asks for the same in other company. Nothing where the call itself is
   * in the journal.
   */
  leftBeside(keyOf: () => string): LeftCalls | undefined {
    if (this.#isLive) return this.#left;
    const { calls, left } = this.#index;
    this.#keys ??= new Set(calls.map(({ key }) => key));
    if (this.#keys.has(keyOf())) return undefined;
    // Where the run had been resumed, what it had left decided first.
    this.#beside ??= new LeftCalls([...calls, ...(this.#left ?? left).calls]);
    return this.#beside;
  }

  /** What answers a call that the earlier run had made elsewhere. */
  leftAnswer(key: string): RecordedCall | undefined {
    return this.#left?.answer(key, (failure) => !this.#retries(failure));
  }

  /** Whether the run was resumed, or has to be, before the next call. */
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

  /** The place at which an earlier process asked again for calls that had failed, where the run has come to it. */
  takeRetry(number: number, search: number): LineOf<'retry'> | undefined {
    const retry = this.#index.retries[this.#retried];
    if (this.#isLive || retry?.call !== number || (retry.search ?? 0) !== search) return undefined;
    this.#retried += 1;
    return retry;
  }

  /** Whether the journal knows no more of the run than it has repeated. */
  isAtEnd(number: number): boolean {
    const { calls, first, resumes } = this.#index;
    return this.#isLive || (number >= first + calls.length && this.#passed === resumes.length);
  }

  /** Whether an earlier process had resumed the run before the call with this number. */
  isResumedAt(number: number): boolean {
    return !this.#isLive && this.#index.resumes[this.#passed]?.call === number;
  }

  /** Whether effects are addressed without the state that they act on, as they were before version 3. */
  get knowsNoStates(): boolean {
    return this.#index.version < 3;
  }

  /** Whether prompts were never counted, as before version 4. */
  get knowsNoCounts(): boolean {
    return this.#index.version < 4;
  }

  /** What all calls of the journal may have cost. */
  get total(): CallSpend {
    return this.#index.total;
  }

  /** The call with a number, where the run repeats it. */
  take(number: number): RecordedCall | undefined {
    return this.#isLive ? undefined : this.#at(number);
  }

  /** Notes what a repeated call is charged. */
  claim(cost: CallSpend): void {
    this.#claimed = addSpend(this.#claimed, cost);
  }

  /**
   * What was lost with the processes before, and what the journal says was paid beyond what this run has been charged and
   * is about to be.
   */
  losses(claiming: CallSpend): Losses {
    const { total, lost } = this.#index;
    const claimed = addSpend(this.#claimed, claiming);
    const rest = (unit: keyof CallSpend) => beyond(total[unit], claimed[unit]);
    return { lost, charged: { calls: rest('calls'), tokens: rest('tokens'), usd: rest('usd') } };
  }

  /** The place before this call, or at the end of what is written, at which an earlier process had resumed. */
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

  /** From this call on the run is live. What became of calls that are asked again here is left as well. */
  goLive(number: number, again: readonly RecordedCall[]): void {
    this.#isLive = true;
    const { calls } = this.#index.left;
    this.#left = new LeftCalls([...again, ...calls, ...this.#from(number)]);
    this.#retries = this.#journal.mode === 'replay' ? () => false : retriesOf(this.retryFailed);
  }

  /** What a call came to. */
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

  /** Whether a call that ended its search is asked again; one that was asked again in its own run stands. */
  #isAskedAgain({ end, isSuperseded }: RecordedCall): boolean {
    if (this.#journal.mode === 'replay' || isSuperseded) return false;
    return end?.failure?.unavailable === true;
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

/** Which failures are asked again when a run is resumed. What may have had an effect is not repeated unasked. */
function retriesOf(retryFailed: boolean): (failure: RecordedFailure) => boolean {
  return ({ unavailable, transient, interrupted, abandoned }) =>
    interrupted !== true &&
    abandoned !== true &&
    (retryFailed || unavailable === true || transient === true);
}
