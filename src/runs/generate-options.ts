import {
  expectArray,
  expectation,
  expectBoolean,
  expectFunction,
  expectInteger,
  expectMethods,
  expectSignal,
  expectText,
  expectUnique,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { BudgetPool } from '../calls/budget-pool.ts';
import type { Environment } from '../contracts/environment.ts';
import type { JsonValue, MaybePromise } from '../contracts/json.ts';
import type { Spend } from '../contracts/spend.ts';
import type { SearchOptions, SearchResult } from '../search/contracts.ts';
import { type BatchOptions, type BatchProgress, checkBatchOptions } from './batch-desk.ts';
import type { ProblemOutcome, RunFolder } from './run-folder.ts';

/** The default number of consecutive failures that end a run. */
export const usualFailuresInARow = 10;

/** Options of {@link generate}. */
export interface GenerateOptions<Problem extends Readonly<Record<'id', string>>, State, Action> {
  /** The run folder. Work already recorded there is not repeated. */
  readonly run: RunFolder;
  /** The problems, in the order in which they are started, with unique `id`s. */
  readonly problems: readonly Problem[];
  /**
   * The search options of a problem, except those set by the run, such as journal and pool. Equal problems and attempts
   * must give equal plans, or an interrupted run cannot be resumed.
   */
  plan(
    problem: Problem,
    attempt: number,
  ): MaybePromise<
    Omit<SearchOptions<State, Action>, 'journal' | 'pool' | 'signal' | 'tree'> & {
      /** The environment of the problem. */
      readonly environment: Environment<State, Action>;
    }
  >;
  /**
   * Called with the result or failure of a search before its outcome is recorded. Its return value is stored as
   * `noted`.
   *
   * @defaultValue none
   */
  note?(
    result: SearchResult<State, Action>,
    problem: Problem,
    attempt: number,
  ): MaybePromise<JsonValue>;
  /** Whether to save trees. Outcomes and journals are always saved. @defaultValue true */
  readonly trees?: boolean;
  /** Trees per problem: an integer from 1 up. @defaultValue 1 */
  readonly attempts?: number;
  /** The budget of all searches together, including earlier sessions of the run. @defaultValue no limit */
  readonly budget?: ConstructorParameters<typeof BudgetPool>[0];
  /** Concurrent searches: an integer from 1 up. @defaultValue 4, with `batch` 500 */
  readonly concurrency?: number;
  /**
   * Whether to search failed problems again from the beginning. Those whose model was unreachable are always continued
   * where they were; with `'anew'` they start from the beginning too.
   *
   * @defaultValue `false`
   */
  readonly retryFailed?: boolean | 'anew';
  /** The number of consecutive failures that ends the run: from 1 up. @defaultValue 10 */
  readonly maxFailuresInARow?: number;
  /**
   * Sends model calls in batches, if the provider has them: at about half the price, with answers that may take hours.
   * All concurrent searches wait together, and more searches make larger batches, so the default of `concurrency` is
   * 500. A search needs one batch for each call in its longest chain of dependent calls: wide, shallow searches need
   * few. Batches of a session that ends or is killed stay at the provider; the next session continues with them and
   * pays for nothing twice. `true` means the defaults. A run uses batches from start to end, or not at all.
   *
   * @defaultValue every request is sent on its own
   */
  readonly batch?: boolean | BatchOptions;
  /**
   * Ends the run gracefully when it returns true. Unfinished searches continue in the next session; those waiting for a
   * batch are left at once.
   */
  readonly stopWhen?: () => boolean;
  /** Rejects when it aborts. Paid calls are kept. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a search starts or ends, and every second between. */
  readonly onProgress?: (progress: GenerateProgress) => void;
  /**
   * Wraps every search: `grow` plans it, runs it and records its outcome.
   *
   * @defaultValue `grow` is called directly
   */
  around?(grow: () => Promise<void>, problem: Problem, attempt: number): Promise<void>;
}

/** The progress of a run. */
export interface GenerateProgress {
  /** Trees requested. */
  readonly total: number;
  /** Trees finished, including earlier sessions. */
  readonly done: number;
  /** Finished trees with an end that scores 1 or more. */
  readonly solved: number;
  /** Failed searches. */
  readonly failed: number;
  /** Running searches. */
  readonly running: number;
  /** Requests waiting in batches; absent without batches. */
  readonly waiting?: BatchProgress;
  /** The spend, including earlier sessions, without calls in flight. `ms` is the time of this session alone. */
  readonly spend: Spend;
}

/** How a run ended. */
export interface GenerateReport extends Omit<GenerateProgress, 'failed' | 'running' | 'waiting'> {
  /**
   * Why it ended. `finished`: every search has ended. `budget`: the remaining budget does not cover another call.
   * `stopped`: `stopWhen` returned true. `failing`: too many consecutive searches failed.
   */
  readonly stopReason: 'budget' | 'failing' | 'finished' | 'stopped';
  /** The failed searches, with reasons. */
  readonly failed: readonly ProblemOutcome[];
  /** Trees still to be grown. */
  readonly unfinished: number;
  /** Models with an unknown price, in any session: their cost is not in `spend.usd`. */
  readonly unpriced: readonly string[];
}

/** The options of a run, checked. */
export interface CheckedGenerateOptions {
  readonly attempts: number;
  readonly concurrency: number;
  readonly maxFailuresInARow: number;
}

/** @throws EspalierError `usage` for an invalid option. */
export function checkGenerateOptions<Problem extends Readonly<Record<'id', string>>, State, Action>(
  options: GenerateOptions<Problem, State, Action>,
): CheckedGenerateOptions {
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
  if (typeof options.run === 'string')
    throw expectation('run', 'an open run, such as `openRun("runs/x")`', options.run);
  expectMethods('run', options.run, ['saveTree', 'journalOf']);
  expectFunction('plan', options.plan);
  const { note, trees = true, stopWhen, onProgress, around, signal } = options;
  for (const [name, given] of Object.entries({ note, stopWhen, onProgress, around })) {
    if (given !== undefined) expectFunction(name, given);
  }
  expectBoolean('trees', trees);
  expectSignal(signal);
  expectArray('problems', options.problems);
  for (const [place, problem] of options.problems.entries()) {
    expectText(`problems[${place}].id`, (Object(problem) as Problem).id);
  }
  const ids = options.problems.map(({ id }) => id);
  expectUnique('problems', ids, 'have unique ids');
  return { attempts, concurrency, maxFailuresInARow };
}
