import { EspalierError } from '../base/errors.ts';
import type { Batches } from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import type { ModelWarning } from '../contracts/language-model.ts';
import type { CallInFlight, CallOutput, CallReport } from './call-in-flight.ts';
import { CallMaker } from './call-maker.ts';
import { addressOfCall, type CallContent, type CallRequest } from './call-request.ts';
import { addSpend, type CallSpend, nothing } from './call-spend.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import type { Journal } from './journal.ts';
import type { LeftCalls, RecordedCall, RecordedEnd } from './journal-index.ts';
import type { LineOf } from './journal-lines.ts';
import { JournalUse } from './journal-use.ts';
import type { Ledger, Reservation } from './ledger.ts';
import { Places } from './places.ts';
import { type Losses, noLosses, Recall } from './recall.ts';
import type { Sequencer } from './sequencer.ts';
import { SharedCalls } from './shared-calls.ts';
import { UsageByRole } from './usage-by-role.ts';

/** What a gate works with. */
export interface CallGateOptions {
  readonly sequencer: Sequencer;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Aborts every call in flight. */
  readonly signal: AbortSignal;
  /** How many calls may be in flight. @defaultValue no limit */
  readonly limit?: number | undefined;
  readonly onCall: (report: CallReport) => void;
  /** Hears what a model does not support. */
  readonly onWarning: (warning: ModelWarning) => void;
  /** Whether a recorded deadline is still to be replayed: what has no result then never got one. */
  readonly deadlineAhead: () => boolean;
  /** Where calls send what may wait. @defaultValue nothing waits */
  readonly batches?: Batches | undefined;
  /** Ends the search as that deadline did. */
  readonly expire?: () => void;
  /** Whether calls that failed are made again, and not only those that waiting may mend. */
  readonly retryFailed?: boolean | undefined;
  /** The gate of the search that this one continues: its calls are shared and numbered on. */
  readonly before?: CallGate | undefined;
}

