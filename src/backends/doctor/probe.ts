import { EspalierError } from '../../base/errors.ts';
import type { Clock } from '../../contracts/clock.ts';
import type {
  GenerateRequest,
  Generation,
  LanguageModel,
  ModelCall,
  ModelWarning,
} from '../../contracts/language-model.ts';
import type { Finding } from './examination.ts';

/** Calls a model outside of any search, and records its warnings. */
export class Probe {
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Aborts when no more time may be spent. */
  readonly over: AbortSignal;
  /** Kept in a field, because a signal that only another signal references may be garbage-collected early. */
  readonly #timeout: AbortSignal;
  readonly #warnings = new Map<string, ModelWarning>();

  constructor(
    model: LanguageModel,
    options: { clock: Clock; signal: AbortSignal; timeoutMs: number },
  ) {
    this.model = model;
    this.clock = options.clock;
    this.signal = options.signal;
    this.#timeout = AbortSignal.timeout(options.timeoutMs);
    this.over = AbortSignal.any([options.signal, this.#timeout]);
  }

  /** Requests that the model did not do as asked, one sentence each. */
  get warnings(): readonly string[] {
    return [...this.#warnings.values()].map(({ message }) => message);
  }

  /** Sends one request, with short answers by default. */
  ask(request: GenerateRequest, signal: AbortSignal = this.over): Promise<Generation> {
    this.over.throwIfAborted();
    const call: ModelCall = {
      signal: AbortSignal.any([signal, this.over]),
      clock: this.clock,
      warn: (warning) => void this.#warnings.set(`${warning.about} ${warning.message}`, warning),
    };
    return this.model.generate({ maxTokens: 32, ...request }, call);
  }

  /** Sets a temperature only if the model supports one, so that it cannot fail a probe. */
  heated(request: GenerateRequest): GenerateRequest {
    return this.model.capabilities.temperature === true ? { ...request, temperature: 1 } : request;
  }
}

/** Checks one feature. An exception is also a finding. */
export type Check = (probe: Probe) => Promise<Omit<Finding, 'about'>>;

/** The finding of a check, whatever happens. */
export async function finding(about: string, check: Check, probe: Probe): Promise<Finding> {
  try {
    return { about, ...(await check(probe)) };
  } catch (error) {
    probe.signal.throwIfAborted();
    if (probe.over.aborted)
      return { about, outcome: 'unknown', detail: 'No time was left for it.' };
    const ends = EspalierError.isInstance(error) && error.code === 'unavailable';
    const detail = error instanceof Error ? error.message : String(error);
    return { about, outcome: ends ? 'unknown' : 'no', detail };
  }
}
