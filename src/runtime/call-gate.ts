import type { Clock } from '../spec/context.ts';
import { EspalierError, ModelCallError, type ModelCallErrorKind } from '../spec/errors.ts';
import type { JsonValue } from '../spec/json.ts';
import type { FailedAttempt, ModelCall, ModelWarning } from '../spec/language-model.ts';
import { Account } from './account.ts';
import { canonicalJson, contentAddress, expectJson } from './canonical-json.ts';
import type { Journal } from './journal.ts';
import type { JournalIndex, LeftCalls, RecordedCall, RecordedEnd } from './journal-index.ts';
import type { FailureLine, IntentLine, JournalLine, ResultLine } from './journal-lines.ts';
import { addSpend, type CallSpend, type Ledger, nothing, type Reservation } from './ledger.ts';
import { noLosses, Recall } from './recall.ts';
import type { Sequencer, Ticket } from './sequencer.ts';
import { storing } from './storing.ts';

/** A call as it is asked for: what it is, what it may cost, how it is made. */
export interface CallRequest {
  readonly kind: IntentLine['kind'];
  readonly name: string;
  readonly request: JsonValue;
  /** The index of the first sample and how many there are. */
  readonly samples?: readonly [number, number];
  readonly reserve: CallSpend;
  /** Whether it may run again where its outcome was lost. */
  readonly repeatable: boolean;
  /** Whom it is charged to. */
  readonly ledger: Ledger;
  readonly run: (call: ModelCall) => Promise<{ output: JsonValue; spend: CallSpend }>;
}

/** A call that has taken effect. */
export interface CallReport {
  /** The number of the call in the order of issue; it names the call in the journal. */
  readonly callId: string;
  /** What kind of call it was. */
  readonly kind: IntentLine['kind'];
  /** The model or the effect. */
  readonly name: string;
  /** What it was charged. */
  readonly spend: CallSpend;
  /** Whether the journal answered it. */
  readonly replayed: boolean;
  /** Why it failed. */
  readonly failure: string | undefined;
}

/** The output of a call and the number that names it. */
export interface CallOutput {
  readonly callId: string;
  readonly output: JsonValue;
}

/** What a gate works with. */
export interface CallGateOptions {
  readonly sequencer: Sequencer;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Aborts every call in flight. */
  readonly signal: AbortSignal;
  readonly onCall: (report: CallReport) => void;
  /** Hears what a model does not honour. */
  readonly onWarning: (warning: ModelWarning) => void;
  /** Whether a recorded deadline is still to be replayed: what has no result then never got one. */
  readonly deadlineAhead: () => boolean;
  /** Ends the search as that deadline did. */
  readonly expire?: () => void;
  /** Whether calls that failed are made again, and not only those that waiting may mend. */
  readonly retryFailed?: boolean | undefined;
  /** The gate of the search that this one continues: its calls are shared and numbered on. */
  readonly before?: CallGate | undefined;
}

/** The content address of a call. */
export function addressOfCall(
  call: Pick<CallRequest, 'kind' | 'name' | 'request' | 'samples'>,
): string {
  const { kind, name, request, samples } = call;
  const content = samples === undefined ? [kind, name, request] : [kind, name, request, samples];
  return contentAddress(canonicalJson('request', content));
}

/** A call that was made and failed. */
class CallFailure extends Error {
  override readonly name = 'CallFailure';
  /** Whether the same request may succeed later. */
  readonly transient: boolean;

  constructor({ message, transient = false, cause }: FailedOutcome) {
    super(message, { cause });
    this.transient = transient;
  }
}

/** The call failed, and the journal says so. */
interface FailedOutcome {
  readonly message: string;
  readonly interrupted?: boolean | undefined;
  readonly transient?: boolean | undefined;
  readonly cause?: unknown;
}

type Outcome =
  | { readonly output: JsonValue }
  | FailedOutcome
  /** The run itself cannot go on: aborted, the disk is full, or the model cannot be reached. */
  | { readonly fatal: unknown };

