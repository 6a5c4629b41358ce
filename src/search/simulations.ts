import { endsGracefully } from '../base/errors.ts';
import { expectFunction, expectInteger, expectOneOf } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { CallGate } from '../calls/call-gate.ts';
import type { CallSpend } from '../calls/call-spend.ts';
import type { Sequencer } from '../calls/sequencer.ts';
import type { Failure } from '../contracts/failure.ts';
import type { SearchNode } from '../contracts/node.ts';
import type { Spend } from '../contracts/spend.ts';
import { expectAnswer, expectOutcome } from './answers.ts';
import type {
  SimulateOptions,
  Simulation,
  SimulationOutcome,
  StopCondition,
  StopReason,
} from './contracts.ts';
import { turnedAway } from './crowd.ts';
import type { Deadline } from './outside.ts';
import type { SearchSession } from './session.ts';
import { SimulationInFlight } from './simulation.ts';

/** Why simulations came to an end. */
export interface Stop {
  readonly reason: StopReason;
  readonly exceeded?: keyof Spend | undefined;
  readonly failure?: Failure;
  /** Whether a condition of the caller ended it, not the algorithm. */
  readonly isAsked?: boolean;
}

/** What the driver of simulations needs. */
export interface SimulationsOptions<State, Action> {
  readonly concurrency: number;
  readonly stopWhen: readonly StopCondition<State, Action>[];
  readonly gate: CallGate;
  readonly sequencer: Sequencer;
  readonly deadline: Deadline;
  /** Aborts work in flight. */
  readonly giveUp: () => void;
}

/**
 * The number of simulations without a call after which the event loop gets a turn, so that signals and timers are
 * handled.
 */
const simulationsPerTurn = 128;

/**
 * The number of simulations in a row that may run without a call while slow expansions hold up all others: even with
 * two slots, enough for the selection to turn away from nodes where nothing is left to learn.
 */
const leastIdle = 16;

/** Runs one simulation after another. */
interface Worker<State, Action> {
  simulation: SimulationInFlight<State, Action> | undefined;
}

interface Round {
  readonly name: string | undefined;
  left: number;
  /**
   * The number of its simulations in flight. Simulations of an enclosing round wait for them; this round does not wait
   * for those.
   */
  running: number;
  over: boolean;
  readonly exhausts: 'round' | 'search';
  /** Whether the round, when it has nothing else to do, waits for simulations that earlier rounds left behind. */
  readonly waits: boolean;
}

/**
 * Keeps simulations in flight until one of them, the budget or a stop condition ends the search.
 *
 * Its decisions depend only on the order in which results take effect: a worker never looks at the clock between two
 * decisions.
 */
export class Simulations<State, Action> {
  readonly #session: SearchSession<State, Action>;
  readonly #options: SimulationsOptions<State, Action>;
  #stop: Stop | undefined;
  #error: { readonly thrown: unknown } | undefined;
  #running = 0;
  /** The current work of each worker. */
  readonly #workers = new Set<Worker<State, Action>>();
  /** The spend when the last simulation was logged. */
  #logged: CallSpend;
  #ended: (() => void)[] = [];
  /** Workers of rounds that have ended without them. */
  readonly #left = new Set<Worker<State, Action>>();
  /** Wakes workers that wait for a call to take effect. */
  readonly #resting = new Set<() => void>();
  #turn: Promise<void> | undefined;
  /** The number of consecutive simulations that made no call and waited for none. */
  #idle = 0;
  #hasGivenUp = false;
  readonly #givenUp = signalOnce();
  /** Rounds with simulations in flight. */
  readonly #rounds = new Set<Promise<unknown>>();

  constructor(session: SearchSession<State, Action>, options: SimulationsOptions<State, Action>) {
    this.#session = session;
    this.#options = options;
    this.#logged = session.ledger.answered;
    const { crowd } = session;
    // Once the search is over, nothing is bypassed: which simulation would be turned away first depends on how it
    // ended.
    crowd.busy = () =>
      this.stopped
        ? Number.POSITIVE_INFINITY
        : this.#workers.size - this.#ended.length - this.#resting.size;
    crowd.wakeNext = () => this.#wakeNext();
    crowd.wakeResting = () => this.#wakeResting();
  }

