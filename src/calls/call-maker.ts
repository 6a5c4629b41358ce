import { expectJson } from '../base/canonical-json.ts';
import { isTransient, messageOf } from '../base/failure.ts';
import type { Batches } from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import type { FailedAttempt, ModelCall, ModelWarning } from '../contracts/language-model.ts';
import type { CallInFlight } from './call-in-flight.ts';
import { endsRun, isUnavailable, type Outcome, unavailable } from './call-outcome.ts';
import { type CallSpend, nothing } from './call-spend.ts';
import type { JournalLine, LineOf } from './journal-lines.ts';

/** The outcome of a call, and the charge of its last attempt. */
export interface Made {
  readonly outcome: Outcome;
  readonly spend: CallSpend;
}

/** What is needed to make calls. */
export interface CallMakerOptions {
  readonly clock: Clock;
  /** Called with features that a model does not support. */
  readonly onWarning: (warning: ModelWarning) => void;
  /** @throws EspalierError `storage` */
  readonly write: (line: JournalLine) => void;
  /** Whether the call that asks may wait for other calls in flight: not if one of them waits for it. */
  readonly mayWait: () => boolean;
  /** The content address of the start, common to all calls of a run. */
  readonly run: () => string | undefined;
  /** Receives the calls that can wait. @defaultValue nothing waits */
  readonly batches: Batches | undefined;
}

/** Makes calls: records the request, every attempt, and the outcome. */
export class CallMaker {
  readonly #options: CallMakerOptions;
  constructor(options: CallMakerOptions) {
    this.#options = options;
  }

  async make(call: CallInFlight): Promise<Made> {
    const { number, key, inside, request, account, signal } = call;
    const { kind, name, samples, reserve: reserved } = request;
    const line = { call: number, key } as const;
    const kept = request.isKept === true ? { kept: true } : {};
    const asked = { kind, name, reserved, ...kept, request: request.request };
    try {
      this.#options.write({
        type: 'intent',
        ...line,
        inside,
        ...asked,
        ...(samples && { samples }),
      });
    } catch (error) {
      return { outcome: { fatal: error }, spend: nothing };
    }
    try {
      const { output, spend } = await request.run(this.#modelCall(call), number);
      expectJson(`result of ${name}`, output);
      return this.#settled({ type: 'result', ...line, spend: account.answered(spend), output });
    } catch (error) {
      // The intent of an aborted call stays open, because it is unknown whether it was paid for.
      if (signal.aborted) return { outcome: { fatal: signal.reason }, spend: reserved };
      return this.#failed(call, error);
    }
  }

  /** The outcome of a call that may not be repeated and during which a process died: unknown. */
  interrupt({ number, key, inside, request }: CallInFlight): Made {
    const message = `${request.name} was in progress when its search was interrupted, and its outcome is unknown.`;
    const line = { type: 'failure', call: number, key, spend: nothing, message } as const;
    return this.#settled({ ...line, inside, interrupted: true });
  }

  /** The arguments of a model besides its request. */
  #modelCall(call: CallInFlight): ModelCall {
    const { number, key, account, signal } = call;
    const { clock, onWarning, write } = this.#options;
    const run = this.#options.run();
    const ask = async (
      spend: CallSpend,
      { message, waits = true }: Pick<FailedAttempt, 'message' | 'waits'>,
    ): Promise<void> => {
      write({ type: 'attempt', call: number, key, spend, asks: true, message });
      const reserved = await this.#holdInTurn(call, waits);
      signal.throwIfAborted();
      write({ type: 'grant', call: number, key, reserved });
    };
    return {
      signal,
      clock,
      ...(run !== undefined && { run }),
      ...this.#batch(call),
      warn: onWarning,
      retry: async (attempt) => {
        signal.throwIfAborted();
        const { message, charged } = attempt;
        const spend = account.chargeOf(charged);
        if (spend === nothing) {
          return write({ type: 'attempt', call: number, key, spend, message });
        }
        account.fail(spend);
        await ask(spend, attempt);
      },
      requestExtraCall: async (message, options) => {
        signal.throwIfAborted();
        account.extend();
        await ask(nothing, { ...options, message });
      },
    };
  }

  /** How a call is sent in a batch. A call that is then sent on its own may be lost with the process. */
  #batch({ number, key, request, signal }: CallInFlight): Pick<ModelCall, 'batch'> {
    const { batches, write } = this.#options;
    if (batches === undefined || request.isKept !== true) return {};
    return {
      batch: (asked, live) =>
        batches.send(asked, { key, signal }, () => {
          write({ type: 'grant', call: number, key, reserved: request.reserve });
          return live();
        }),
    };
  }

  /**
   * Reserves the worst case of another request. It takes effect in its turn, like results, because other grants depend
   * on it.
   */
  #holdInTurn({ account, signal, ticket }: CallInFlight, waits: boolean): Promise<CallSpend> {
    const mayWait = waits && this.#options.mayWait();
    return new Promise((resolve, reject) => {
      const leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      const stay = () => signal.removeEventListener('abort', leave);
      ticket.arrive(() => void account.hold(mayWait).then(resolve, reject).finally(stay));
    });
  }

  #failed({ number, key, account, refused }: CallInFlight, error: unknown): Made {
    const message = messageOf(error);
    const spend = account.failed(error);
    const told = { spend, message, ...(refused && { refused }) };
    const line: LineOf<'failure'> = { type: 'failure', call: number, key, ...told };
    if (endsRun(error)) {
      this.#settled({ ...line, unavailable: true });
      return { outcome: { fatal: error }, spend };
    }
    if (!isUnavailable(error)) {
      return this.#settled({ ...line, ...(isTransient(error) && { transient: true }) }, error);
    }
    this.#settled({ ...line, unavailable: true });
    return { outcome: { fatal: unavailable(message, error) }, spend };
  }

  /** Records an outcome. One that cannot be recorded is not used, because a resumed run would not know of it. */
  #settled(line: LineOf<'failure' | 'result'>, cause?: unknown): Made {
    const { spend } = line;
    try {
      this.#options.write(line);
    } catch (error) {
      return { outcome: { fatal: error }, spend };
    }
    if (line.type === 'result') return { outcome: { output: line.output }, spend };
    const { message, interrupted, transient, refused } = line;
    return { outcome: { message, interrupted, transient, refused, cause }, spend };
  }
}
