import { openScope } from '#platform';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import { espalierVersion } from '../base/version.ts';
import { withLimit } from '../calls/middleware/with-limit.ts';
import { priceOf } from '../calls/pricing.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Oracle } from '../contracts/verifier.ts';
import { generate } from '../runs/generate.ts';
import type { GenerateReport } from '../runs/generate-options.ts';
import { type ProblemOutcome, type RunFolder, readRun } from '../runs/run-folder.ts';
import type { SearchResult } from '../search/contracts.ts';
import { budgetKey } from './arms.ts';
import { callsMade } from './calls-made.ts';
import type { BenchCell } from './cell.ts';
import { type CellName, cellOf, failedCell } from './cells.ts';
import {
  type CompareOptions,
  expectCompareOptions,
  expectInstances,
  measuredBy,
} from './compare-options.ts';
import { expectRoom } from './first-call.ts';
import { asJson, nameOrNull, openFolders } from './folders.ts';
import { type BenchMethod, planOf, shownTo } from './methods.ts';
import { expectModels } from './obstacle.ts';
import type { Recording } from './recording.ts';
import type { BenchBudget, BenchReport } from './report.ts';
import { reportOf } from './summary.ts';
import type { BenchInstance, BenchTask } from './task.ts';
import { expectSplit } from './tasks/request.ts';

/** The result of a comparison. */
export interface Compared {
  /** The report on the searches that have ended. */
  readonly report: BenchReport;
  /** The searches behind the report. */
  readonly cells: readonly BenchCell[];
  /** Why it ended. */
  readonly stopReason: GenerateReport['stopReason'];
  /** The number of searches still to be made. */
  readonly unfinished: number;
}

/**
 * Compares search methods on the same problems at the same budgets. Each is charged for everything it uses, but equal
 * requests for the same instance and attempt are paid for once. Attempts and instances are independent of each other.
 * It can be killed at any time and continues where it was; failed searches are repeated.
 *
 * @throws EspalierError `usage` for an invalid option, an unusable model, or a folder of another benchmark; `locked`,
 * `storage`.
 */
export async function compare(options: CompareOptions): Promise<Compared> {
  expectCompareOptions(options);
  // Read once: a budget that changes would be a different one for each search.
  const budgets = options.budgets.map(({ unit, limit }) => ({ unit, limit }));
  return compareAll({ ...options, budgets });
}

async function compareAll(options: CompareOptions): Promise<Compared> {
  const {
    task,
    split,
    limit,
    seed = 0,
    budgets,
    seeds = 1,
    baseline = 'best-of-n',
    prices = {},
  } = options;
  const asked = {
    seed,
    ...(split !== undefined && { split }),
    ...(limit !== undefined && { limit }),
  };
  // Tasks of one's own need not look at it.
  expectSplit(task, split);
  const drawn: unknown = await task.instances(asked);
  const instances = expectInstances(drawn).slice(0, limit);
  const paid = options.model ?? instances[0]?.model;
  const { baselines, methods } = measuredBy(options, instances);
  const tight = await expectRoom(options, { methods, instances });
  await expectModels(options, instances);
  const { run: opened, recording } = openFolders(options, instances);
  using run = opened;
  const searches = inTurn(instances, options).flatMap((group) =>
    budgets.flatMap((budget) =>
      methods.flatMap((method) => group.map((instance) => ({ instance, budget, method }))),
    ),
  );
  const bench = new Benchmark(
    options,
    recording,
    searches.map((each) => named(task, each)),
  );
  const grown = await bench.run(run);
  const cells = bench.cells(readRun(run.path).outcomes, seeds);
  const found = reportOf(cells, {
    task: {
      ...{ name: task.name, title: task.title },
      ...{ source: task.source ?? null, licence: task.licence ?? null },
      ...{ spec: task.spec ?? null, split: split ?? task.splits?.[0] ?? null },
    },
    ...{ model: nameOrNull(options.model), judgeModel: nameOrNull(options.judgeModel) },
    temperature: options.temperature ?? null,
    ...defined({ maxTokens: options.maxTokens, price: paid && priceOf(paid, prices, false) }),
    ...{ seeds, seed, baseline, baselines: [...new Set([...baselines, baseline])] },
    bought: bench.bought(seeds),
    versions: { espalier: espalierVersion(), node: process.versions.node },
  });
  const report = { ...found, warnings: [...tight, ...found.warnings] };
  run.writeReport(asJson(report));
  return { report, cells, stopReason: grown.stopReason, unfinished: grown.unfinished };
}

