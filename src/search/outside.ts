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

/**
 * The access of a search to the outside world. Nested searches share it, and a search that continues this one takes it
 * over.
 */
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
  /** The maximum number of calls in flight. @defaultValue no limit */
  readonly calls?: number;
  readonly random: Random;
  /** Receives the calls that can wait. @defaultValue nothing waits */
  readonly batches?: Batches | undefined;
  /** The limit on time, in milliseconds. */
  readonly ms: number | undefined;
  /** The search that this one continues. */
  readonly before: Outside | undefined;
  /** Whether all failed calls are repeated, and not only those with a transient failure. */
  readonly retryFailed: boolean;
  readonly ready: () => Promise<void> | undefined;
  readonly onCall: (report: CallReport) => void;
  readonly onWarning: (warning: ModelWarning) => void;
}

/** Creates it for one search. */
export function openOutside(options: OutsideOptions): Outside {
  const { journal, order, clock, random, ms, before, ready } = options;
  const controller = new AbortController();
  // Every call in flight may add a listener.
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

/** The time without progress after which a replay counts as stuck, in milliseconds. */
const leastStandstill = 10_000;

/** The reason with which calls are aborted at the deadline. */
const timeIsUp = new Error('The deadline of the search has passed.');

/**
 * The limit on time. When it passes, calls in flight are aborted, and the journal records how far the search had got; a
 * replay stops at the same place without looking at the clock.
 */
export class Deadline {
  readonly #parts: DeadlineParts;
  readonly #recorded: LineOf<'deadline'> | undefined;
  /** The number of simulations started, including those that were handed back and those of nested searches. */
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

  /** Whether a recorded deadline is still ahead. */
  get ahead(): boolean {
    return this.#recorded !== undefined && !this.#over;
  }

  /** Starts the clock, or follows the journal. Returns a function that stops it. */
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

  /**
   * Resolves after a period without progress, in which case a replay will never reach its deadline but must still end.
   */
  async #standstill(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, sequencer } = this.#parts;
    const progress = () => sequencer.released + this.#started;
    for (let before = -1; before !== progress(); ) {
      before = progress();
      await clock.sleep(ms, signal);
    }
  }

  /** Whether no more simulations may start: the deadline has passed, or a replay has reached it. */
  isDue(exhausted: keyof Spend | undefined): boolean {
    if (this.#recorded === undefined || this.#over) return exhausted === 'ms';
    return this.#started >= this.#recorded.simulations;
  }

  /** Whether results are missing that, in the recorded run, took effect after the last simulation had started. */
  get #lacksResults(): boolean {
    const { sequencer } = this.#parts;
    return this.#recorded !== undefined && sequencer.released < this.#recorded.results;
  }

  /** Counts a simulation as started. */
  start(): void {
    this.#started++;
    // The deadline may have interrupted the last recorded simulation; nothing would follow it.
    this.check();
  }

  /** Stops a replay where the recorded search was stopped: once all recorded results have taken effect. */
  check(): void {
    if (this.ahead && this.isDue(undefined) && !this.#lacksResults) void this.expireAtRest();
  }

  /** Ends the search once work in flight has come to rest: only that state can be reproduced by a replay. */
  async expireAtRest(): Promise<void> {
    if (this.#over) return;
    await this.#parts.sequencer.rest();
    this.expire();
  }

  /** The same, for callers that may start nothing more: a replay first lets the remaining results take effect. */
  async expireOnceDue(): Promise<void> {
    while (!this.#over && this.#lacksResults) await this.#parts.sequencer.nextRelease();
    await this.expireAtRest();
  }

  /** Ends the search because its time is up. */
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
      // A full disk does not keep a search from ending; only a replay will not know where it ended.
    }
  }
}
