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

/** Asks a model outside of any search, and notes what it warns of. */
export class Probe {
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Aborts when no more time is to be spent. */
  readonly over: AbortSignal;
  /** Held here: what only another signal waits for may be collected before its time is up. */
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

  /** What the model did in another way than asked, a sentence each. */
  get warnings(): readonly string[] {
    return [...this.#warnings.values()].map(({ message }) => message);
  }

  /** One request, of short answers unless it says otherwise. */
  ask(request: GenerateRequest, signal: AbortSignal = this.over): Promise<Generation> {
    this.over.throwIfAborted();
    const call: ModelCall = {
      signal: AbortSignal.any([signal, this.over]),
      clock: this.clock,
      warn: (warning) => void this.#warnings.set(`${warning.about} ${warning.message}`, warning),
    };
    return this.model.generate({ maxTokens: 32, ...request }, call);
  }

  /** Only what the model takes: a probe is not to fail by a temperature. */
  heated(request: GenerateRequest): GenerateRequest {
    return this.model.capabilities.temperature === true ? { ...request, temperature: 1 } : request;
  }
}

/** Looks at one thing. What it throws is a finding as well. */
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
