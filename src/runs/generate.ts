import { join } from 'node:path';
import { EspalierError } from '../base/errors.ts';
import { describeValue } from '../base/expect.ts';
import { messageOf, sentenceOf } from '../base/failure.ts';
import { withPlace } from '../base/user-module.ts';
import { BudgetPool } from '../calls/budget-pool.ts';
import type { Journal } from '../calls/journal.ts';
import { JournalIndex } from '../calls/journal-index.ts';
import type { Spend } from '../contracts/spend.ts';
import type { SearchResult } from '../search/contracts.ts';
import { search } from '../search/search.ts';
import { treeToJson } from '../tree/serialize.ts';
import { BatchDesk } from './batch-desk.ts';
import {
  checkGenerateOptions,
  type GenerateOptions,
  type GenerateProgress,
  type GenerateReport,
} from './generate-options.ts';
import {
  batchesFile,
  isOutage,
  journalFileOf,
  type ProblemOutcome,
  paidIn,
  readRun,
  type SavedRun,
  timesSetAside,
} from './run-folder.ts';

/**
 * Searches many problems under one budget, several at once, and saves everything in a run folder. It can be killed at
 * any time: finished work is not repeated, and interrupted searches continue from their journals, without paying twice.
 *
 * @throws EspalierError `usage` for an invalid option, and `storage` if the run cannot be written; data written before
 * is kept.
 */
export function generate<Problem extends Readonly<Record<'id', string>>, State, Action>(
  options: GenerateOptions<Problem, State, Action>,
): Promise<GenerateReport> {
  const checked = checkGenerateOptions(options);
  return new Generation(options, checked).run(checked.concurrency);
}

interface Task<Problem> {
  readonly problem: Problem;
  readonly attempt: number;
  /** Whether its earlier paid calls are set aside. */
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
  /** If the disk is full or the caller has aborted, all other searches end as well. */
  readonly #broken = new AbortController();
  /** Searches that wait for a batch are left when the run is to end, because that may take hours. */
  readonly #left = new AbortController();
  readonly #desk: BatchDesk | undefined;
  /** The journals that may be repeated and were charged to the pool. */
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

  /** Aborts when no search can continue. */
  get #outside(): AbortSignal {
    const { signal } = this.#options;
    const own = this.#broken.signal;
    return signal === undefined ? own : AbortSignal.any([own, signal]);
  }

  /** Identifies an attempt for batches: one that starts over must not get the answers of its predecessor. */
  #ownerOf(problem: string, attempt: number): string {
    const name = journalFileOf({ problem, attempt });
    return `${name}#${timesSetAside(this.#options.run.path, { problem, attempt })}`;
  }

  /** Runs in a timer, where nobody else would hear what a listener throws. */
  #watch(): void {
    try {
      if (this.#desk !== undefined) this.#leaveWhenStopped();
      this.#tell();
    } catch (error) {
      this.#broken.abort(error);
    }
  }

  #leaveWhenStopped(): void {
    if (this.#options.stopWhen?.() !== true) return;
    this.#end ??= 'stopped';
    this.#left.abort(new Error('The run was stopped.'));
  }

  /** Counts attempts that an earlier session has finished; the others are to do. */
  #plan(task: Task<Problem>, saved: SavedRun, outcome: ProblemOutcome | undefined): void {
    for (const model of outcome?.unpriced ?? []) this.#unpriced.add(model);
    const { retryFailed = false } = this.#options;
    if (outcome === undefined) {
      this.#tasks.push(task);
    } else if (outcome.status === 'failed' && retryFailed !== 'anew' && isOutage(outcome, saved)) {
      // It continues where it was, and its journal is charged then.
      this.#tasks.push(task);
    } else if (outcome.status === 'failed' && retryFailed !== false) {
      // It would fail again with the same replies, so it starts over.
      this.#tasks.push({ ...task, isAnew: true });
    } else {
      this.#count(outcome);
      const { simulations, nodes } = outcome.spend;
      this.#pool.charge(outcome.status === 'done' ? outcome.spend : { simulations, nodes });
    }
  }

  /**
   * Charges the contents of journals before anything new is bought: those of failed and unfinished attempts, and those
   * set aside.
   */
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
    const watch = setInterval(() => this.#watch(), watchMs);
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
      // A full disk is not a failure of the problem.
      if (broken !== undefined) throw broken.error;
      // Nor is a disk that another problem has found full.
      if (result.stopReason === 'failed') this.#outside.throwIfAborted();
      await this.#take({ problem, attempt }, plan, result);
    } catch (error) {
      if (this.#left.signal.aborted && error === this.#left.signal.reason) return;
      this.#outside.throwIfAborted();
      spend ??= { ...nothing, ...new JournalIndex(file.lines).total };
      this.#fail({ problem, attempt }, { reason: reasonOf(error), spend });
    }
  }

  /** An invalid plan of one problem does not affect the others. */
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
    const isCutShort = stopReason === 'stopped' || stopReason === 'failed';
    if (isCutShort && this.#options.stopWhen?.() === true) {
      this.#end ??= 'stopped';
    } else if (stopReason === 'failed') {
      const reason = failure?.message ?? 'The search failed.';
      const noted = await this.#options.note?.(result, problem, attempt);
      this.#fail(
        { problem, attempt },
        { reason, spend, unpriced, ...(noted !== undefined && { noted }) },
      );
    } else if (stopReason === 'budget' && result.poolExhausted) {
      this.#end ??= 'budget';
    } else {
      const noted = await this.#options.note?.(result, problem, attempt);
      // In this order, so that every outcome has a tree.
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

  /** Handles a listener that may be asynchronous: its exception ends the run, too. */
  #heed(told: unknown): void {
    Promise.resolve(told).catch((error) => this.#broken.abort(error));
  }
}

/**
 * Why an attempt failed. What fails for one problem may succeed for another, code of an algorithm included; a failure of
 * the disk affects all.
 */
function reasonOf(error: unknown): string {
  if (!EspalierError.isInstance(error)) return withPlace(sentenceOf(messageOf(error)), error);
  if (error.scope === 'run') throw error;
  return error.message;
}

function hoursOfWaiting(): EspalierError {
  const message =
    'Expected `plan` to set no `budget.ms` beside `batch`: requests in a batch may wait for hours.';
  return new EspalierError('usage', message, { scope: 'run' });
}

/** How often a run tells its progress and, where it waits for batches, checks whether it is to end, in milliseconds. */
const watchMs = 1000;

const nothing: Spend = { simulations: 0, nodes: 0, calls: 0, tokens: 0, usd: 0, ms: 0 };

function keyOf(problem: string, attempt: number): string {
  return JSON.stringify([problem, attempt]);
}

function listOf<Value>(value: Value | readonly Value[] | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Value[]) : [value as Value];
}