  /** Why the search is over; `undefined` while it is not. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  get stopped(): boolean {
    return this.#stop !== undefined || this.#error !== undefined;
  }

  /**
   * Lets no further simulation start. Those in flight continue to their end; if the search is solved, they are given
   * up.
   */
  end(stop: Stop): void {
    const isSolved = this.#stop === undefined && stop.reason === 'solved';
    this.#stop ??= stop;
    if (isSolved && this.#running > 1) void this.#giveUp();
    this.#wake();
  }

  async run(
    simulate: (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>,
    options: SimulateOptions = {},
  ): Promise<void> {
    expectFunction('run', simulate);
    expectOptions('context.simulate', options, 'name limit exhausts stragglers');
    const { name, limit = Number.POSITIVE_INFINITY, exhausts = 'search' } = options;
    expectInteger('limit', limit, { min: 0, max: Number.POSITIVE_INFINITY });
    const { stragglers = 'wait' } = options;
    expectOneOf('exhausts', exhausts, ['search', 'round']);
    expectOneOf('stragglers', stragglers, ['leave', 'wait']);
    const waits = stragglers === 'wait';
    const round: Round = { name, left: limit, running: 0, over: false, exhausts, waits };
    const free = Math.max(1, this.#options.concurrency - this.#left.size);
    const { crowd, ledger } = this.#session;
    const length = Math.min(free, limit, Math.max(1, ledger.remaining.simulations));
    const left = signalOnce();
    // A round with planned simulations keeps to its plan, unless it would come to a standstill.
    crowd.patience = waits ? 0 : Math.min(free, limit / 2);
    const workers = Array.from(
      { length },
      (): Worker<State, Action> => ({ simulation: undefined }),
    );
    for (const worker of workers) this.#workers.add(worker);
    const all = Promise.all(
      workers.map(async (worker) => {
        await this.#work(worker, simulate, round);
        this.#workers.delete(worker);
        this.#left.delete(worker);
        if (!waits) this.#leave(workers, left);
        // This may also have been the last work for others.
        this.#wake();
        crowd.look();
      }),
    );
    this.#rounds.add(all);
    void all.finally(() => this.#rounds.delete(all));
    await (length === 1 ? all : Promise.race([all, left.promise, this.#givenUp.promise]));
    if (this.#error !== undefined) throw this.#error.thrown;
  }

  /** Waits for simulations that rounds left behind: their calls are paid for. */
  async rest(): Promise<void> {
    await Promise.race([Promise.all(this.#rounds), this.#givenUp.promise]);
  }

  /**
   * Whether the next simulation must wait for calls in flight: one that made no call learnt nothing that their results
   * might not correct.
   */
  #mustRest(issued: number): boolean {
    const { gate, sequencer, concurrency } = this.#options;
    if (gate.issued !== issued) this.#idle = 0;
    if (gate.issued !== issued || sequencer.pending === 0) return false;
    // Those calls may never end: if no other simulation can make progress, this one continues for a while.
    const { crowd } = this.#session;
    return !crowd.holdsUp(crowd.busy() - 1) || this.#idle++ >= Math.max(concurrency, leastIdle);
  }

  async #rest(): Promise<void> {
    const { promise, resolve } = signalOnce();
    this.#resting.add(resolve);
    void this.#options.sequencer.nextRelease().then(resolve);
    this.#session.crowd.look();
    await promise;
    this.#resting.delete(resolve);
  }

  /** Ends a round if only slow expansions are left of it. */
  #leave(workers: readonly Worker<State, Action>[], { resolve }: Signal): void {
    if (!this.#session.crowd.holdsUpAll(this.#workers.size)) return;
    for (const worker of workers) if (this.#workers.has(worker)) this.#left.add(worker);
    resolve();
  }

  async #work(
    worker: Worker<State, Action>,
    simulate: (simulation: Simulation<State, Action>) => Promise<SimulationOutcome>,
    round: Round,
  ): Promise<void> {
    const { gate } = this.#options;
    for (let may = this.#mayStart(round); may !== false; may = this.#mayStart(round)) {
      if (may instanceof Promise) {
        await may;
        continue;
      }
      round.left--;
      round.running++;
      const simulation = this.#start(round);
      worker.simulation = simulation;
      const issued = gate.issued;
      const seen = this.#session.crowd.looks;
      let outcome: SimulationOutcome;
      try {
        outcome = this.#heard(await simulate(simulation));
        this.#finish(simulation, round, outcome);
      } catch (error) {
        if (!this.#isHandedBack(simulation, round, error)) return;
        outcome = 'waiting';
      } finally {
        this.#running--;
        round.running--;
      }

      const pause = outcome === 'waiting' ? this.#nextEnd(round, seen) : this.#pauseBehind(issued);
      if (pause !== undefined) await pause;
    }
  }

  #pauseBehind(issued: number): Promise<void> | undefined {
    return this.#mustRest(issued) ? this.#rest() : this.#turnOfOthers();
  }

  /** Gives the event loop a turn. */
  turn(): Promise<void> {
    return this.#options.sequencer.rest();
  }

  /** From time to time, all workers give the event loop a turn: it gets none while one of them continues. */
  #turnOfOthers(): Promise<void> | undefined {
    if (this.#session.tree.simulations % simulationsPerTurn === 0) {
      this.#turn ??= this.#options.sequencer.rest().then(() => {
        this.#turn = undefined;
      });
    }
    return this.#turn;
  }

  /** Whether an interrupted simulation starts again. A simulation that was given up did not fail by itself. */
  #isHandedBack(
    simulation: SimulationInFlight<State, Action>,
    round: Round,
    error: unknown,
  ): boolean {
    if (error === turnedAway) {
      this.#finish(simulation, round, 'waiting');
      return true;
    }
    this.#end(simulation);
    if (!this.#hasGivenUp) this.#fail(error);
    return false;
  }

  /** `exhausted` counts only if no other simulation is in flight, since those may add nodes. */
  #heard(outcome: SimulationOutcome): SimulationOutcome {
    expectOutcome(outcome);
    return outcome === 'exhausted' && this.#running > 1 ? 'waiting' : outcome;
  }

  /** Whether another simulation may start; a promise if this must be asked again once it resolves. */
  #mayStart(round: Round): boolean | Promise<void> {
    if (round.left <= 0 || round.over || this.stopped) return false;
    const { ledger, runtime } = this.#session;
    if (runtime.signal.aborted) {
      this.#fail(runtime.signal.reason);
      return false;
    }
    const { storageError } = this.#options.gate;
    if (storageError !== undefined) {
      this.end({ reason: 'failed', failure: { kind: 'call', message: storageError.message } });
      return false;
    }
    const { exhausted } = ledger;
    const { deadline } = this.#options;
    // In a replay the recorded deadline replaces the clock.
    if (exhausted === undefined || exhausted === 'ms') {
      return deadline.isDue(exhausted) ? this.#expire() : true;
    }
    // Simulations in flight may be handed back, and then do not count.
    if (exhausted === 'simulations' && round.running > 0) return this.#anotherEnd();
    this.end({ reason: 'budget', exceeded: exhausted });
    return false;
  }

  async #expire(): Promise<void> {
    await this.#options.deadline.expireOnceDue();
    this.end({ reason: 'budget', exceeded: 'ms' });
  }

  #start({ name }: Round): SimulationInFlight<State, Action> {
    const { tree, ledger, runtime, crowd, emit } = this.#session;
    const index = tree.startSimulation();
    ledger.addSimulations(1);
    this.#running++;
    emit?.({
      type: 'simulation-start',
      simulation: index,
      ...(name !== undefined && { round: name }),
    });
    this.#options.deadline.start();
    const marks = this.#options.concurrency > 1;
    return new SimulationInFlight(tree, { index, source: runtime.random, marks, crowd });
  }

  /** Waits until work in flight has come to rest: only that state can be reproduced by a replay. */
  async #giveUp(): Promise<void> {
    const { sequencer, giveUp } = this.#options;
    await sequencer.rest();
    this.abandon();
    this.#hasGivenUp = true;
    giveUp();
    // Code that handles the signal can clean up; nothing waits for the rest.
    await sequencer.rest();
    this.#givenUp.resolve();
  }

  /** Removes the marks of unfinished simulations: a plug-in may ignore that the search is over. */
  abandon(): void {
    for (const { simulation } of this.#workers) {
      if (simulation !== undefined) this.#end(simulation);
    }
  }

  /** Removes the marks and logs the outcome. @returns whether that had been done before */
  #end(simulation: SimulationInFlight<State, Action>, outcome?: SimulationOutcome): boolean {
    if (simulation.isOver) return true;
    const { tree, ledger, runtime } = this.#session;
    const leaf = simulation.release() ?? tree.cursor;
    if (outcome === 'waiting') {
      tree.handBackSimulation();
      return false;
    }
    const before = this.#logged;
    // A replay cannot reproduce results that arrived at the moment of an abort.
    const answered = runtime.signal.aborted ? before : ledger.answered;
    const calls = answered.calls - before.calls;
    tree.log.end(leaf.id, { calls, tokens: answered.tokens - before.tokens });
    this.#logged = answered;
    return false;
  }

