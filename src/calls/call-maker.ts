import { expectJson } from '../base/canonical-json.ts';
import { isTransient, messageOf } from '../base/failure.ts';
import type { Batches } from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import type { FailedAttempt, ModelCall, ModelWarning } from '../contracts/language-model.ts';
import type { CallInFlight } from './call-in-flight.ts';
import { endsRun, isUnavailable, type Outcome, unavailable } from './call-outcome.ts';
import { type CallSpend, nothing } from './call-spend.ts';
import type { JournalLine, LineOf } from './journal-lines.ts';

/** What a call came to, and what its last attempt is charged. */
export interface Made {
  readonly outcome: Outcome;
  readonly spend: CallSpend;
}

/** What calls are made with. */
export interface CallMakerOptions {
  readonly clock: Clock;
  /** Hears what a model does not support. */
  readonly onWarning: (warning: ModelWarning) => void;
  /** @throws EspalierError `storage` */
  readonly write: (line: JournalLine) => void;
  /** Whether a call may wait for others that are under way. */
  readonly mayWait: boolean;
  /** What all calls of a run have in common: the content address of its start. */
  readonly run: () => string | undefined;
  /** Where calls send what may wait. @defaultValue nothing waits */
  readonly batches: Batches | undefined;
}

/** Makes calls: writes down what is asked, every attempt, and what came of it. */
export class CallMaker {
  readonly #options: CallMakerOptions;
  constructor(options: CallMakerOptions) {
    this.#options = options;
  }

  async make(call: CallInFlight): Promise<Made> {
    const { number, key, request, account, signal } = call;
    const { kind, name, samples, reserve: reserved } = request;
    const line = { call: number, key } as const;
    const kept = request.isKept === true ? { kept: true } : {};
    const asked = { kind, name, reserved, ...kept, request: request.request };
    try {
      this.#options.write({ type: 'intent', ...line, ...asked, ...(samples && { samples }) });
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

  /** A process died in the middle of a call that may not be repeated: nobody knows what it has done. */
  interrupt({ number, key, request }: CallInFlight): Made {
    const message = `${request.name} was under way when its search was broken off, and its outcome is unknown.`;
    const line = { type: 'failure', call: number, key, spend: nothing, message } as const;
    return this.#settled({ ...line, interrupted: true });
  }

  /** What a model is given beside its request. */
  #modelCall(call: CallInFlight): ModelCall {
    const { number, key, account, signal } = call;
    const { clock, onWarning, write } = this.#options;
    const run = this.#options.run();
    const ask = async (spend: CallSpend, message: string): Promise<void> => {
      write({ type: 'attempt', call: number, key, spend, asks: true, message });
      const reserved = await this.#holdInTurn(call);
      signal.throwIfAborted();
      write({ type: 'grant', call: number, key, reserved });
    };
    return {
      signal,
      clock,
      ...(run !== undefined && { run }),
      ...this.#batch(call),
      warn: onWarning,
      retry: async ({ message, charged }: FailedAttempt) => {
        signal.throwIfAborted();
        const spend = account.chargeOf(charged);
        if (spend === nothing) {
          return write({ type: 'attempt', call: number, key, spend, message });
        }
        account.fail(spend);
        await ask(spend, message);
      },
      requestExtraCall: async (message) => {
        signal.throwIfAborted();
        account.extend();
        await ask(nothing, message);
      },
    };
  }

  /** How a call sends what may wait. What is then bought by itself may be lost with the process. */
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

  /** Sets aside what another request may cost. It has its turn, as results have: what others are granted depends on it. */
  #holdInTurn({ account, signal, ticket }: CallInFlight): Promise<CallSpend> {
    const { mayWait } = this.#options;
    return new Promise((resolve, reject) => {
      const leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      const stay = () => signal.removeEventListener('abort', leave);
      ticket.arrive(() => void account.hold(mayWait).then(resolve, reject).finally(stay));
    });
  }

  #failed({ number, key, account }: CallInFlight, error: unknown): Made {
    const message = messageOf(error);
    const spend = account.failed(error);
    const line: LineOf<'failure'> = { type: 'failure', call: number, key, spend, message };
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

  /** Writes an outcome down. One that cannot be written is not used: a run that goes on would not know of it. */
  #settled(line: LineOf<'failure' | 'result'>, cause?: unknown): Made {
    const { spend } = line;
    try {
      this.#options.write(line);
    } catch (error) {
      return { outcome: { fatal: error }, spend };
    }
    if (line.type === 'result') return { outcome: { output: line.output }, spend };
    const { message, interrupted, transient } = line;
    return { outcome: { message, interrupted, transient, cause }, spend };
  }
}