/** A call under way. */
interface CallInFlight {
  readonly number: number;
  readonly key: string;
  readonly request: CallRequest;
  readonly ticket: Ticket;
  readonly signal: AbortSignal;
  account: Account;
  /** The call of the journal that it repeats. */
  record: RecordedCall | undefined;
  /** What it is charged for its last attempt: known before that takes effect. */
  ended: CallSpend | undefined;
  /** Lets the outcome take effect. */
  readonly settle: (outcome: Outcome, spend: CallSpend, replayed: boolean) => void;
  /** Gives it up; it is charged. */
  readonly abandon: (reason: unknown) => void;
  /** Gives it up where it was never made. */
  readonly refuse: (error: unknown) => void;
}

interface Shared {
  readonly output: Promise<CallOutput>;
  /** How it failed: for good, for now, or without anybody knowing what it has done. */
  failure?: 'final' | 'transient' | 'interrupted';
}

/**
 * The one way out of a search. Every call is addressed by its content, so that equal calls are made
 * once; reserved before it starts; written down before and after; and takes effect in its turn.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #recall: Recall;
  readonly #shared: Map<string, Shared>;
  /** What was bought by parts of calls, such as single samples, for those who ask for other parts. */
  readonly bought: Map<string, Promise<unknown>>;
  /** What all calls of this run have in common: the content address of its start. */
  run: string | undefined;
  /** The models that were called and whose price nobody knows: what they cost is not in the spend. */
  readonly unpriced: Set<string>;
  /** Whom calls are charged to that an earlier run has made and this one does not come to. */
  ledger: Ledger | undefined;
  /** Whether what a killed process had under way is to leave as much of the budget as an undisturbed one has. */
  makesUpForLosses = false;
  readonly #inFlight = new Set<CallInFlight>();
  #issued: number;
  #recorded = 0;
  /** How often this run has come to a place at which it was resumed. */
  #resumes = 0;
  #unrecorded = 0;
  #storageError: EspalierError | undefined;

  constructor(options: CallGateOptions) {
    this.#options = options;
    const { before, journal, signal, sequencer, retryFailed = false } = options;
    const goesOn = before !== undefined && before.#options.journal === journal;
    this.#recall = goesOn ? before.#recall : new Recall(journal, retryFailed);
    this.#shared = new Map(
      [...(before === undefined ? [] : before.#shared)].filter(
        ([, { failure }]) => failure !== 'transient' && !(retryFailed && failure === 'final'),
      ),
    );
    this.bought = new Map(before?.bought);
    this.#issued = before === undefined ? 0 : before.#issued;
    this.run = before?.run;
    this.unpriced = before === undefined ? new Set() : before.unpriced;
    sequencer.onStalled = () => {
      if (options.deadlineAhead()) options.expire?.();
      else this.#resume();
    };
    signal.addEventListener('abort', () => {
      for (const call of this.#inFlight) call.abandon(signal.reason);
    });
  }

  /** Calls issued so far, shared ones not counted again. */
  get issued(): number {
    return this.#issued;
  }

  /** How far the journal answered, and where it says something else than this search. */
  get coverage(): {
    readonly recorded: number;
    readonly unrecorded: number;
    readonly differsAt: number | undefined;
  } {
    const { differsAt } = this.#recall;
    return { recorded: this.#recorded, unrecorded: this.#unrecorded, differsAt };
  }

  /** Why nothing more can be written down: the search has to end. */
  get storageError(): EspalierError | undefined {
    return this.#storageError;
  }

  /** Deadlines that ended this run before. */
  get deadlines(): JournalIndex['deadlines'] {
    return this.#recall.deadlines;
  }

  /** What an earlier run has asked for, unless it is this very call: in other company, it may hold the same. */
  leftBeside(call: Parameters<typeof addressOfCall>[0]): LeftCalls | undefined {
    return this.#recall.leftBeside(() => addressOfCall(call));
  }

  /** What was asked in calls that have ended. */
  *intentsOf({ calls }: LeftCalls): Generator<IntentLine> {
    for (const { place, end } of calls) {
      if (place === undefined || end === undefined) continue;
      yield this.#using(({ lines }) => lines.at(place) as IntentLine);
    }
  }

  /** Makes the call, or shares the one like it. */
  call(request: CallRequest): Promise<CallOutput> {
    const key = addressOfCall(request);
    const there = this.#shared.get(key);
    if (there !== undefined) return there.output;
    const shared: Shared = { output: this.#make(key, request) };
    this.#shared.set(key, shared);
    shared.output.catch((error: unknown) => {
      // A call that failed has been made; one that was refused or abandoned may be asked for again.
      if (error instanceof CallFailure) shared.failure = error.transient ? 'transient' : 'final';
      else if (isInterruption(error)) shared.failure = 'interrupted';
      else this.#shared.delete(key);
    });
    return shared.output;
  }

  async #make(key: string, request: CallRequest): Promise<CallOutput> {
    const { signal } = this.#options;
    const recall = this.#recall;
    for (;;) {
      signal.throwIfAborted();
      if (this.#storageError !== undefined) throw this.#storageError;
      const left = recall.leftAnswer(key);
      // A run that goes on has been charged for it; a replay that leaves its journal's way pays for what it asks.
      if (left !== undefined && !(this.#isReplay && recall.isLive)) {
        if (!recall.mustResume(this.#issued, key)) return this.#reuse(key, request, left);
        this.#resume();
        continue;
      }
      if (left === undefined) this.#expectRecorded(request);
      const resumes = this.#resumes;
      const granted = request.ledger.reserve(request.reserve);
      const reservation = granted instanceof Promise ? await granted : granted;
      // What was charged while it waited may leave no room.
      const isStale = signal.aborted || resumes !== this.#resumes;
      if (!isStale) {
        if (!recall.mustResume(this.#issued, key)) {
          return this.#issue(key, request, { reservation, left });
        }
        if (this.#options.deadlineAhead()) return this.#never(reservation);
        // Before anything is given back: nobody may be granted what is spent already.
        this.#resume();
      }
      reservation.settle(nothing);
    }
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

  #issue(
    key: string,
    request: CallRequest,
    {
      reservation,
      left,
    }: { readonly reservation: Reservation; readonly left: RecordedCall | undefined },
  ): Promise<CallOutput> {
    const record = this.#recall.take(this.#issued);
    const { promise, call } = this.#open(key, request, reservation);
    if (record !== undefined) this.#repeat(call, record);
    else if (left !== undefined) this.#answer(call, left, left.cost);
    else void this.#perform(call, this.#recall.isOpen(key));
    return promise;
  }

  /** A call of an earlier run, paid for and charged, answers a call of this one. */
  #reuse(key: string, request: CallRequest, left: RecordedCall): Promise<CallOutput> {
    if (this.#recall.isLive) this.#write({ type: 'reuse', call: this.#issued, key });
    // What costs nothing always fits.
    const reservation = request.ledger.reserve(nothing, { waits: false }) as Reservation;
    const { promise, call } = this.#open(key, request, reservation);
    this.#answer(call, left, nothing);
    return promise;
  }

  get #isReplay(): boolean {
    return this.#options.journal.mode === 'replay';
  }

  #expectRecorded({ kind, name, reserve }: CallRequest): void {
    if (!this.#isReplay || !this.#recall.isLive || this.#options.deadlineAhead()) return;
    this.#unrecorded += reserve.calls;
    throw unrecorded(`The journal does not hold this ${kind} call of ${name}`);
  }

  /** Gives a call its number, its place in the order of issue, and the promise of its output. */
  #open(key: string, request: CallRequest, reservation: Reservation) {
    const number = this.#issued++;
    const { kind, name } = request;
    const callId = String(number);
    let resolve: (output: CallOutput) => void = () => {};
    let reject: (error: unknown) => void = () => {};
    const promise = new Promise<CallOutput>((onOutput, onError) => {
      resolve = onOutput;
      reject = onError;
    });
    const controller = new AbortController();
    const call: CallInFlight = {
      number,
      key,
      request,
      ticket: this.#options.sequencer.issue(),
      signal: controller.signal,
      account: new Account(request, reservation),
      record: undefined,
      ended: undefined,
      settle: (outcome, spend, replayed) => {
        if (!this.#inFlight.delete(call)) return;
        const failure = 'message' in outcome ? outcome.message : undefined;
        this.#options.onCall({ callId, kind, name, spend, replayed, failure });
        if ('output' in outcome) resolve({ callId, output: outcome.output });
        else if ('fatal' in outcome) reject(outcome.fatal);
        else reject(errorOf(outcome));
      },
      abandon: (reason) => {
        if (!this.#inFlight.delete(call)) return;
        this.#charge(call);
        controller.abort(reason);
        call.ticket.drop();
        reject(reason);
      },
      refuse: (error) => {
        if (!this.#inFlight.delete(call)) return;
        call.ticket.drop();
        reject(error);
      },
    };
    this.#inFlight.add(call);
    return { promise, call };
  }

  /** Lets happen what the journal says became of a call. */
  #repeat(call: CallInFlight, record: RecordedCall): void {
    call.record = record;
    const { mayWait } = this.#options.sequencer;
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
    if (record.reused !== undefined) this.#answer(call, record.reused, nothing);
    else if (record.isHung) call.ticket.stall();
    else this.#answer(call, record, (record.end as RecordedEnd).spend);
  }

  /** Lets the recorded outcome of a call take effect in its turn. */
  #answer(call: CallInFlight, { end, cost }: RecordedCall, spend: CallSpend): void {
    const { place } = end as RecordedEnd;
    this.#recorded += call.request.reserve.calls;
    call.ended = spend;
    const apply = (): void => {
      this.#charge(call);
      call.settle(this.#outcomeOf(end as RecordedEnd), cost, true);
    };
    call.ticket.arrive(apply, { place, isLast: true });
  }

  /** What a journal says of a call. */
  #outcomeOf(end: RecordedEnd): Outcome {
    const { failure } = end;
    if (failure?.unavailable === true) return { fatal: unavailable(failure.message, undefined) };
    if (failure !== undefined) return failure;
    try {
      return { output: this.#using(() => this.#recall.outputOf(end)) };
    } catch (error) {
      return { fatal: error };
    }
  }

  /** Charges a call what it has cost or, where nobody knows, what it may have: once. */
  #charge({ account, ended, record }: CallInFlight): CallSpend {
    if (account.isSettled || record === undefined || record.reused !== undefined) {
      return account.settle(ended);
    }
    this.#recall.claim(record.cost);
    // As the journal says: it knows attempts whose turn has not come, and grants that were never used.
    return account.settle(record.lastCost, record.attemptsCost);
  }

  /** Charges what is still under way, and writes down what it may have cost: the search is over. */
  end(): void {
    for (const call of this.#inFlight) {
      const { number, key, account, ended, record } = call;
      const isWritten = ended !== undefined || account.isSettled || record?.isCounted === true;
      this.#charge(call);
      if (isWritten) continue;
      const { covered: spend } = record ?? account;
      const message = 'The search ended while the call was under way.';
      this.#tryToWrite({ type: 'failure', call: number, key, spend, message, abandoned: true });
    }
  }

  /**
   * Leaves the recorded way: the journal ends here, or an earlier process had resumed here. What the journal says was
   * paid is charged before anything new is bought, and what was under way is asked again.
   */
  #resume(): void {
    const recall = this.#recall;
    const number = this.#issued;
    this.#resumes += 1;
    const repeated = [...this.#inFlight].filter(({ record }) => record !== undefined);
    const open = repeated.filter(({ account }) => !account.isSettled);
    const hung = open.filter(({ ended }) => ended === undefined);
    const recorded = recall.takeResume(number);
    const isEnd = recorded === undefined && this.#isReplay;
    const { lost, charged } = isEnd ? noLosses : (recorded ?? recall.losses(costOf(open)));
    // First of all: nobody may be granted what is spent already.
    this.ledger?.charge(charged);
    recall.claim(charged);
    if (this.makesUpForLosses) this.ledger?.raise(lost);
    if (recorded === undefined) {
      const { retryFailed } = recall;
      recall.goLive(
        number,
        repeated.flatMap(({ record }) => record?.next ?? []),
      );
      this.#tryToWrite({
        type: 'resume',
        call: number,
        lost,
        charged,
        ...(retryFailed && { retryFailed }),
      });
    }
    for (const call of open) {
      if (isEnd && call.ended === undefined) call.account.settle(nothing);
      else this.#charge(call);
    }
    const place = recorded === undefined ? {} : { place: recorded.place };
    for (const call of hung) call.ticket.arrive(() => void this.#again(call), place);
  }

  /** Asks again what was under way when the journal ended. */
  async #again(call: CallInFlight): Promise<void> {
    const { key, number, request, record } = call;
    const recall = this.#recall;
    const next = () => (record === undefined ? undefined : recall.nextOf(record));
    call.record = undefined;
    try {
      for (;;) {
        if (recall.isLive) {
          const left = recall.leftAnswer(key);
          if (left !== undefined) {
            this.#write({ type: 'reuse', call: number, key });
            return this.#answer(call, left, nothing);
          }
          this.#expectRecorded(request);
        }
        const resumes = this.#resumes;
        if (next()?.reused === undefined && request.repeatable) await this.#reserveAgain(call);
        if (!this.#inFlight.has(call)) return;
        const again = next();
        if (resumes === this.#resumes) {
          if (again !== undefined) return this.#repeat(call, again);
          if (recall.isLive) return void this.#perform(call, !request.repeatable);
          this.#resume();
        }
        call.account.settle(nothing);
      }
    } catch (error) {
      call.refuse(error);
    }
  }

  async #reserveAgain(call: CallInFlight): Promise<void> {
    const { ledger, reserve } = call.request;
    const { mayWait } = this.#options.sequencer;
    const account = new Account(call.request, await ledger.reserve(reserve, { waits: mayWait }));
    // Abandoned meanwhile, it has been charged.
    if (this.#inFlight.has(call)) call.account = account;
    else account.settle(nothing);
  }

  /**
   * Makes a call.
   *
   * @param interrupted - Whether a process died in the middle of it, so that one that is not repeatable may not be made.
   */
  async #perform(call: CallInFlight, interrupted: boolean): Promise<void> {
    const { ticket } = call;
    const { outcome, spend } = await this.#made(call, interrupted && !call.request.repeatable);
    call.ended = spend;
    const apply = (): void => call.settle(outcome, call.account.settle(spend), false);
    ticket.arrive(apply, { isLast: true });
  }

  async #made(
    call: CallInFlight,
    isLost: boolean,
  ): Promise<{ outcome: Outcome; spend: CallSpend }> {
    const { number, key, request, account, signal } = call;
    const { kind, name, samples, reserve: reserved } = request;
    const line = { call: number, key } as const;
    if (isLost) {
      const message = `${name} was under way when the process died, and its outcome is unknown.`;
      return this.#settled({
        type: 'failure',
        ...line,
        spend: nothing,
        message,
        interrupted: true,
      });
    }
    const asked = { kind, name, reserved, request: request.request };
    try {
      this.#write({
        type: 'intent',
        ...line,
        ...asked,
        ...(samples !== undefined && { samples: [...samples] }),
      });
    } catch (error) {
      return { outcome: { fatal: error }, spend: nothing };
    }
    try {
      const { output, spend } = await request.run(this.#modelCall(call));
      expectJson(`result of ${name}`, output);
      return this.#settled({ type: 'result', ...line, spend: account.answered(spend), output });
    } catch (error) {
      // An aborted call leaves its intent open: whether it was paid for, nobody knows.
      if (signal.aborted) return { outcome: { fatal: signal.reason }, spend: reserved };
      return this.#failed(call, error);
    }
  }

  /** What a model is given beside its request. */
  #modelCall(call: CallInFlight): ModelCall {
    const { number, key, account, signal } = call;
    const { clock, onWarning } = this.#options;
    const ask = async (spend: CallSpend, message: string): Promise<void> => {
      signal.throwIfAborted();
      this.#write({ type: 'attempt', call: number, key, spend, asks: true, message });
      const reserved = await this.#holdInTurn(call);
      signal.throwIfAborted();
      this.#write({ type: 'grant', call: number, key, reserved });
    };
    return {
      signal,
      clock,
      ...(this.run !== undefined && { run: this.run }),
      warn: onWarning,
      retry: async ({ message, charged }: FailedAttempt) => {
        const spend = account.chargeOf(charged);
        if (spend === nothing) {
          return this.#write({ type: 'attempt', call: number, key, spend, message });
        }
        account.fail(spend);
        await ask(spend, message);
      },
      further: async (message) => {
        account.extend();
        await ask(nothing, message);
      },
    };
  }

  /** Sets aside what another request may cost. That has its turn, as results have: what others are granted depends on it. */
  #holdInTurn({ account, signal, ticket }: CallInFlight): Promise<CallSpend> {
    const { mayWait } = this.#options.sequencer;
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      ticket.arrive(() => void account.hold(mayWait).then(resolve, reject));
    });
  }

  #failed(call: CallInFlight, error: unknown): { outcome: Outcome; spend: CallSpend } {
    const { number, key, account } = call;
    const message = error instanceof Error ? error.message : String(error);
    const line = {
      type: 'failure',
      call: number,
      key,
      spend: account.failed(error),
      message,
    } as const;
    if (!isUnavailable(error)) {
      return this.#settled({ ...line, ...(isTransient(error) && { transient: true }) }, error);
    }
    const { spend } = this.#settled({ ...line, unavailable: true });
    return { outcome: { fatal: unavailable(message, error) }, spend };
  }

  /** Writes an outcome down. One that cannot be written is not used: a run that goes on would not know of it. */
  #settled(
    line: ResultLine | FailureLine,
    cause?: unknown,
  ): { outcome: Outcome; spend: CallSpend } {
    const { spend } = line;
    try {
      this.#write(line);
    } catch (error) {
      return { outcome: { fatal: error }, spend };
    }
    return {
      outcome: line.type === 'result' ? { output: line.output } : { ...line, cause },
      spend,
    };
  }

  #write(line: JournalLine): void {
    if (!this.#options.signal.aborted) this.#using((journal) => journal.append(line));
  }

  /** @throws EspalierError `storage`, remembered: the search has to end. */
  #using<Value>(use: (journal: Journal) => Value): Value {
    try {
      return storing('The journal', () => use(this.#options.journal));
    } catch (error) {
      this.#storageError ??= error as EspalierError;
      throw error;
    }
  }

  #tryToWrite(line: JournalLine): void {
    try {
      this.#write(line);
    } catch {
      // Remembered: no call is made any more.
    }
  }
}