/** So many instances at a time that the searches under way are of different ones: those of one share what was bought. */
function inTurn(
  instances: readonly BenchInstance[],
  { concurrency = 4, seeds = 1 }: CompareOptions,
): readonly (readonly BenchInstance[])[] {
  const size = Math.ceil(concurrency / seeds);
  return Array.from({ length: Math.ceil(instances.length / size) }, (_, place) =>
    instances.slice(place * size, (place + 1) * size),
  );
}

/** One method on one instance at one budget, as a problem of a run. */
interface Search {
  readonly id: string;
  readonly instance: BenchInstance;
  readonly budget: BenchBudget;
  readonly method: BenchMethod;
}

/** A search whose task or instance has changed is another one. What it asks may be answered already. */
function named(
  { revision: ofTask }: BenchTask,
  { instance, budget, method }: Omit<Search, 'id'>,
): Search {
  const { id: name, environment, revision } = instance;
  const ofMethod = method.revision === undefined ? [] : [method.revision];
  const revisions = [ofTask, environment.name, revision, ...ofMethod].map((each) => each ?? null);
  const id = JSON.stringify([name, method.name, budgetKey(budget), ...revisions]);
  return { id, instance, budget, method };
}

/** No search makes more simulations: what costs nothing would go on for ever. */
const mostSimulations = 10_000;

/** The search that the running code belongs to. */
const searching = openScope<{ readonly of: Benchmark; readonly search: string }>();

class Benchmark {
  readonly #options: CompareOptions;
  readonly #recording: Recording;
  readonly #searches: readonly Search[];
  readonly #limit: ReturnType<typeof withLimit>;
  /** When the last search of each instance and attempt that was begun is over. */
  readonly #turns = new Map<string, Promise<void>>();
  /** How a search says that it is. */
  readonly #ends = new Map<string, () => void>();
  /** What was measured of searches that are to be made again. */
  readonly #again = new Map<string, BenchCell>();

  constructor(options: CompareOptions, recording: Recording, searches: readonly Search[]) {
    this.#options = options;
    this.#recording = recording;
    this.#searches = searches;
    this.#limit = withLimit({ concurrency: options.concurrency ?? 4 });
  }

