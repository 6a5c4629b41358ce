import { EspalierError } from '../base/errors.ts';
import {
  expectArray,
  expectation,
  expectBoolean,
  expectFunction,
  expectInteger,
  expectMethods,
  expectNumber,
  expectObject,
  expectOneOf,
  expectText,
  expectUnique,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { nearestName } from '../base/nearest-name.ts';
import { limitsOf } from '../calls/budget-pool.ts';
import type { PriceTable } from '../calls/prices.ts';
import { checkPrices, listedPrice, priceOf } from '../calls/pricing.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Budget } from '../contracts/spend.ts';
import type { GenerateProgress } from '../runs/generate-options.ts';
import { budgetKey } from './arms.ts';
import {
  type BenchMethod,
  type BenchModels,
  type BenchPlan,
  baselinesFor,
  benchMethod,
  expectVotes,
  type Sampling,
} from './methods.ts';
import type { BenchBudget, BenchReport } from './report.ts';
import type { BenchInstance, BenchTask } from './task.ts';

/** Options of `compare`. */
export interface CompareOptions {
  /** The task on which methods are compared. */
  readonly task: BenchTask;
  /** The model that proposes. @defaultValue none: the task provides policy and evaluator */
  readonly model?: LanguageModel;
  /** The model that judges. @defaultValue `model` */
  readonly judgeModel?: LanguageModel;
  /**
   * Algorithms and published methods by name, and your own plans. Greedy, best-of-N and, if the task has answers to
   * vote on, self-consistency are always included.
   */
  readonly methods: readonly (BenchMethod | string)[];
  /** The budgets of searches: each method runs with each of them. */
  readonly budgets: readonly BenchBudget[];
  /**
   * The sampling temperature of all algorithms except greedy, including best-of-N, which a badly chosen one makes easy
   * to beat.
   *
   * @defaultValue that of `fromModel`
   */
  readonly temperature?: number;
  /**
   * A policy, an evaluator or both, for all methods given by name in place of their own. It is called for each search, with
   * the models to ask. @defaultValue none: the model proposes and judges, or what the task provides
   */
  readonly guides?: (
    instance: BenchInstance,
    models: BenchModels,
  ) => MaybePromise<Pick<BenchPlan, 'evaluator' | 'policy'>>;
  /** The folder for all results. Work already there is not repeated. */
  readonly out: string;
  /**
   * The folder of paid answers, which benchmarks can share: each uses what it finds there when it begins, and concurrent
   * ones buy for themselves. @defaultValue `recording` in `out`
   */
  readonly recording?: string;
  /** The split of the task. @defaultValue its first */
  readonly split?: string;
  /** The maximum number of instances: an integer from 1 up. @defaultValue all, of generated tasks 100 */
  readonly limit?: number;
  /** The longest step, in tokens: an integer from 1 up. @defaultValue that of the task */
  readonly maxTokens?: number;
  /** Independent searches per instance, method and budget: an integer from 1 up. @defaultValue 1 */
  readonly seeds?: number;
  /** @defaultValue 0 */
  readonly seed?: number | string;
  /** The method that all others are compared with. @defaultValue `'best-of-n'` */
  readonly baseline?: string;
  /** The maximum of concurrent searches and model calls: an integer from 1 up. @defaultValue 4 */
  readonly concurrency?: number;
  /**
   * Whether reused answers take as long as the original call, so that times are realistic. Otherwise they come at once,
   * and reports have no times.
   *
   * @defaultValue `true`
   */
  readonly paced?: boolean;
  /**
   * The budget of the entire benchmark, including earlier sessions: of all that searches are charged, so that less is spent
   * if they share requests.
   *
   * @defaultValue no limit
   */
  readonly budget?: Omit<Budget, 'ms'>;
  /** Prices by model id, taking precedence over known ones. */
  readonly prices?: PriceTable;
  /** Ends the benchmark gracefully when it returns true; the same call continues it. */
  readonly stopWhen?: () => boolean;
  /** Rejects when it aborts. Paid answers are kept. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a search starts or ends, with what searches were charged (`spend`) and what was `bought`. */
  readonly onProgress?: (
    progress: GenerateProgress & { readonly bought: BenchReport['spend']['bought'] },
  ) => void;
}

const names =
  'task model judgeModel methods budgets temperature guides out recording split limit maxTokens seeds seed baseline concurrency paced budget prices stopWhen signal onProgress';

const units = ['calls', 'ms', 'tokens', 'usd'] as const;

/** @throws EspalierError `usage` for an option that cannot be. */
export function expectCompareOptions(options: CompareOptions): void {
  expectOptions('compare', options, names);
  const { task, seeds = 1, concurrency = 4, limit = 1, maxTokens = 1, prices = {} } = options;
  const { paced = true } = options;
  expectMethods('task', task, ['instances']);
  expectText('task.name', task.name);
  expectText('task.title', task.title);
  expectText('out', options.out);
  if (options.recording !== undefined) expectText('recording', options.recording);
  expectArray('methods', options.methods);
  for (const name of ['model', 'judgeModel'] as const) {
    if (options[name] !== undefined) expectMethods(name, options[name], ['generate']);
  }
  for (const name of ['guides', 'stopWhen', 'onProgress'] as const) {
    if (options[name] !== undefined) expectFunction(name, options[name]);
  }
  expectBoolean('paced', paced);
  expectBudgets(options.budgets, paced);
  checkPrices(prices);
  if (options.temperature !== undefined) {
    expectNumber('temperature', options.temperature, { min: 0 });
  }
  expectInteger('seeds', seeds, { min: 1 });
  expectInteger('concurrency', concurrency, { min: 1 });
  expectInteger('limit', limit, { min: 1 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  if (options.budget !== undefined) limitsOf(options.budget, 'simulations nodes calls tokens usd');
}

/** What a comparison measures. */
export interface Measured {
  /** The methods that are compared with in any case. */
  readonly baselines: readonly string[];
  /** All methods, baselines first. */
  readonly methods: readonly BenchMethod[];
}

/** @throws EspalierError `usage` for options that do not go with each other, or with the instances. */
export function measuredBy(options: CompareOptions, instances: readonly BenchInstance[]): Measured {
  const { task, baseline = 'best-of-n' } = options;
  expectVotes(options.methods, { task, instances });
  expectPrices(options, instances);
  const baselines = baselinesFor(instances);
  const methods = methodsOf(baselines, options.methods, options);
  const names = methods.map(({ name }) => name);
  if (!names.includes(baseline)) {
    throw expectation('baseline', `one of ${names.join(', ')}`, baseline);
  }
  return { baselines, methods };
}

/** Each method once, in order. */
function methodsOf(
  baselines: readonly string[],
  given: readonly (BenchMethod | string)[],
  sampling: Sampling,
): readonly BenchMethod[] {
  const methods = [...new Set([...baselines, ...given])].map((each) => benchMethod(each, sampling));
  const asked = [...baselines.filter((name) => !given.includes(name)), ...given];
  const names = asked.map((each) => (typeof each === 'string' ? each : each.name));
  expectUnique('methods', names);
  return methods;
}

function expectBudgets(budgets: readonly BenchBudget[], paced: boolean): void {
  expectArray('budgets', budgets);
  if (budgets.length === 0) throw expectation('budgets', 'one or more', budgets);
  for (const [place, budget] of budgets.entries()) {
    const name = `budgets[${place}]`;
    expectOptions(name, budget, 'unit limit');
    expectOneOf(`${name}.unit`, budget.unit, units);
    expectNumber(`${name}.limit`, budget.limit, { min: 0 });
    if (budget.limit === 0) throw expectation(`${name}.limit`, 'more than 0', budget.limit);
    const key = budgetKey(budget);
    const isCounted = budget.unit === 'calls' || budget.unit === 'tokens';
    if (isCounted && !Number.isInteger(budget.limit)) {
      throw expectation('budgets', 'whole numbers of calls and tokens', key);
    }
    if (budget.unit === 'ms' && !paced) {
      const expected = 'in tokens, calls or usd: recorded answers come at once without times';
      throw expectation('budgets', expected, key);
    }
  }
  expectUnique('budgets', budgets.map(budgetKey));
}

/** Where dollars are limited, a model without a price is refused before anything is bought. */
function expectPrices(
  { model, judgeModel, budgets, budget, prices = {} }: CompareOptions,
  instances: readonly BenchInstance[],
): void {
  const asked = [model, ...instances.map((each) => each.model)].filter(
    (each) => each !== undefined,
  );
  const models = judgeModel === undefined ? asked : [...asked, judgeModel];
  expectKnownNames(prices, models);
  const areBudgets = budgets.some(({ unit }) => unit === 'usd');
  if (!areBudgets && budget?.usd === undefined) return;
  for (const each of models) priceOf(each, prices, true);
  if (!areBudgets) return;
  const isFree = (each: LanguageModel) => {
    const { input = 0, output = 0 } = priceOf(each, prices, false) ?? {};
    return input === 0 && output === 0;
  };
  const free = asked.find(isFree);
  if (asked.length > 0 && free === undefined) return;
  const what =
    free === undefined ? 'there is no model to pay' : `\`${free.modelId}\` costs nothing`;
  const key = free === undefined ? '' : `, in code \`prices['${free.modelId}']\``;
  throw new EspalierError(
    'usage',
    `A budget in usd limits nothing where ${what}: give a price above 0 (\`--price-in\` and \`--price-out\`${key}), or use a budget in tokens or calls.`,
  );
}

/** A price that no model has would leave the one that was meant at another price, or at none. */
function expectKnownNames(prices: PriceTable, models: readonly LanguageModel[]): void {
  if (models.length === 0) return;
  const unknown = Object.entries(prices).find(([name, price]) =>
    models.every((each) => listedPrice({ [name]: price }, each) === undefined),
  );
  if (unknown === undefined) return;
  const [name] = unknown;
  const ids = [...new Set(models.map(({ modelId }) => modelId))];
  const meant = ids.find((id) => name.endsWith(`:${id}`)) ?? nearestName(name, ids);
  const hint =
    meant === undefined ? `Its models are ${ids.join(', ')}.` : `Did you mean \`${meant}\`?`;
  const message = `No model of this benchmark has the price of \`${name}\` in \`prices\`. ${hint}`;
  throw new EspalierError('usage', message);
}

/** The instances that a task gave. */
export function expectInstances(given: unknown): readonly BenchInstance[] {
  expectArray('task.instances()', given);
  const instances = given as readonly BenchInstance[];
  if (instances.length === 0) throw expectation('task', 'one with instances', 'none');
  for (const [place, instance] of instances.entries()) {
    const name = `task.instances()[${place}]`;
    expectObject(name, instance);
    const { id, environment, model, oracle } = instance;
    expectText(`${name}.id`, id);
    expectMethods(`${name}.environment`, environment, ['reset', 'step']);
    if (model !== undefined) expectMethods(`${name}.model`, model, ['generate']);
    if (oracle !== undefined) expectMethods(`${name}.oracle`, oracle, ['label']);
  }
  const ids = instances.map(({ id }) => id);
  expectUnique('task.instances()', ids, 'have unique ids');
  return instances;
}
