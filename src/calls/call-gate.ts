import { EspalierError } from '../base/errors.ts';
import type { CallGateParts } from './call-gate-parts.ts';
import type { CallInFlight, CallOutput } from './call-in-flight.ts';
import { CallMaker } from './call-maker.ts';
import { addressOfCall, type CallContent, type CallRequest } from './call-request.ts';
import { addSpend, type CallSpend, nothing } from './call-spend.ts';
import { CallsUnderWay } from './calls-under-way.ts';
import type { LeftCalls, RecordedCall, RecordedEnd } from './journal-index.ts';
import type { LineOf } from './journal-lines.ts';
import { JournalUse } from './journal-use.ts';
import type { Ledger, Reservation } from './ledger.ts';
import { insideIssued, Places } from './places.ts';
import { type Losses, noLosses, Recall } from './recall.ts';
import { SharedCalls } from './shared-calls.ts';
import { UsageByRole } from './usage-by-role.ts';

/** The options of a gate. */
export interface CallGateOptions extends CallGateParts {
  /** The gate of the search that this one continues: its calls are shared, and numbering continues. */
  readonly before?: CallGate | undefined;
}

/**
 * The only way out of a search. Every call is addressed by its content, so that equal calls are made once; it is
 * reserved before it starts, recorded before and after, and takes effect in its turn.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #recall: Recall;
  readonly #maker: CallMaker;
  readonly #journal: JournalUse;
  readonly #shared: SharedCalls;
  /** Paid parts of calls, such as single samples, for requests that contain other parts too. */
  readonly bought: Map<string, Promise<unknown>>;
  /** Models that were called without a known price: their cost is not in the spend. */
  readonly unpriced: Set<string>;
  /** Usage of models, by role. */
  readonly usage: UsageByRole;
  /** The ledger that is charged for calls of an earlier run that this one does not reach. */
  ledger: Ledger | undefined;
  /** The content address of the start, common to all calls of this run. */
  run: string | undefined;
  /** Whether calls wait in batches, in this run or in the one that it repeats. If so, no sample waits for another. */
  readonly waitsInBatches: boolean;
  /**
   * Whether losses of a killed process are made up for, so that the search has as much budget left as an undisturbed
   * one.
   */
  makesUpForLosses = false;
  /** How often a result was resumed on this journal before this search. */
  readonly search: number;
  readonly #underWay: CallsUnderWay;
  /** The limit on calls in flight, and the calls that wait. */
  readonly places: Places;
  #issued: number;
  /** The number of places passed at which the run was resumed. */
  #resumes = 0;
  #recorded = 0;
  #unrecorded = 0;
  /** The kinds of recorded failures that this run has repeated. */
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
      mayWait: () => sequencer.mayWait && !this.places.isInside,
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

  /** The number of calls issued so far; shared calls count once, and those of effects only for work inside one. */
  get issued(): number {
    return this.#issued - this.#underWay.innerOutside(this.places);
  }

  /** How much the journal answered, and where the search diverges from it. */
  get coverage(): Readonly<Record<'recorded' | 'unrecorded', number>> & {
    readonly differsAt: number | undefined;
  } {
    const { differsAt } = this.#recall;
    return { recorded: this.#recorded, unrecorded: this.#unrecorded, differsAt };
  }

  /** The storage error that must end the search. */
  get storageError(): EspalierError | undefined {
    return this.#journal.error;
  }

  /** Whether calls are new, because the journal has been repeated to its end. */
  get isLive(): boolean {
    return this.#recall.isLive;
  }

  /** The maximum cost of all calls in the journal. */
  get owed(): CallSpend {
    return this.#recall.total;
  }

  /** The recorded deadline that ended this search. */
  get deadline(): LineOf<'deadline'> | undefined {
    return this.#recall.deadlines.get(this.search);
  }

  /** The calls of an earlier run that may contain parts of this call; `undefined` if the journal has this very call. */
  leftBeside(call: CallContent): LeftCalls | undefined {
    return this.#recall.leftBeside(() => addressOfCall(call));
  }

  /** The intents of calls that have ended. */
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

  /** Makes the call, or shares an equal one. */
  call(request: CallRequest): Promise<CallOutput> {
    const { stateless = request.request } = request;
    const asked = this.#recall.knowsNoStates ? { ...request, request: stateless } : request;
    const key = addressOfCall(asked);
    const there = this.#shared.get(key);
    if (there !== undefined) {
      this.#underWay.adopt(key, request);
      this.places.share(there);
      return there;
    }
    const output = this.#make(key, request);
    this.#shared.share(key, output);
    this.places.offer(output);
    return output;
  }

  /**
   * Decides, at the end of the search, whether failed calls of an earlier run are repeated: those with a transient
   * failure, or all. Calls in flight must end first, because otherwise their failures would be shared.
   */
  async retry(): Promise<'transient' | 'all' | undefined> {
    const { sequencer, retryFailed = false } = this.#options;
    const { isReplay } = this.#journal;
    const failed = this.#failedBefore;
    const isDue = () => failed.has('transient') || (retryFailed && failed.size > 0);
    const isRetried = () => this.#recall.isRetriedAt(this.#issued, this.search);
    const mayRetry = () => isDue() || isRetried();
    // Otherwise it does not wait, because calls that the earlier run left in flight would then be made. Nor does a replay
    // wait for those.
    while (!isReplay && mayRetry() && sequencer.pending > 0) await sequencer.nextRelease();
    if (isReplay ? isRetried() : mayRetry()) await this.#underWay.rest();
    const recorded = this.#recall.takeRetry(this.#issued, this.search);
    const all = recorded?.all ?? retryFailed;
    if (recorded === undefined) {
      if (isReplay || !isDue() || !this.#recall.isAtEnd(this.#issued)) return undefined;
      this.#journal.write({ type: 'retry', call: this.#issued, all, search: this.search });
    }
    failed.clear();
    this.#shared.forgetFailures(all);
    return all ? 'all' : 'transient';
  }

  /** Makes no further call, and resolves when those in flight have taken effect, because they are paid for. */
  rest(reason: unknown): Promise<void> {
    this.places.clear(reason);
    return this.#underWay.rest();
  }

  /** Charges the calls in flight and records what they may have cost, because the search is over. */
  end(): void {
    this.#underWay.end();
  }

  /** Gives up all calls that are in flight or waiting; the gate stays usable. */
  giveUp(reason: unknown): void {
    this.end();
    this.#abandon(reason);
  }

  #abandon(reason: unknown): void {
    this.places.clear(reason);
    this.#underWay.abandon(reason);
  }

  async #make(key: string, request: CallRequest): Promise<CallOutput> {
    if (this.places.isInside && !this.#options.sequencer.mayWait) throw insideIssued();
    const place = this.places.next(request.isFree === true);
    try {
      for (let isAgain = false; ; isAgain = true) {
        const reused = this.#reuse(key, request);
        if (reused !== undefined) return await reused;
        // Before anything is reserved: a waiting call must not hold budget.
        const turn = place.take();
        if (turn !== undefined) {
          await turn;
          continue;
        }
        const resumes = this.#resumes;
        const left = this.#recall.leftAnswer(key);
        const granted = this.#underWay.reserve(request, { inside: this.places.inside, isAgain });
        const reservation = granted instanceof Promise ? await granted : granted;
        const issued = this.#issue(key, request, { reservation, left, resumes });
        if (issued !== undefined) return await issued;
      }
    } finally {
      place.give();
    }
  }

  /** The result of an equal, already charged call of an earlier run; `undefined` if the call must be made. */
  #reuse(key: string, request: CallRequest): Promise<CallOutput> | undefined {
    const recall = this.#recall;
    for (;;) {
      this.#options.signal.throwIfAborted();
      if (this.#journal.error !== undefined) throw this.#journal.error;
      const left = recall.leftAnswer(key);
      if (left === undefined) {
        this.#expectRecorded(request);
        return undefined;
      }
      // A resumed run has been charged for it; a replay that diverges from its journal pays for what it requests.
      if (this.#journal.isReplay && recall.isLive) return undefined;
      if (!recall.mustResume(this.#issued, key)) return this.#answerBy(left, key, request);
      this.#resume();
    }
  }

  /** Issues a call; `undefined` if the run had to be resumed first, so that the budget must be asked again. */
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
    // Charges made while it waited may leave no room.
    const isStale = this.#options.signal.aborted || resumes !== this.#resumes;
    if (isStale || recall.mustResume(this.#issued, key)) {
      if (!isStale && this.#hangs()) return this.#never(reservation);
      // Before anything is given back, so that nobody is granted what is already spent.
      if (!isStale) this.#resume();
      reservation.settle(nothing);
      return undefined;
    }
    const record = recall.take(this.#issued);
    const call = this.#open(key, request, reservation);
    if (record !== undefined) this.#repeat(call, record);
    else if (left !== undefined) this.#answer(call, left, left.cost);
    else void this.#perform(call, this.#shared.isAbandoned(key) || recall.isOpen(key));
    this.#repeatInner();
    return call.output;
  }

  #open(key: string, request: CallRequest, reservation: Reservation): CallInFlight {
    const asked = { number: this.#issued++, key, inside: this.places.inside };
    return this.#underWay.open(asked, request, reservation);
  }

  /** Repeats the calls that come next in the record because effects requested them. */
  #repeatInner(): void {
    const { ledger } = this;
    const inner = this.#recall.takeInner(this.#issued);
    if (inner === undefined || ledger === undefined) return;
    const call = this.#underWay.openInner(this.#issued++, inner, ledger);
    this.places.offer(call.output);
    this.#repeat(call, inner.record);
    this.#repeatInner();
  }

  /** Whether calls unknown to the journal never end, because a recorded deadline comes next. */
  #hangs(): boolean {
    return this.#options.deadlineAhead() && !this.#recall.isResumedAt(this.#issued);
  }

  /** A call that was not in flight when the deadline passed never ended. */
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

  /** Answers a call with an already charged call of an earlier run. */
  #answerBy(left: RecordedCall, key: string, request: CallRequest): Promise<CallOutput> {
    const line = { type: 'reuse', call: this.#issued, key, inside: this.places.inside } as const;
    if (this.#recall.isLive) this.#journal.write(line);
    // A reservation of nothing always fits.
    const reservation = request.ledger.reserve(nothing, { waits: false }) as Reservation;
    const call = this.#open(key, request, reservation);
    this.#answer(call, left, nothing);
    this.#repeatInner();
    return call.output;
  }

  #expectRecorded({ kind, name, reserve }: CallRequest): void {
    if (!this.#journal.isReplay || !this.#recall.isLive || this.#options.deadlineAhead()) return;
    this.#unrecorded += reserve.calls;
    const message = `The journal does not contain this ${kind} call of ${name}; a replay makes no new calls.`;
    throw new EspalierError('unrecorded', message);
  }

  /** Repeats the recorded outcome of a call. */
  #repeat(call: CallInFlight, record: RecordedCall): void {
    call.repeat(record, this.#options.sequencer.mayWait);
    if (record.reused !== undefined) this.#answer(call, record.reused, nothing);
    else if (this.#recall.isHung(record)) call.ticket.stall();
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
      if (failure !== undefined && failure.interrupted !== true && !call.isInner) {
        this.#failedBefore.add(failure.transient === true ? 'transient' : 'final');
      }
      this.#underWay.charge(call);
      this.#underWay.settle(call, outcome(), { spend: cost, replayed: true });
    };
    call.ticket.arrive(apply, { place, isLast: true });
  }

  /**
   * Stops following the record: the journal ends here, or an earlier process resumed here. Everything paid according to
   * the journal is charged before new calls are paid for, and calls that were in flight are repeated.
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
    // First, so that nobody is granted what is already spent.
    this.ledger?.charge(charged);
    recall.claim(charged);
    if (this.makesUpForLosses) this.ledger?.raise(lost);
    if (recorded === undefined) {
      const again = repeated.flatMap(({ record }) => record?.next ?? []);
      this.#goLive(again, { lost, charged });
    }
    const held = hung.filter(({ isHeld }) => isHeld);
    const due = hung.filter(({ isHeld, isInner }) => !isHeld && !isInner);
    if (this.makesUpForLosses && !isEnd) this.#underWay.keepRoom(due);
    this.#chargeOpen(open, isEnd);
    this.#underWay.leave(hung.filter(({ isInner }) => isInner));
    if (recall.isLive && this.ledger !== undefined) this.ledger.isRepeating = false;
    const place = recorded === undefined ? {} : { place: recorded.place };
    for (const call of due) call.ticket.arrive(() => void this.#again(call), place);
    this.#goOn(held);
    this.#repeatInner();
  }

  /**
   * Charges the calls that the earlier process had in flight, except those kept for this one. Under a pool, which has
   * been charged already, a call that has ended is charged in its turn, as if no process had been killed.
   */
  #chargeOpen(open: readonly CallInFlight[], isEnd: boolean): void {
    for (const call of open) {
      if (isEnd && call.ended === undefined) call.account.settle(nothing);
      else if (!call.isHeld && !(this.makesUpForLosses && call.ended)) this.#underWay.charge(call);
    }
  }

  /**
   * Repeats the kept calls. They keep their reservations and so do not affect other calls, which is why they need not
   * wait for their turn. If a process died before it had repeated them all, the next one continues at this place.
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

  /** Repeats a call that was in flight when the journal ended. */
  async #again(call: CallInFlight): Promise<void> {
    const record = call.record as RecordedCall;
    call.record = undefined;
    try {
      while (!(await this.#askAgain(call, record)));
    } catch (error) {
      this.#underWay.drop(call, error);
    }
  }

  /** Returns whether the call is settled; if not, the run was resumed in the meantime. */
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
      request.onWait?.();
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
   * @param wasOpen - Whether it was interrupted before; if so, it is repeated only if it is repeatable.
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