  run(run: RunFolder): Promise<GenerateReport> {
    const { seeds = 1, concurrency = 4, budget, signal, stopWhen, onProgress } = this.#options;
    const isFree = this.#options.model === undefined;
    return generate<Search, unknown, unknown>({
      run,
      problems: this.#searches,
      attempts: seeds,
      concurrency,
      trees: false,
      // What they have bought is in the recording: to search them again buys only what was missing. The budget of such a
      // search is whole, so that it can be compared with others.
      retryFailed: 'anew',
      // To go on with recorded answers, or with none, costs nothing.
      ...(isFree && { maxFailuresInARow: Number.POSITIVE_INFINITY }),
      plan: (search, attempt) => this.#plan(search, attempt),
      note: (result, search, attempt) => this.#note(result, search, attempt),
      around: (grow, search, attempt) =>
        searching
          .run({ of: this, search: keyOf(search.id, attempt) }, grow)
          .finally(() => this.#end(keyOf(search.id, attempt))),
      ...(budget !== undefined && { budget }),
      ...(signal !== undefined && { signal }),
      ...(stopWhen !== undefined && { stopWhen }),
      ...(onProgress !== undefined && {
        onProgress: (progress) => onProgress({ ...progress, bought: this.#recording.bought }),
      }),
    });
  }

  /** The cells of all searches that have an outcome, in the order in which they were asked for. */
  cells(outcomes: readonly ProblemOutcome[], seeds: number): readonly BenchCell[] {
    const found = new Map(outcomes.map((each) => [keyOf(each.problem, each.attempt), each]));
    return this.#searches.flatMap((search) =>
      Array.from({ length: seeds }, (_, attempt) => attempt).flatMap((attempt) => {
        const key = keyOf(search.id, attempt);
        const outcome = found.get(key);
        if (outcome === undefined) return [];
        const noted = (outcome.noted ?? this.#again.get(key)) as BenchCell | undefined;
        const { cluster } = nameOf(search, attempt);
        const cell =
          noted === undefined
            ? failedCell(nameOf(search, attempt), outcome, callsMade(this.#options.out, outcome))
            : { ...noted, cluster };
        return [this.#recording.isGuided(cell.method) ? { ...cell, isGuided: true } : cell];
      }),
    );
  }

  /** What was bought for the searches that were asked for. */
  bought(seeds: number): BenchReport['spend']['bought'] {
    const attempts = Array.from({ length: seeds }, (_, attempt) => attempt);
    const own = this.#searches.flatMap(({ id }) => attempts.map((attempt) => keyOf(id, attempt)));
    const { usd, ...rest } = this.#recording.boughtFor(new Set(own));
    // Dollars are binary fractions: what was bought first must not show in their sum.
    return { ...rest, usd: Number(usd.toPrecision(12)) };
  }

  async #plan({ id, instance, budget, method }: Search, attempt: number) {
    const { judgeModel, prices = {}, seed = 0 } = this.#options;
    const { id: name, oracle } = instance;
    const scope = this.#scopeOf(instance, attempt);
    const key = keyOf(id, attempt);
    await this.#turnOf(scope, key);
    this.#recording.begin(scope, key);
    const asked = instance.model ?? this.#options.model;
    const shown = shownTo(asked, instance, this.#options.maxTokens);
    const plan = await planOf(
      method,
      {
        ...shown,
        ...(oracle !== undefined && { oracle: this.#guarded(oracle, method, key) }),
      },
      {
        model: instance.model ?? this.#share(asked, scope),
        judgeModel: this.#share(judgeModel, scope),
      },
    );
    return {
      environment: shown.environment,
      ...plan,
      budget: { simulations: mostSimulations, [budget.unit]: budget.limit },
      // Random numbers of a method must not tell of the revision either.
      seed: JSON.stringify([seed, name, attempt]),
      prices,
      order: 'issued' as const,
    };
  }

  /** Searches of one scope share what was bought. */
  #scopeOf(instance: BenchInstance, attempt: number): string {
    const { seed = 0 } = this.#options;
    return JSON.stringify([seed, instance.id, attempt]);
  }

  /**
   * Waits until the search before it on the same instance and attempt is over. What was bought by whom, and together with
   * what, is then the same in every run.
   */
  async #turnOf(scope: string, key: string): Promise<void> {
    const before = this.#turns.get(scope);
    let end = (): void => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#turns.set(scope, over);
    this.#ends.set(key, end);
    await before;
  }

  /**
   * An oracle that notes the method that was given it, and that answers nobody else: only code that its own search runs, as
   * long as that is under way. Scores are asked of the oracle itself.
   */
  #guarded(oracle: Oracle<unknown>, { name }: BenchMethod, search: string): Oracle<unknown> {
    return {
      label: (state, context) => {
        const within = searching.getStore();
        if (within?.of !== this || within.search !== search || !this.#ends.has(search)) {
          const message = `Expected an oracle to be asked by the search whose plan was given it: that of \`${name}\` was asked by other code.`;
          throw new EspalierError('usage', message);
        }
        this.#recording.noteGuided(name);
        return oracle.label(state, context);
      },
    };
  }

  #end(key: string): void {
    this.#ends.get(key)?.();
    this.#ends.delete(key);
  }

  #share(model: LanguageModel | undefined, scope: string): LanguageModel | undefined {
    const { paced = true, prices = {} } = this.#options;
    return model && this.#recording.model(model, { scope, paced, prices, inner: this.#limit });
  }

  async #note(
    result: SearchResult<unknown, unknown>,
    search: Search,
    attempt: number,
  ): Promise<JsonValue> {
    const { paced: isPaced = true, signal = new AbortController().signal } = this.#options;
    const { instance } = search;
    const of = { problem: search.id, attempt };
    const reused = this.#recording.takeReused(this.#scopeOf(search.instance, attempt));
    const cell = await cellOf(nameOf(search, attempt), result, {
      ...{ instance, signal, isPaced, reused },
      calls: callsMade(this.#options.out, of),
    });
    const isVain = cell.isOutage === true || cell.isBroken === true || cell.status === 'unscored';
    if (isVain && result.stopReason !== 'failed') {
      // It has ended like any other, but nothing came of it, or nobody knows what: it is to be searched again.
      this.#again.set(keyOf(search.id, attempt), cell);
      throw new EspalierError('unavailable', cell.reason ?? 'Nothing came of the search.');
    }
    return cell as unknown as JsonValue;
  }
}

/** The key of one attempt of a search. */
function keyOf(id: string, attempt: number): string {
  return `${id}#${attempt}`;
}

function nameOf({ instance, method, budget }: Search, attempt: number): CellName {
  const { id, cluster = id } = instance;
  return { instance: id, cluster, method: method.name, budget, attempt };
}
