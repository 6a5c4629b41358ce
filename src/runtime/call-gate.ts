import type { Clock } from '../spec/context.ts';
import { EspalierError, ModelCallError } from '../spec/errors.ts';
import type { JsonValue } from '../spec/json.ts';
import type { FailedAttempt, ModelCall, ModelWarning } from '../spec/language-model.ts';
import { canonicalJson, contentAddress, expectJson } from './canonical-json.ts';
import { CallFailure, type FailedOutcome, isTransient } from './failure.ts';
import {
  type FailureLine,
  type IntentLine,
  indexJournal,
  type Journal,
  type JournalIndex,
  type JournalLine,
  type RecordedCall,
  type ResultLine,
} from './journal.ts';
import { addSpend, type CallSpend, type Ledger, nothing, type Reservation } from './ledger.ts';
import type { Sequencer } from './sequencer.ts';

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
  /**
   * Whether a recorded deadline is still to be replayed. A call that has no result then never got one: it
   * hangs until that deadline.
   */
  readonly deadlineAhead: () => boolean;
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

type Outcome =
  | { readonly output: JsonValue }
  | FailedOutcome
  /** The run itself cannot go on: aborted, the disk is full, or the model cannot be reached. */
  | { readonly fatal: unknown };

/**
 * The one way out of a search. Every call is addressed by its content, so that equal calls are made
 * once; reserved before it starts; written down before and after; and takes effect in its turn.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #index: JournalIndex;
  readonly #shared: Map<string, Promise<CallOutput>>;
  /** What all calls of this run have in common: the content address of its start. */
  run: string | undefined;
  /** The models that were called and whose price nobody knows: what they cost is not in the spend. */
  readonly unpriced: Set<string>;
  /** Recorded calls that have not taken effect, and what each has set aside. */
  readonly #underway = new Map<RecordedCall, CallSpend>();
  /** How to abandon each call in flight. */
  readonly #inFlight = new Set<(reason: unknown) => void>();
  #issued: number;
  #recorded = 0;
  #unrecorded = 0;
  #storageError: EspalierError | undefined;

  constructor(options: CallGateOptions) {
    this.#options = options;
    const { before, journal, signal } = options;
    this.#index = indexJournal(journal.lines, journal.mode);
    this.#shared = new Map(before === undefined ? [] : before.#shared);
    this.#issued = before === undefined ? 0 : before.#issued;
    this.run = before?.run;
    this.unpriced = before === undefined ? new Set() : before.unpriced;
    signal.addEventListener('abort', () => {
      for (const abandon of this.#inFlight) abandon(signal.reason);
    });
  }

  /** Calls issued so far, shared ones not counted again. */
  get issued(): number {
    return this.#issued;
  }

  /** How many calls the journal answered, and how many a replay could not. */
  get coverage(): { readonly recorded: number; readonly unrecorded: number } {
    return { recorded: this.#recorded, unrecorded: this.#unrecorded };
  }

  /** Why nothing more can be written down: the search has to end. */
  get storageError(): EspalierError | undefined {
    return this.#storageError;
  }

  /** What earlier processes reserved without writing down a result: it may have been paid for. */
  get lost(): CallSpend {
    return this.#index.lost;
  }

  /** Deadlines that ended this run before. */
  get deadlines(): JournalIndex['deadlines'] {
    return this.#index.deadlines;
  }

  /** The finished calls that the journal holds. */
  recordedCalls(): Iterable<RecordedCall> {
    return this.#index.calls.values();
  }

  /** Makes the call, or shares the one like it. */
  call(request: CallRequest): Promise<CallOutput> {
    const key = addressOfCall(request);
    const shared = this.#shared.get(key);
    if (shared !== undefined) return shared;
    const made = this.#make(key, request);
    this.#shared.set(key, made);
    made.catch((error: unknown) => {
      // A call that failed has been made; one that was refused or abandoned may be asked for again.
      if (!isOutcome(error)) this.#shared.delete(key);
    });
    return made;
  }

  async #make(key: string, request: CallRequest): Promise<CallOutput> {
    const { sequencer, deadlineAhead } = this.#options;
    this.#options.signal.throwIfAborted();
    if (this.#storageError !== undefined) throw this.#storageError;
    const recorded = this.#index.calls.get(key);
    const interrupted = recorded === undefined && !request.repeatable && this.#index.open.has(key);
    const granted = request.ledger.reserve(request.reserve);
    let reservation = granted instanceof Promise ? await granted : granted;
    if (recorded === undefined && !this.#leavesRoom(request)) {
      reservation = await this.#besideRecorded(request, reservation);
    }
    try {
      // An abort may itself have set free what this call waited for.
      this.#options.signal.throwIfAborted();
      // Asked only now: a call that the recorded budget refused is not in the journal either.
      this.#expectRecorded(recorded, request);
    } catch (error) {
      reservation.settle(nothing);
      throw error;
    }
    const call = this.#issued++;
    const account = new Account(request, reservation);
    const { promise, apply, signal } = this.#pending(call, request, account);
    if (recorded === undefined && deadlineAhead()) return promise;
    const arrive = sequencer.issue(recorded?.place);
    if (recorded !== undefined) {
      this.#recorded += request.reserve.calls;
      account.recall(recorded);
      this.#underway.set(recorded, request.reserve);
      arrive(() => {
        this.#underway.delete(recorded);
        apply(outcomeOf(recorded), recorded.spend, true);
      });
    } else {
      const attempt = { call, key, request, account, interrupted, signal };
      void this.#perform(attempt).then(({ outcome, spend }) =>
        arrive(() => apply(outcome, spend, false)),
      );
    }
    return promise;
  }

  /**
   * A new call leaves room for what recorded ones under way will be charged beyond what they hold: the run that
   * made them had set it aside. Where it does not fit, it waits for them.
   */
  async #besideRecorded(request: CallRequest, granted: Reservation): Promise<Reservation> {
    const { sequencer, signal } = this.#options;
    let reservation = granted;
    while (!this.#leavesRoom(request)) {
      reservation.settle(nothing);
      await sequencer.nextRelease();
      signal.throwIfAborted();
      reservation = await request.ledger.reserve(request.reserve);
    }
    return reservation;
  }

  #leavesRoom({ ledger }: CallRequest): boolean {
    if (this.#underway.size === 0) return true;
    const { remaining } = ledger;
    let [tokens, usd] = [0, 0];
    for (const [{ attempts, spend }, held] of this.#underway) {
      tokens += Math.max(0, attempts.tokens + spend.tokens - held.tokens);
      usd += Math.max(0, attempts.usd + spend.usd - held.usd);
    }
    return tokens <= remaining.tokens && usd <= remaining.usd;
  }

  #expectRecorded(recorded: RecordedCall | undefined, { kind, name, reserve }: CallRequest): void {
    const { journal, deadlineAhead } = this.#options;
    if (recorded !== undefined || journal.mode === 'record' || deadlineAhead()) return;
    this.#unrecorded += reserve.calls;
    throw new EspalierError(
      'unrecorded',
      `The journal does not hold this ${kind} call of ${name}; a replay makes no new calls.`,
    );
  }

  /** The promise of a call, the function by which its outcome takes effect, and its own signal. */
  #pending(call: number, { kind, name }: CallRequest, account: Account) {
    let resolve: (output: CallOutput) => void = () => {};
    let reject: (error: unknown) => void = () => {};
    const promise = new Promise<CallOutput>((onOutput, onError) => {
      resolve = onOutput;
      reject = onError;
    });
    const controller = new AbortController();
    const abandon = (reason: unknown) => {
      this.#inFlight.delete(abandon);
      account.settle();
      controller.abort(reason);
      reject(reason);
    };
    this.#inFlight.add(abandon);
    const callId = String(call);

    const apply = (outcome: Outcome, last: CallSpend, replayed: boolean): void => {
      if (!this.#inFlight.delete(abandon)) return;
      const spend = account.settle(last);
      const failure = 'message' in outcome ? outcome.message : undefined;
      this.#options.onCall({ callId, kind, name, spend, replayed, failure });
      if ('output' in outcome) resolve({ callId, output: outcome.output });
      else if ('fatal' in outcome) reject(outcome.fatal);
      else if (outcome.interrupted === true) {
        reject(new EspalierError('interrupted', outcome.message));
      } else reject(new CallFailure(outcome));
    };
    return { promise, apply, signal: controller.signal };
  }

  async #perform(attempt: Attempt): Promise<{ outcome: Outcome; spend: CallSpend }> {
    const { call, key, request, account, signal } = attempt;
    const { kind, name, samples, reserve: reserved } = request;
    try {
      if (attempt.interrupted) {
        const message = `${name} was under way when the process died, and its outcome is unknown.`;
        const failure = { message, interrupted: true } as const;
        this.#write({ type: 'failure', call, key, spend: nothing, ...failure });
        return { outcome: failure, spend: nothing };
      }
      this.#write({
        type: 'intent',
        call,
        key,
        kind,
        name,
        reserved,
        request: request.request,
        ...(samples !== undefined && { samples: [...samples] }),
      });
    } catch (error) {
      return { outcome: { fatal: error }, spend: nothing };
    }
    let line: { readonly output: JsonValue; readonly spend: CallSpend };
    try {
      line = await request.run(this.#modelCall(attempt));
      expectJson(`result of ${name}`, line.output);
    } catch (error) {
      // An aborted call leaves its intent open: whether it was paid for, nobody knows.
      if (signal.aborted) return { outcome: { fatal: signal.reason }, spend: reserved };
      return this.#failed(attempt, error);
    }
    const spend = account.answered(line.spend);
    return this.#settled({ type: 'result', call, key, spend, output: line.output });
  }

  /** What a model is given beside its request. */
  #modelCall({ call, key, account, signal }: Attempt): ModelCall {
    const { clock, onWarning } = this.#options;
    return {
      signal,
      clock,
      ...(this.run !== undefined && { run: this.run }),
      warn: onWarning,
      retry: async (failed) => {
        const spend = await account.retry(failed);
        signal.throwIfAborted();
        this.#write({ type: 'attempt', call, key, spend, message: failed.message });
      },
      further: async (message) => {
        const reserved = await account.further();
        signal.throwIfAborted();
        this.#write({ type: 'attempt', call, key, spend: nothing, reserved, message });
      },
    };
  }

  #failed(attempt: Attempt, error: unknown): { outcome: Outcome; spend: CallSpend } {
    const { call, key, account } = attempt;
    const message = error instanceof Error ? error.message : String(error);
    const spend = account.failed(error);
    const transient = isTransient(error) && { transient: true };
    const line: FailureLine = { type: 'failure', call, key, spend, message, ...transient };
    if (!isUnavailable(error)) return this.#settled(line, error);
    this.#settled({ ...line, unavailable: true });
    return { outcome: { fatal: unavailable(message, error) }, spend };
  }

  /** Writes an outcome down. One that cannot be written is still used: it has been paid for. */
  #settled(
    line: ResultLine | FailureLine,
    cause?: unknown,
  ): { outcome: Outcome; spend: CallSpend } {
    try {
      this.#write(line);
    } catch {
      // Remembered by #write: the search ends with what it has.
    }
    const outcome =
      line.type === 'result'
        ? { output: line.output }
        : { message: line.message, transient: line.transient, cause };
    return { outcome, spend: line.spend };
  }

  #write(line: JournalLine): void {
    if (this.#options.signal.aborted) return;
    try {
      this.#options.journal.append(line);
    } catch (error) {
      if (EspalierError.isInstance(error)) this.#storageError ??= error;
      throw error;
    }
  }
}