/**
 * The one way out of a search. Every call is addressed by its content, so that equal calls are made
 * once; reserved before it starts; written down before and after; and takes effect in its turn.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #recall: Recall;
  readonly #maker: CallMaker;
  readonly #journal: JournalUse;
  readonly #shared: SharedCalls;
  /** What was bought by parts of calls, such as single samples, for those who ask for other parts. */
  readonly bought: Map<string, Promise<unknown>>;
  /** The models that were called and whose price is unknown: what they cost is not in the spend. */
  readonly unpriced: Set<string>;
  /** What models used, by who asked them. */
  readonly usage: UsageByRole;
  /** Whom calls are charged to that an earlier run has made and this one does not come to. */
  ledger: Ledger | undefined;
  /** What all calls of this run have in common: the content address of its start. */
  run: string | undefined;
  /** Whether calls wait in batches, in this run or the one that it repeats: then no sample waits for another. */
  readonly waitsInBatches: boolean;
  /** Whether what a killed process had under way is to leave as much of the budget as an undisturbed one has. */
  makesUpForLosses = false;
  /** How often a result was resumed on this journal to come to this search. */
  readonly search: number;
  readonly #underWay: CallsUnderWay;
  /** How many calls may be in flight, and who waits. */
  readonly places: Places;
  #issued: number;
  /** How often this run has come to a place at which it was resumed. */
  #resumes = 0;
  #recorded = 0;
  #unrecorded = 0;
  /** What kinds of failures of an earlier run this one has repeated. */
  readonly #failedBefore = new Set<'transient' | 'final'>();

  constructor(options: CallGateOptions) {
    this.#options = options;
    const { before, journal, signal, sequencer, retryFailed = false } = options;
    const goesOn = before !== undefined && before.#options.journal === journal;
    this.#recall = goesOn ? before.#recall : new Recall(journal, retryFailed);
    this.search = goesOn ? before.search + 1 : 0;
    this.#shared = new SharedCalls(before === undefined ? undefined : before.#shared);
    this.#shared.forgetFailures(retryFailed);
    this.bought = new Map(before?.bought);
    this.#issued = before === undefined ? 0 : before.#issued;
    this.#journal = new JournalUse(journal, signal);
    const known = { journal: this.#journal, recall: this.#recall, shared: this.#shared };
    this.#underWay = new CallsUnderWay({ ...known, sequencer, onCall: options.onCall });
    this.places = new Places(options.limit ?? Number.POSITIVE_INFINITY);
    this.#maker = new CallMaker({
      clock: options.clock,
      onWarning: options.onWarning,
      write: (line) => this.#journal.write(line),
      mayWait: sequencer.mayWait,
      run: () => this.run,
      batches: options.batches,
    });
    this.run = before?.run;
    const [header] = journal.lines;
    const wasBatched = header?.type === 'journal' && header.run['batches'] === true;
    this.waitsInBatches = options.batches !== undefined || wasBatched;
    this.unpriced = before === undefined ? new Set() : before.unpriced;
    this.usage = before === undefined ? new UsageByRole() : before.usage;
    sequencer.onStalled = () => {
      if (this.#hangs()) options.expire?.();
      else this.#resume();
    };
    signal.addEventListener('abort', () => this.#abandon(signal.reason));
  }

  /** Calls issued so far, shared ones not counted again. */
  get issued(): number {
    return this.#issued;
  }

  /** How far the journal answered, and where it says something else than this search. */
  get coverage(): Readonly<Record<'recorded' | 'unrecorded', number>> & {
    readonly differsAt: number | undefined;
  } {
    const { differsAt } = this.#recall;
    return { recorded: this.#recorded, unrecorded: this.#unrecorded, differsAt };
  }

  /** Why nothing more can be written down: the search has to end. */
  get storageError(): EspalierError | undefined {
    return this.#journal.error;
  }

  /** Whether calls are new: the journal has been repeated as far as it goes. */
  get isLive(): boolean {
    return this.#recall.isLive;
  }

  /** What all calls of the journal may have cost. */
  get owed(): CallSpend {
    return this.#recall.total;
  }

  /** The deadline that ended this search before. */
  get deadline(): LineOf<'deadline'> | undefined {
    return this.#recall.deadlines.get(this.search);
  }

  /** What an earlier run has asked for, unless it is this very call: in other company, it may hold the same. */
  leftBeside(call: CallContent): LeftCalls | undefined {
    return this.#recall.leftBeside(() => addressOfCall(call));
  }

  /** What was asked in calls that have ended. */
  *intentsOf({ calls }: LeftCalls): Generator<LineOf<'intent'>> {
    for (const { place, end } of calls) {
      if (place === undefined || end === undefined) continue;
      yield this.#journal.with(({ lines }) => lines.at(place) as LineOf<'intent'>);
    }
  }

  /** Whether a prompt is counted: where the budget limits its tokens; and as the earlier run did, where that is repeated. */
  counts(count: CallContent, ledger: Ledger): boolean {
    if (this.#recall.knowsNoCounts) return false;
    const key = addressOfCall(count);
    if (this.#shared.get(key) !== undefined) return true;
    const next = this.#recall.take(this.#issued);
    return next === undefined ? ledger.limitsTokens : next.key === key;
  }

  /** Makes the call, or shares the one like it. */
  call(request: CallRequest): Promise<CallOutput> {
    const { stateless = request.request } = request;
    const asked = this.#recall.knowsNoStates ? { ...request, request: stateless } : request;
    const key = addressOfCall(asked);
    const there = this.#shared.get(key);
    if (there !== undefined) {
      this.places.share(there);
      return there;
    }
    const output = this.#make(key, request);
    this.#shared.share(key, output);
    this.places.offer(output);
    return output;
  }

  /**
   * Whether calls that failed in an earlier run are made again, now that the search has come to its end: those that
   * waiting may mend, or all. What nobody waits for any more has to fail first, or it would be shared as it was.
   */
  async retry(): Promise<'transient' | 'all' | undefined> {
    const { sequencer } = this.#options;
    const { isReplay } = this.#journal;
    // A replay waits for nothing that its run did not wait for.
    while (!isReplay && this.#failedBefore.size > 0 && sequencer.pending > 0) {
      await sequencer.nextRelease();
    }
    const recorded = this.#recall.takeRetry(this.#issued, this.search);
    const all = recorded?.all ?? this.#options.retryFailed === true;
    if (recorded === undefined) {
      const isDue = this.#failedBefore.has('transient') || (all && this.#failedBefore.size > 0);
      if (isReplay || !isDue || !this.#recall.isAtEnd(this.#issued)) return undefined;
      this.#journal.write({ type: 'retry', call: this.#issued, all, search: this.search });
    }
    this.#failedBefore.clear();
    this.#shared.forgetFailures(all);
    return all ? 'all' : 'transient';
  }

  /** Charges what is still under way, and writes down what it may have cost: the search is over. */
  end(): void {
    this.#underWay.end();
  }

  /** Gives up all that is under way and all that waits, and goes on: nobody needs it any more. */
  giveUp(reason: unknown): void {
    this.end();
    this.#abandon(reason);
  }

  #abandon(reason: unknown): void {
    this.places.clear(reason);
    this.#underWay.abandon(reason);
  }

  async #make(key: string, request: CallRequest): Promise<CallOutput> {
    const { isInside } = this.places;
    const { isFree = false } = request;
    if (isInside && !this.#options.sequencer.mayWait) throw insideIssued();
    const place = this.places.next(isFree);
    // What a call in flight waits for must not wait until that has given back its money.
    const waits = !isFree && !isInside;
    try {
      for (;;) {
        const reused = this.#reuse(key, request);
        if (reused !== undefined) return await reused;
        // Before anything is reserved: what waits here must not keep the budget from others.
        const turn = place.take();
        if (turn !== undefined) {
          await turn;
          continue;
        }
        const resumes = this.#resumes;
        const left = this.#recall.leftAnswer(key);
        const granted = request.ledger.reserve(request.reserve, { waits });
        const reservation = granted instanceof Promise ? await granted : granted;
        const issued = this.#issue(key, request, { reservation, left, resumes });
        if (issued !== undefined) return await issued;
      }
    } finally {
      place.give();
    }
  }

  /** What a call of an earlier run, paid for and charged, comes to; `undefined` where it is to be made. */
  #reuse(key: string, request: CallRequest): Promise<CallOutput> | undefined {
    const recall = this.#recall;
    for (;;) {
      this.#expectOpen();
      const left = recall.leftAnswer(key);
      if (left === undefined) {
        this.#expectRecorded(request);
        return undefined;
      }
      // A run that goes on has been charged for it; a replay that leaves its journal's way pays for what it asks.
      if (this.#journal.isReplay && recall.isLive) return undefined;
      if (!recall.mustResume(this.#issued, key)) return this.#answerBy(left, key, request);
      this.#resume();
    }
  }

  #expectOpen(): void {
    this.#options.signal.throwIfAborted();
    if (this.#journal.error !== undefined) throw this.#journal.error;
  }

  /** Issues a call; `undefined` where the run had to be resumed first, so that the budget is to be asked again. */
  #issue(
    key: string,
    request: CallRequest,
    asked: {
      readonly reservation: Reservation;
      readonly left: RecordedCall | undefined;
      readonly resumes: number;
    },
  ): Promise<CallOutput> | undefined {
    const recall = this.#recall;
    const { reservation, left, resumes } = asked;
    // What was charged while it waited may leave no room.
    const isStale = this.#options.signal.aborted || resumes !== this.#resumes;
    if (isStale || recall.mustResume(this.#issued, key)) {
      if (!isStale && this.#hangs()) return this.#never(reservation);
      // Before anything is given back: nobody may be granted what is spent already.
      if (!isStale) this.#resume();
      reservation.settle(nothing);
      return undefined;
    }
    const record = recall.take(this.#issued);
    const call = this.#underWay.open({ number: this.#issued++, key }, request, reservation);
    if (record !== undefined) this.#repeat(call, record);
    else if (left !== undefined) this.#answer(call, left, left.cost);
    else void this.#perform(call, this.#shared.isAbandoned(key) || recall.isOpen(key));
    return call.output;
  }

  /** Whether nothing more becomes of what the journal does not know: a recorded deadline comes next. */
  #hangs(): boolean {
    return this.#options.deadlineAhead() && !this.#recall.isResumedAt(this.#issued);
  }

  /** What was not under way when the deadline passed never came to anything. */
  #never(reservation: Reservation): Promise<CallOutput> {
    const { sequencer, signal } = this.#options;
    reservation.settle(nothing);
    const ticket = sequencer.issue();
    ticket.stall();
    return new Promise((_, reject) => {
      const leave = (): void => {
        ticket.drop();
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** A call of an earlier run, paid for and charged, answers a call of this one. */
  #answerBy(left: RecordedCall, key: string, request: CallRequest): Promise<CallOutput> {
    if (this.#recall.isLive) this.#journal.write({ type: 'reuse', call: this.#issued, key });
    // What costs nothing always fits.
    const reservation = request.ledger.reserve(nothing, { waits: false }) as Reservation;
    const call = this.#underWay.open({ number: this.#issued++, key }, request, reservation);
    this.#answer(call, left, nothing);
    return call.output;
  }

  #expectRecorded({ kind, name, reserve }: CallRequest): void {
    if (!this.#journal.isReplay || !this.#recall.isLive || this.#options.deadlineAhead()) return;
    this.#unrecorded += reserve.calls;
    const message = `The journal does not hold this ${kind} call of ${name}; a replay makes no new calls.`;
    throw new EspalierError('unrecorded', message);
  }

  /** Lets happen what the journal says became of a call. */
  #repeat(call: CallInFlight, record: RecordedCall): void {
    call.repeat(record, this.#options.sequencer.mayWait);
    if (record.reused !== undefined) this.#answer(call, record.reused, nothing);
    else if (record.isHung) call.ticket.stall();
    else this.#answer(call, record, (record.end as RecordedEnd).spend);
  }

  /** Lets the recorded outcome of a call take effect in its turn. */
  #answer(call: CallInFlight, { end, cost }: RecordedCall, spend: CallSpend): void {
    const ended = end as RecordedEnd;
    const { place, failure } = ended;
    this.#recorded += call.request.reserve.calls;
    const outcome = () => this.#recall.outcomeOf(ended, this.#journal);
    call.ended = { spend, outcome };
    const apply = (): void => {
      if (failure !== undefined && failure.interrupted !== true) {
        this.#failedBefore.add(failure.transient === true ? 'transient' : 'final');
      }
      this.#underWay.charge(call);
      this.#underWay.settle(call, outcome(), { spend: cost, replayed: true });
    };
    call.ticket.arrive(apply, { place, isLast: true });
  }

  /**
   * Leaves the recorded way: the journal ends here, or an earlier process had resumed here. What the journal says was
   * paid is charged before anything new is bought, and what was under way is asked again.
   */
  #resume(): void {
    const recall = this.#recall;
    const number = this.#issued;
    this.#resumes += 1;
    const repeated = [...this.#underWay.calls].filter(({ record }) => record !== undefined);
    const open = repeated.filter(({ account }) => !account.isSettled);
    const hung = open.filter(({ ended }) => ended === undefined);
    const recorded = recall.takeResume(number);
    const isEnd = recorded === undefined && this.#journal.isReplay;
    const { lost, charged } = isEnd
      ? noLosses
      : (recorded ??
        recall.losses(open.map(({ record }) => record?.cost ?? nothing).reduce(addSpend, nothing)));
    // First of all: nobody may be granted what is spent already.
    this.ledger?.charge(charged);
    recall.claim(charged);
    if (this.makesUpForLosses) this.ledger?.raise(lost);
    if (recorded === undefined) {
      const again = repeated.flatMap(({ record }) => record?.next ?? []);
      this.#goLive(again, { lost, charged });
    }
    const held = hung.filter(({ isHeld }) => isHeld);
    const due = hung.filter((call) => !held.includes(call));
    if (this.makesUpForLosses && !isEnd) this.#underWay.keepRoom(due);
    this.#chargeOpen(open, isEnd);
    if (recall.isLive && this.ledger !== undefined) this.ledger.isRepeating = false;
    const place = recorded === undefined ? {} : { place: recorded.place };
    for (const call of due) call.ticket.arrive(() => void this.#again(call), place);
    this.#goOn(held);
  }

  /**
   * Charges what the earlier process had under way, but for what is kept for this one. Under a pool, which has been
   * charged already, what has ended is charged in its turn, as if nobody had been killed.
   */
  #chargeOpen(open: readonly CallInFlight[], isEnd: boolean): void {
    for (const call of open) {
      if (isEnd && call.ended === undefined) call.account.settle(nothing);
      else if (!call.isHeld && !(this.makesUpForLosses && call.ended)) this.#underWay.charge(call);
    }
  }

  /**
   * Asks again for what is kept. Its reservation stands, and so decides nothing about others: it need not wait for its
   * turn. Where a process died before it had asked for all, the next one goes on at this place.
   */
  #goOn(held: readonly CallInFlight[]): void {
    const recall = this.#recall;
    const isAsked = ({ record }: CallInFlight) =>
      recall.isLive || (record !== undefined && recall.nextOf(record) !== undefined);
    const asked = held.filter(isAsked);
    for (const call of asked) {
      call.ticket.goOn();
      void this.#again(call);
    }
    if (asked.length < held.length) this.#resume();
  }

  #goLive(again: readonly RecordedCall[], losses: Losses): void {
    const { retryFailed, differsAt } = this.#recall;
    const call = this.#issued;
    this.#recall.goLive(call, again);
    this.#journal.tryToWrite({
      ...{ type: 'resume', call, ...losses, search: this.search },
      ...(retryFailed && { retryFailed }),
      ...(differsAt !== undefined && { differsAt }),
    });
  }

  /** Asks again what was under way when the journal ended. */
  async #again(call: CallInFlight): Promise<void> {
    const record = call.record as RecordedCall;
    call.record = undefined;
    try {
      while (!(await this.#askAgain(call, record)));
    } catch (error) {
      this.#underWay.drop(call, error);
    }
  }

  /** Returns whether it is settled what becomes of the call; else the run was resumed meanwhile. */
  async #askAgain(call: CallInFlight, record: RecordedCall): Promise<boolean> {
    const { key, number, request } = call;
    const recall = this.#recall;
    const left = recall.isLive ? recall.leftAnswer(key) : undefined;
    if (left !== undefined) {
      this.#journal.write({ type: 'reuse', call: number, key });
      this.#answer(call, left, nothing);
      return true;
    }
    this.#expectRecorded(request);
    const isKnown = recall.isLive || recall.nextOf(record) !== undefined;
    if (call.kept !== undefined && !isKnown) {
      // Only a resumed run knows whether its room still fits: until then, it stays kept.
      this.#resume();
      return false;
    }
    const resumes = this.#resumes;
    const { isSettled } = call.account;
    const isFree = !isSettled || recall.nextOf(record)?.reused !== undefined || !request.repeatable;
    if (!isFree && !this.#underWay.takeKept(call)) {
      await this.#underWay.reserveAgain(call, this.#options.sequencer.mayWait);
    }
    if (!this.#underWay.has(call)) return true;
    if (resumes === this.#resumes) {
      if (this.#takeUp(call, record)) return true;
      this.#resume();
    }
    if (isSettled) call.account.settle(nothing);
    return false;
  }

  /** Lets happen what is to become of a call that is made again. Returns whether that is known. */
  #takeUp(call: CallInFlight, record: RecordedCall): boolean {
    const next = this.#recall.nextOf(record);
    if (next !== undefined) this.#repeat(call, next);
    else if (this.#recall.isLive) void this.#perform(call, true);
    return next !== undefined || this.#recall.isLive;
  }

  /**
   * Makes a call.
   *
   * @param wasOpen - Whether it was broken off before: then it is made again only where it may be.
   */
  async #perform(call: CallInFlight, wasOpen: boolean): Promise<void> {
    const isLost = wasOpen && !call.request.repeatable;
    const { outcome, spend } = isLost ? this.#maker.interrupt(call) : await this.#maker.make(call);
    call.ended = { spend, outcome: () => outcome };
    const apply = (): void =>
      this.#underWay.settle(call, outcome, { spend: call.account.settle(spend), replayed: false });
    call.ticket.arrive(apply, { isLast: true });
  }
}

function insideIssued(): EspalierError {
  const message =
    "Expected an effect to make no calls where `order` is 'issued': what it asks for could not take effect before it. Take 'arrival'.";
  return new EspalierError('usage', message);
}
