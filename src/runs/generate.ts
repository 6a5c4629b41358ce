import { join } from 'node:path';
import { EspalierError } from '../base/errors.ts';
import {
  describeValue,
  expectArray,
  expectation,
  expectFunction,
  expectInteger,
  expectMethods,
  expectSignal,
  expectText,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { messageOf } from '../base/failure.ts';
import { BudgetPool } from '../calls/budget-pool.ts';
import type { Journal } from '../calls/journal.ts';
import { JournalIndex } from '../calls/journal-index.ts';
import type { Environment } from '../contracts/environment.ts';
import type { JsonValue, MaybePromise } from '../contracts/json.ts';
import type { Spend } from '../contracts/spend.ts';
import type { SearchOptions, SearchResult } from '../search/contracts.ts';
import { search } from '../search/search.ts';
import { treeToJson } from '../tree/serialize.ts';
import {
  BatchDesk,
  type BatchOptions,
  type BatchProgress,
  checkBatchOptions,
} from './batch-desk.ts';
import {
  batchesFile,
  journalFileOf,
  type ProblemOutcome,
  paidIn,
  type RunFolder,
  readRun,
  type SavedRun,
  timesSetAside,
} from './run-folder.ts';

/** What {@link generate} is given. */
export interface GenerateOptions<Problem extends Readonly<Record<'id', string>>, State, Action> {
  /** Where it is written down. What lies there already is not done again. */
  readonly run: RunFolder;
  /** The problems, in the order in which they are begun. No two have the same `id`. */
  readonly problems: readonly Problem[];
  /**
   * How a problem is searched. Where it is written down and what it shares with others is for the run to say. Equal
   * problems and attempts must give equal plans, or a run that was broken off cannot go on.
   */
  plan(
    problem: Problem,
    attempt: number,
  ): MaybePromise<
    Omit<SearchOptions<State, Action>, 'journal' | 'pool' | 'signal' | 'tree'> & {
      /** The dynamics of the problem. */
      readonly environment: Environment<State, Action>;
    }
  >;
  /**
   * Looks at what a search has found, or failed with, before its outcome is written down. What it returns stands there
   * as `noted`.
   *
   * @defaultValue nothing is noted
   */
  note?(
    result: SearchResult<State, Action>,
    problem: Problem,
    attempt: number,
  ): MaybePromise<JsonValue>;
  /** Whether the trees are kept. Outcomes and journals are in any case. @defaultValue true */
  readonly trees?: boolean;
  /** Trees for each problem: an integer from 1 up. @defaultValue 1 */
  readonly attempts?: number;
  /** What all searches together may spend, those of earlier sessions of the run included. @defaultValue no limit */
  readonly budget?: ConstructorParameters<typeof BudgetPool>[0];
  /** Searches under way at once: an integer from 1 up. @defaultValue 4, with `batch` 500 */
  readonly concurrency?: number;
  /**
   * Whether problems that have failed for good are searched again, from their beginning. Those whose model could not be
   * reached always are, and go on where they were; with `'anew'` they too begin again.
   *
   * @defaultValue `false`
   */
  readonly retryFailed?: boolean | 'anew';
  /** The number of failures in a row that end the run: from 1 up. @defaultValue 10 */
  readonly maxFailuresInARow?: number;
  /**
   * Sends what calls of models ask for in batches, where the provider has them: for about half the price, and with answers
   * that may take hours. All searches under way wait together; the more there are, the larger the batches, so that
   * `concurrency` is by default 500. A search takes as many batches, one after the other, as it has calls that depend on
   * each other: wide and shallow ones take few. A session that ends, or is killed, leaves its batches at the provider; the
   * next one goes on with them and buys nothing twice. `true` stands for the defaults. A run is one with batches or one
   * without, as long as it lasts.
   *
   * @defaultValue every request is sent by itself
   */
  readonly batch?: boolean | BatchOptions;
  /**
   * Ends the run gracefully when it returns true. Searches under way go on in the next session; those that wait for a batch
   * are left at once.
   */
  readonly stopWhen?: () => boolean;
  /** Rejects when it aborts. What was paid for is kept. */
  readonly signal?: AbortSignal;
  /** Called for every search that begins or ends. */
  readonly onProgress?: (progress: GenerateProgress) => void;
  /**
   * Wraps every search: `grow` plans it, makes it and writes its outcome down.
   *
   * @defaultValue `grow` is called by itself
   */
  around?(grow: () => Promise<void>, problem: Problem, attempt: number): Promise<void>;
}

/** How far a run has come. */
export interface GenerateProgress {
  /** Trees that were asked for. */
  readonly total: number;
  /** Trees that are done, those of earlier sessions included. */
  readonly done: number;
  /** Of those, trees with an end that scores 1 or more. */
  readonly solved: number;
  /** Searches that have failed. */
  readonly failed: number;
  /** Searches under way. */
  readonly running: number;
  /** What waits in batches; nothing where there are none. */
  readonly waiting?: BatchProgress;
  /** What has been spent, in earlier sessions too. Calls under way are not in it. */
  readonly spend: Spend;
}

/** How a run ended. */
export interface GenerateReport extends Omit<GenerateProgress, 'failed' | 'running' | 'waiting'> {
  /**
   * Why it ended. `finished`: every search has. `budget`: what is left cannot hold another call. `stopped`: it was
   * asked to. `failing`: one search after the other failed.
   */
  readonly stopReason: 'budget' | 'failing' | 'finished' | 'stopped';
  /** The searches that have failed, and why. */
  readonly failed: readonly ProblemOutcome[];
  /** Trees that are still to be grown. */
  readonly unfinished: number;
  /** The models whose price is unknown, in any session: what they cost is not in `spend.usd`. */
  readonly unpriced: readonly string[];
}

/**
 * Searches many problems under one budget, some of them at once, and writes everything into a run folder. It can
 * be killed at any time: what is done is not done again, and a search that was under way goes on from its
 * journal, without paying twice.
 *
 * @throws EspalierError `usage` where an option is not what it should be, and `storage` where the run cannot be
 * written; what was written until then stays.
 */
export function generate<Problem extends Readonly<Record<'id', string>>, State, Action>(
  options: GenerateOptions<Problem, State, Action>,
): Promise<GenerateReport> {
  expectOptions(
    'generate',
    options,
    'run problems plan note trees attempts budget concurrency retryFailed maxFailuresInARow batch stopWhen signal onProgress around',
  );
  const { attempts = 1, batch = false, maxFailuresInARow = usualFailuresInARow } = options;
  const { concurrency = batch === false ? 4 : 500 } = options;
  if (typeof batch !== 'boolean') checkBatchOptions(batch);
  expectInteger('attempts', attempts, { min: 1 });
  expectInteger('concurrency', concurrency, { min: 1 });
  expectInteger('maxFailuresInARow', maxFailuresInARow, { min: 1, max: Number.POSITIVE_INFINITY });
  expectMethods('run', options.run, ['saveTree', 'journalOf']);
  expectFunction('plan', options.plan);
  const { note, stopWhen, onProgress, around, signal } = options;
  for (const [name, given] of Object.entries({ note, stopWhen, onProgress, around })) {
    if (given !== undefined) expectFunction(name, given);
  }
  expectSignal(signal);
  expectArray('problems', options.problems);
  const ids = new Set<string>();
  for (const [place, problem] of options.problems.entries()) {
    const { id } = Object(problem) as Problem;
    expectText(`problems[${place}].id`, id);
    if (ids.has(id)) throw expectation('problems', 'without repetition', id);
    ids.add(id);
  }
  return new Generation(options, { attempts, maxFailuresInARow }).run(concurrency);
}

interface Task<Problem> {
  readonly problem: Problem;
  readonly attempt: number;
  /** Whether what was paid for it before is put aside. */
  readonly isAnew?: boolean;
}

type Plan<State, Action> = Awaited<ReturnType<GenerateOptions<never, State, Action>['plan']>>;

/** One session of a run. */
class Generation<Problem extends Readonly<Record<'id', string>>, State, Action> {
  readonly #options: GenerateOptions<Problem, State, Action>;
  readonly #maxFailuresInARow: number;
  readonly #total: number;
  readonly #tasks: Task<Problem>[] = [];
  readonly #failed = new Map<string, ProblemOutcome>();
  readonly #pool: BudgetPool;
  /** Where a disk is full or a caller has aborted, the other searches end as well. */
  readonly #broken = new AbortController();
  /** Searches that wait for a batch are left where the run is to end: it may take hours. */
  readonly #left = new AbortController();
  readonly #desk: BatchDesk | undefined;
  /** The files of journals that may be repeated, and that the pool was charged for. */
  readonly #charged = new Set<string>();
  readonly #unpriced = new Set<string>();
  #done = 0;
  #solved = 0;
  #running = 0;
  #failuresInARow = 0;
  #end: GenerateReport['stopReason'] | undefined;

  constructor(
    options: GenerateOptions<Problem, State, Action>,
    {
      attempts,
      maxFailuresInARow,
    }: { readonly attempts: number; readonly maxFailuresInARow: number },
  ) {
    this.#options = options;
    this.#maxFailuresInARow = maxFailuresInARow;
    this.#total = options.problems.length * attempts;
    this.#pool = new BudgetPool(options.budget === undefined ? {} : options.budget);
    this.#desk = this.#openDesk();
    const saved = readRun(options.run.path);
    const outcomes = new Map(
      saved.outcomes.map((outcome) => [keyOf(outcome.problem, outcome.attempt), outcome]),
    );
    this.#chargePaid(outcomes.values());
    for (const problem of options.problems) {
      for (let attempt = 0; attempt < attempts; attempt++) {
        this.#plan({ problem, attempt }, saved, outcomes.get(keyOf(problem.id, attempt)));
      }
    }
  }

  #openDesk(): BatchDesk | undefined {
    const { batch = false, run } = this.#options;
    if (batch === false) return undefined;
    const path = join(run.path, batchesFile);
    const signal = AbortSignal.any([this.#outside, this.#left.signal]);
    const onChange = () => this.#tell();
    return new BatchDesk(path, batch === true ? {} : batch, { signal, onChange });
  }

  /** Aborts when no search can go on. */
  get #outside(): AbortSignal {
    const { signal } = this.#options;
    const own = this.#broken.signal;
    return signal === undefined ? own : AbortSignal.any([own, signal]);
  }

  /** Names an attempt towards the batches: one that begins anew does not want what its predecessor was told. */
  #ownerOf(problem: string, attempt: number): string {
    const name = journalFileOf({ problem, attempt });
    return `${name}#${timesSetAside(this.#options.run.path, { problem, attempt })}`;
  }

  #leaveWhenStopped(): void {
    if (this.#options.stopWhen?.() !== true) return;
    this.#end ??= 'stopped';
    this.#left.abort(new Error('The run was stopped.'));
  }

  /** What an earlier session has brought to an end is counted; the rest is to do. */
  #plan(task: Task<Problem>, saved: SavedRun, outcome: ProblemOutcome | undefined): void {
    for (const model of outcome?.unpriced ?? []) this.#unpriced.add(model);
    const { retryFailed = false } = this.#options;
    if (outcome === undefined) {
      this.#tasks.push(task);
    } else if (outcome.status === 'failed' && retryFailed !== 'anew' && isOutage(outcome, saved)) {
      // It goes on where it was, and what its journal holds is charged then.
      this.#tasks.push(task);
    } else if (outcome.status === 'failed' && retryFailed !== false) {
      // It would fail again with the same replies: it begins anew.
      this.#tasks.push({ ...task, isAnew: true });
    } else {
      this.#count(outcome);
      const { simulations, nodes } = outcome.spend;
      this.#pool.charge(outcome.status === 'done' ? outcome.spend : { simulations, nodes });
    }
  }

  /** Charges what journals hold before anything is bought: those of failed and unfinished attempts, and those set aside. */
  #chargePaid(outcomes: Iterable<ProblemOutcome>): void {
    const done = [...outcomes].filter(({ status }) => status === 'done').map(journalFileOf);
    const isDone = new Set(done);
    for (const [name, paid] of paidIn(this.#options.run.path, (name) => isDone.has(name))) {
      this.#pool.charge(paid);
      this.#charged.add(name);
    }
  }

  async run(concurrency: number): Promise<GenerateReport> {
    this.#options.signal?.throwIfAborted();
    const workers = Array.from({ length: Math.min(concurrency, this.#tasks.length) }, () =>
      this.#work(),
    );
    const watch = this.#desk && setInterval(() => this.#leaveWhenStopped(), watchMs);
    const ends = await Promise.allSettled(workers).finally(() => clearInterval(watch));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    this.#broken.signal.throwIfAborted();
    const { total, done, solved, spend } = this.#progress();
    const failed = [...this.#failed.values()];
    const unfinished = total - done - failed.length;
    const stopReason = unfinished === 0 ? 'finished' : (this.#end ?? 'stopped');
    const unpriced = [...this.#unpriced];
    return { stopReason, total, done, solved, failed, unfinished, spend, unpriced };
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#options.stopWhen?.() === true) this.#end ??= 'stopped';
      const task = this.#end === undefined ? this.#tasks.shift() : undefined;
      if (task === undefined || this.#broken.signal.aborted) return;
      this.#running += 1;
      this.#tell();
      const grow = (): Promise<void> => this.#grow(task);
      try {
        if (this.#options.around === undefined) await grow();
        else await this.#options.around(grow, task.problem, task.attempt);
      } catch (error) {
        this.#broken.abort(error);
        throw error;
      } finally {
        this.#running -= 1;
      }
      this.#tell();
    }
  }

  async #grow({ problem, attempt, isAnew = false }: Task<Problem>): Promise<void> {
    const { run } = this.#options;
    if (isAnew) run.setAside(problem.id, attempt);
    using file = run.journalOf(problem.id, attempt);
    const signals = [this.#outside, this.#left.signal];
    let broken: { readonly error: unknown } | undefined;
    const journal: Journal = {
      lines: file.lines,
      mode: file.mode,
      append(line) {
        try {
          file.append(line);
        } catch (error) {
          broken ??= { error };
          throw error;
        }
      },
    };
    if (!isAnew && this.#charged.has(journalFileOf({ problem: problem.id, attempt }))) {
      this.#pool.notePrepaid(journal);
    }
    let spend: Spend | undefined;
    try {
      const plan = await this.#planOf(problem, attempt);
      const { environment, ...options } = plan;
      if (this.#desk !== undefined && options.budget?.ms !== undefined) throw hoursOfWaiting();
      const result = await search<State, Action>(environment, {
        ...options,
        stopWhen: [...listOf(options.stopWhen), () => this.#options.stopWhen?.() === true],
        journal,
        pool: this.#pool,
        ...(this.#desk !== undefined && {
          batches: this.#desk.of(this.#ownerOf(problem.id, attempt)),
        }),
        signal: AbortSignal.any(signals),
      });
      ({ spend } = result);
      // A disk that is full is no failure of the problem.
      if (broken !== undefined) throw broken.error;
      // Nor is one that another problem has found full.
      if (result.stopReason === 'failed') this.#outside.throwIfAborted();
      await this.#take({ problem, attempt }, plan, result);
    } catch (error) {
      if (this.#left.signal.aborted && error === this.#left.signal.reason) return;
      // What one problem cannot do, another may; what the disk or the caller refuses, none can.
      if (!EspalierError.isInstance(error) || error.scope === 'run') throw error;
      spend ??= { ...nothing, ...new JournalIndex(file.lines).total };
      this.#fail({ problem, attempt }, { reason: error.message, spend });
    }
  }

  /** What one problem makes impossible, another may not. */
  async #planOf(problem: Problem, attempt: number): Promise<Plan<State, Action>> {
    let plan: unknown;
    try {
      plan = await this.#options.plan(problem, attempt);
    } catch (cause) {
      this.#options.signal?.throwIfAborted();
      if (EspalierError.isInstance(cause) && cause.scope === 'run') throw cause;
      throw new EspalierError('usage', messageOf(cause), { cause });
    }
    if (typeof plan === 'object' && plan !== null) return plan as Plan<State, Action>;
    const message = `Expected \`plan\` to return an object, got ${describeValue(plan)}.`;
    throw new EspalierError('usage', message);
  }

  async #take(
    { problem, attempt }: Task<Problem>,
    plan: Plan<State, Action>,
    result: SearchResult<State, Action>,
  ): Promise<void> {
    const { stopReason, failure, spend, solved, unpriced } = result;
    for (const model of unpriced) this.#unpriced.add(model);
    if (stopReason === 'failed') {
      const reason = failure?.message ?? 'The search failed.';
      const noted = await this.#options.note?.(result, problem, attempt);
      this.#fail(
        { problem, attempt },
        { reason, spend, unpriced, ...(noted !== undefined && { noted }) },
      );
    } else if (stopReason === 'stopped' && this.#options.stopWhen?.() === true) {
      this.#end ??= 'stopped';
    } else if (stopReason === 'budget' && result.poolExhausted) {
      this.#end ??= 'budget';
    } else {
      const noted = await this.#options.note?.(result, problem, attempt);
      // Only in this order: what has an outcome has a tree.
      if (this.#options.trees ?? true) {
        const tree = treeToJson(result.tree, plan.environment);
        this.#options.run.saveTree({ problem: problem.id, attempt, step: 0, tree });
      }
      const outcome = { status: 'done', reason: stopReason, solved, spend, unpriced } as const;
      this.#settle({
        ...{ problem: problem.id, attempt, ...outcome },
        ...(noted !== undefined && { noted }),
      });
      this.#failuresInARow = 0;
    }
  }

  #fail(
    { problem, attempt }: Task<Problem>,
    why: Pick<ProblemOutcome, 'noted' | 'reason' | 'spend' | 'unpriced'>,
  ): void {
    this.#settle({ problem: problem.id, attempt, status: 'failed', solved: false, ...why });
    this.#failuresInARow += 1;
    if (this.#failuresInARow >= this.#maxFailuresInARow) this.#end ??= 'failing';
  }

  #settle(outcome: ProblemOutcome): void {
    this.#options.run.saveOutcome(outcome);
    this.#count(outcome);
  }

  #count(outcome: ProblemOutcome): void {
    if (outcome.status === 'failed') {
      this.#failed.set(keyOf(outcome.problem, outcome.attempt), outcome);
      return;
    }
    this.#done += 1;
    if (outcome.solved) this.#solved += 1;
  }

  #progress(): GenerateProgress {
    return {
      total: this.#total,
      done: this.#done,
      solved: this.#solved,
      failed: this.#failed.size,
      running: this.#running,
      ...(this.#desk !== undefined && { waiting: this.#desk.progress }),
      spend: this.#pool.spend,
    };
  }

  #tell(): void {
    this.#heed(this.#options.onProgress?.(this.#progress()));
  }

  /** A listener may be asynchronous: what it throws ends the run all the same. */
  #heed(told: unknown): void {
    Promise.resolve(told).catch((error) => this.#broken.abort(error));
  }
}

/** Whether calls of a search failed that may succeed another time. */
function isOutage({ problem, attempt }: ProblemOutcome, saved: SavedRun): boolean {
  if (!saved.hasJournal({ problem, attempt })) return false;
  for (const line of saved.journal({ problem, attempt }).lines) {
    if (line.type === 'failure' && (line.unavailable ?? line.transient) === true) return true;
  }
  return false;
}

function hoursOfWaiting(): EspalierError {
  const message =
    'Expected `plan` to set no `budget.ms` beside `batch`: what waits for a batch waits for hours.';
  return new EspalierError('usage', message, { scope: 'run' });
}

/** How often it is looked whether a run that waits for batches is to end, in milliseconds. */
const watchMs = 250;

/** The number of failures in a row that end a run that sets no other. */
export const usualFailuresInARow = 10;

const nothing: Spend = { simulations: 0, nodes: 0, calls: 0, tokens: 0, usd: 0, ms: 0 };

function keyOf(problem: string, attempt: number): string {
  return JSON.stringify([problem, attempt]);
}

function listOf<Value>(value: Value | readonly Value[] | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Value[]) : [value as Value];
}