/** A call on its way. */
interface Attempt {
  readonly call: number;
  readonly key: string;
  readonly request: CallRequest;
  readonly account: Account;
  /** Whether a process died in the middle of it, so that it may not be made again. */
  readonly interrupted: boolean;
  readonly signal: AbortSignal;
}

/** What one call has set aside: its worst case, once for each request that may have been paid for. */
class Account {
  readonly #request: CallRequest;
  readonly #held: Reservation[];
  /** What earlier attempts are charged. */
  #attempts: CallSpend = nothing;
  /** What was set aside for the attempt under way. */
  #covered: CallSpend;
  /** Whether requests of the attempt under way count as paid for, whatever becomes of it. */
  #isPaid = false;
  #isSettled = false;

  constructor(request: CallRequest, reservation: Reservation) {
    this.#request = request;
    this.#held = [reservation];
    this.#covered = request.reserve;
  }

  /** Sets aside the worst case of another attempt. Returns what the failed one is charged. */
  async retry({ charged }: FailedAttempt): Promise<CallSpend> {
    if (!charged && !this.#isPaid) return nothing;
    await this.#hold();
    const failed = { ...this.#covered, calls: 0 };
    this.#attempts = addSpend(this.#attempts, failed);
    this.#covered = this.#request.reserve;
    this.#isPaid = false;
    return failed;
  }

  /** Sets aside the worst case of a further request, whose use counts with that of the others. */
  async further(): Promise<CallSpend> {
    const reserved = await this.#hold();
    this.#covered = addSpend(this.#covered, reserved);
    return reserved;
  }

  /** Takes over what a recorded call needed beyond its first request. */
  recall({ attempts, further }: RecordedCall): void {
    this.#attempts = attempts;
    this.#covered = addSpend(this.#covered, further);
  }

  /** What the last attempt is charged. Who was charged just what one request reserves told no usage. */
  answered(spend: CallSpend): CallSpend {
    return spend === this.#request.reserve ? this.#covered : spend;
  }

  /** What the last attempt is charged where it failed, or where it was the last that the budget held. */
  failed(error: unknown): CallSpend {
    return this.#isPaid ? this.#covered : chargeOf(error, this.#covered);
  }

  async #hold(): Promise<CallSpend> {
    const { ledger, reserve } = this.#request;
    // Even where no more is granted.
    this.#isPaid = true;
    // The samples are counted once, however many requests they take.
    const again = { ...reserve, calls: 0 };
    const reservation = await ledger.reserve(again, { holds: this.#held.length });
    // Abandoned meanwhile, it has given back all that it held.
    if (this.#isSettled) reservation.settle(nothing);
    else this.#held.push(reservation);
    return again;
  }

  /** Charges the attempts and what the last one used, by default all that it reserved. Returns the sum. */
  settle(last: CallSpend = this.#covered): CallSpend {
    this.#isSettled = true;
    const [first, ...others] = this.#held.splice(0);
    // Charged before anything is given back: nobody else may be granted what is spent already.
    this.#request.ledger.charge(this.#attempts);
    first?.settle(last, this.#covered);
    for (const other of others) other.settle(nothing);
    return addSpend(this.#attempts, last);
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
  if (error.code !== 'unavailable') return false;
  return !ModelCallError.isInstance(error.cause) || isFree(error.cause);
}

/** Whether no other call of the model can succeed either. */
export function isUnavailable(error: unknown): boolean {
  if (ModelCallError.isInstance(error)) return error.kind === 'auth';
  return EspalierError.isInstance(error) && error.code === 'unavailable';
}

function unavailable(message: string, cause: unknown): EspalierError {
  return new EspalierError('unavailable', message, { cause });
}

/** What a journal says of a call. */
function outcomeOf({ outcome }: RecordedCall): Outcome {
  if ('output' in outcome || outcome.unavailable !== true) return outcome;
  return { fatal: unavailable(outcome.message, undefined) };
}

/** Whether an error is what a call came to, and so stands when the call is asked for again. */
function isOutcome(error: unknown): boolean {
  if (error instanceof CallFailure) return true;
  return EspalierError.isInstance(error) && error.code === 'interrupted';
}
