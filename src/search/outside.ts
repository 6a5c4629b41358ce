import { letManyListen } from '#platform';
import { CallGate } from '../calls/call-gate.ts';
import type { CallReport } from '../calls/call-in-flight.ts';
import type { Journal } from '../calls/journal.ts';
import type { LineOf } from '../calls/journal-lines.ts';
import { type Order, Sequencer } from '../calls/sequencer.ts';
import type { Batches } from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import type { Random } from '../contracts/context.ts';
import type { ModelWarning } from '../contracts/language-model.ts';
import type { Spend } from '../contracts/spend.ts';

/** What leads out of a search. Searches nested in it share it; a search that continues it takes it over. */
export interface Outside {
  readonly controller: AbortController;
  readonly journal: Journal;
  readonly sequencer: Sequencer;
  readonly gate: CallGate;
  readonly deadline: Deadline;
  readonly random: Random;
}

/** What an {@link Outside} is opened with. */
export interface OutsideOptions {
  readonly journal: Journal;
  readonly order: Order;
  readonly clock: Clock;
  /** How many calls may be in flight. @defaultValue no limit */
  readonly calls?: number;
  readonly random: Random;
  /** Where calls send what may wait. @defaultValue nothing waits */
  readonly batches?: Batches | undefined;
  /** The limit on time, in milliseconds. */
  readonly ms: number | undefined;
  /** The search that this one continues. */
  readonly before: Outside | undefined;
  /** Whether calls that failed are made again, and not only those that waiting may mend. */
  readonly retryFailed: boolean;
  readonly ready: () => Promise<void> | undefined;
  readonly onCall: (report: CallReport) => void;
  readonly onWarning: (warning: ModelWarning) => void;
}

/** Opens the way out for one search. */
export function openOutside(options: OutsideOptions): Outside {
  const { journal, order, clock, random, ms, before, ready } = options;
  const controller = new AbortController();
  // Every call in flight may listen.
  letManyListen(controller.signal);
  const sequencer = new Sequencer(order, ready);
  const gate: CallGate = new CallGate({
    sequencer,
    journal,
    clock,
    signal: controller.signal,
    limit: options.calls,
    before: before?.gate,
    retryFailed: options.retryFailed,
    batches: options.batches,
    onWarning: options.onWarning,
    deadlineAhead: () => deadline.ahead,
    expire: () => deadline.expire(),
    onCall: options.onCall,
  });
  const deadline: Deadline = new Deadline({ ms, gate, sequencer, journal, clock, controller });
  sequencer.onReleased = () => deadline.check();
  return { controller, journal, sequencer, gate, deadline, random };
}

interface DeadlineParts {
  readonly ms: number | undefined;
  readonly gate: CallGate;
  readonly sequencer: Sequencer;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly controller: AbortController;
}

/** How long a replay may stand still before it counts as stuck, in milliseconds. */
const leastStandstill = 10_000;

/** The reason with which calls are aborted once the time is up. */
const timeIsUp = new Error('The deadline of the search has passed.');

/**
 * The limit on time. When it passes, calls in flight are aborted, and the journal remembers how far the
 * search had come; a replay stops at that place and does not look at the clock.
 */
export class Deadline {
  readonly #parts: DeadlineParts;
  readonly #recorded: LineOf<'deadline'> | undefined;
  /** Simulations that were started, also those that were handed back, and those of searches within. */
  #started = 0;
  #passed: ((exceeded: keyof Spend) => void) | undefined;
  #over = false;

  constructor(parts: DeadlineParts) {
    this.#parts = parts;
    const line = parts.gate.deadline;
    this.#recorded = line !== undefined && line.ms === parts.ms ? line : undefined;
    const { outcomes = Number.POSITIVE_INFINITY } = this.#recorded ?? {};
    parts.sequencer.mostOutcomes = () => (this.ahead ? outcomes : Number.POSITIVE_INFINITY);
  }

  /** Whether a recorded deadline is still to come. */
  get ahead(): boolean {
    return this.#recorded !== undefined && !this.#over;
  }

  /** Starts the clock, or follows the journal. Returns how to stop it. */
  watch(passed: (exceeded: keyof Spend) => void): () => void {
    this.#passed = passed;
    const { ms, clock } = this.#parts;
    const timer = new AbortController();
    if (ms !== undefined && Number.isFinite(ms)) {
      const timing =
        this.#recorded === undefined
          ? clock.sleep(ms, timer.signal)
          : this.#standstill(Math.max(2 * ms, leastStandstill), timer.signal);
      timing.then(
        () => this.expireAtRest(),
        () => {},
      );
    }
    return () => {
      this.#over = true;
      timer.abort();
    };
  }

  /** Resolves once nothing has happened for so long that a replay will not come to its deadline: it has to end all the same. */
  async #standstill(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, sequencer } = this.#parts;
    const progress = () => sequencer.released + this.#started;
    for (let before = -1; before !== progress(); ) {
      before = progress();
      await clock.sleep(ms, signal);
    }
  }

  /** Whether no simulation may start any more: the time is up, or a replay has come to where it was up. */
  isDue(exhausted: keyof Spend | undefined): boolean {
    if (this.#recorded === undefined || this.#over) return exhausted === 'ms';
    return this.#started >= this.#recorded.simulations;
  }

  /** Whether results have yet to take effect that did so after the last simulation had started. */
  get #lacksResults(): boolean {
    const { sequencer } = this.#parts;
    return this.#recorded !== undefined && sequencer.released < this.#recorded.results;
  }

  /** Counts a simulation as started. */
  start(): void {
    this.#started++;
    // The last simulation of a replay may be one that a deadline cut off: nothing comes after it.
    this.check();
  }

  /** Stops a replay where the recorded search was stopped: when all that it knew has taken effect. */
  check(): void {
    if (this.ahead && this.isDue(undefined) && !this.#lacksResults) void this.expireAtRest();
  }

  /** Ends the search once what is under way has come to rest: where it stands then, a replay can tell. */
  async expireAtRest(): Promise<void> {
    if (this.#over) return;
    await this.#parts.sequencer.rest();
    this.expire();
  }

  /** The same for who may start nothing any more: a replay has what is due to take effect before. */
  async expireOnceDue(): Promise<void> {
    while (!this.#over && this.#lacksResults) await this.#parts.sequencer.nextRelease();
    await this.expireAtRest();
  }

  /** Ends the search: the time is up. */
  expire(): void {
    if (this.#over) return;
    this.#over = true;
    this.#note();
    this.#passed?.('ms');
    this.#parts.gate.end();
    this.#parts.controller.abort(timeIsUp);
  }

  #note(): void {
    const { ms = 0, journal, sequencer, gate } = this.#parts;
    if (this.#recorded !== undefined) return;
    try {
      const simulations = this.#started;
      const { search } = gate;
      const { released: results, outcomes } = sequencer;
      journal.append({ type: 'deadline', ms, simulations, results, outcomes, search });
    } catch {
      // A full disk does not keep a search from ending; only its replay will not know where it ended.
    }
  }
}