  #finish(
    simulation: SimulationInFlight<State, Action>,
    round: Round,
    outcome: SimulationOutcome,
  ): void {
    if (this.#end(simulation, outcome)) return;
    const { tree, ledger, crowd, emit } = this.#session;
    if (outcome === 'waiting') {
      ledger.addSimulations(-1);
      round.left++;
    } else {
      this.#judge(outcome, round);
    }
    if (emit !== undefined) {
      const { best } = tree;
      const { spend } = ledger;
      emit({ type: 'simulation-end', simulation: simulation.index, outcome, best, spend });
    }
    if (outcome === 'waiting') return;
    if (!this.stopped) crowd.end();
    this.#wakeNext();
  }

  #judge(outcome: SimulationOutcome, round: Round): void {
    if (outcome === 'exhausted' && round.exhausts === 'round') round.over = true;
    else if (typeof outcome === 'object')
      this.end({ reason: 'budget', exceeded: outcome.reserved });
    else if (outcome === 'solved' || outcome === 'exhausted') this.end({ reason: outcome });
    const { tree, ledger } = this.#session;
    for (const condition of this.#options.stopWhen) {
      const answer = condition({
        tree,
        get best(): SearchNode<State, Action> {
          return tree.best;
        },
        get spend(): Spend {
          return ledger.spend;
        },
      });
      expectAnswer(condition, answer);
      if (answer !== false) {
        this.end({ reason: answer === 'solved' ? 'solved' : 'stopped', isAsked: true });
      }
    }
  }

  /** Handles an error that the algorithm let through; rethrows it unless it only ends the search. */
  settle(error: unknown): void {
    this.#fail(error);
    if (this.#error !== undefined) throw this.#error.thrown;
  }

  /** A refused call, a full disk and an unavailable model end the search gracefully; any other error rejects it. */
  #fail(error: unknown): void {
    const { ledger, runtime } = this.#session;
    if (endsGracefully(error)) {
      const { code, unit = ledger.exhausted, message } = error;
      if (code === 'budget') this.end({ reason: 'budget', exceeded: unit });
      else this.end({ reason: 'failed', failure: { kind: 'call', message } });
    } else if (!(this.#stop !== undefined && runtime.signal.aborted)) {
      this.#error ??= { thrown: error };
    }
    this.#wake();
  }

  /** Resolves when another simulation has ended; `undefined` if none is in flight. */
  #nextEnd(round: Round, seen: number): Promise<void> | undefined {
    // Something has changed since the simulation began, so it looks again.
    if (seen !== this.#session.crowd.looks) return undefined;
    if (round.running > 0 || (round.waits && this.#left.size > 0)) return this.#anotherEnd();
    round.over = true;
    // Simulations of other rounds may still add nodes.
    if (round.exhausts === 'search' && this.#running === 0) this.end({ reason: 'exhausted' });
    return undefined;
  }

  #anotherEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#ended.push(resolve);
      this.#session.crowd.look();
    });
  }

  /** Wakes one waiting simulation: if it finds nothing to do, those behind it would not either. */
  #wakeNext(): void {
    this.#ended.shift()?.();
  }

  #wake(): void {
    const waiting = this.#ended;
    this.#ended = [];
    for (const resolve of waiting) resolve();
    this.#wakeResting();
  }

  #wakeResting(): void {
    for (const resolve of this.#resting) resolve();
    this.#resting.clear();
  }
}

/** A promise, and how to resolve it. */
interface Signal {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function signalOnce(): Signal {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