/** Whether no other call of the model can succeed either. */
export function isUnavailable(error: unknown): boolean {
  if (ModelCallError.isInstance(error)) return ['auth', 'credit'].includes(error.kind);
  return EspalierError.isInstance(error) && error.code === 'unavailable';
}

const passing: readonly ModelCallErrorKind[] = ['network', 'overloaded', 'rate-limit', 'timeout'];

/** Whether a call may succeed another time: the server was not to be had, or the budget held no other attempt. */
function isTransient(error: unknown): boolean {
  if (ModelCallError.isInstance(error)) return passing.includes(error.kind);
  return EspalierError.isInstance(error) && error.code === 'budget';
}

function isInterruption(error: unknown): boolean {
  return EspalierError.isInstance(error) && error.code === 'interrupted';
}

function costOf(calls: readonly CallInFlight[]): CallSpend {
  return calls.reduce((sum, { record }) => addSpend(sum, record?.cost ?? nothing), nothing);
}

function errorOf(failed: FailedOutcome): Error {
  if (failed.interrupted === true) return new EspalierError('interrupted', failed.message);
  return new CallFailure(failed);
}

function unavailable(message: string, cause: unknown): EspalierError {
  return new EspalierError('unavailable', message, { cause });
}

function unrecorded(what: string): EspalierError {
  return new EspalierError('unrecorded', `${what}; a replay makes no new calls.`);
}
