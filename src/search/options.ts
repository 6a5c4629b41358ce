import { systemClock } from '../base/clock.ts';
import { EspalierError } from '../base/errors.ts';
import {
  expectation,
  expectBoolean,
  expectFunction,
  expectInteger,
  expectIterable,
  expectMethods,
  expectNumber,
  expectObject,
  expectOneOf,
  expectSignal,
  expectText,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { provenanceOf } from '../base/provenance.ts';
import { type BudgetPool, limitsOf } from '../calls/budget-pool.ts';
import type { Journal } from '../calls/journal.ts';
import type { PriceTable } from '../calls/prices.ts';
import { checkPrices } from '../calls/pricing.ts';
import type { Order } from '../calls/sequencer.ts';
import type { Batches } from '../contracts/batch.ts';
import type { Clock } from '../contracts/clock.ts';
import type { Environment } from '../contracts/environment.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Policy } from '../contracts/policy.ts';
import type { Provenance } from '../contracts/provenance.ts';
import type { Budget } from '../contracts/spend.ts';
import type { SearchTree } from '../tree/tree.ts';
import { mcts } from './algorithms/mcts.ts';
import type { SearchAlgorithm, SearchOptions, SearchResult, StopCondition } from './contracts.ts';
import { evaluatorOf, expectAlgorithm, policyOf } from './parts.ts';
import { withOutcome } from './with-outcome.ts';

/** The budget of a search if the caller sets none. */
export const defaultBudget: Budget = { simulations: 100 };

/**
 * Added to a budget that local work alone may never reach (a limit on nodes, calls, tokens or dollars), so that every
 * search ends.
 */
export const simulationsOfLastResort = 100_000;

/** Checked options with their defaults. */
export interface CheckedOptions<State, Action> {
  /** The environment, wrapped by `outcome` if one was given. */
  readonly environment: Environment<State, Action>;
  readonly policy: Policy<State, Action>;
  readonly evaluator: Evaluator<State, Action> | undefined;
  readonly algorithm: SearchAlgorithm<State, Action>;
  readonly method: SearchResult<State, Action>['method'];
  readonly journal: Journal | undefined;
  readonly pool: BudgetPool | undefined;
  readonly batches: Batches | undefined;
  readonly retryFailed: boolean;
  readonly fill: boolean;
  readonly signal: AbortSignal | undefined;
  readonly tree: SearchTree<State, Action> | undefined;
  readonly budget: Budget;
  readonly stopWhen: readonly StopCondition<State, Action>[];
  readonly concurrency: Exclude<SearchOptions['concurrency'], number | undefined>;
  readonly order: Order;
  readonly discount: number;
  readonly seed: number | string;
  readonly prices: PriceTable;
  readonly clock: Clock;
}

const known =
  'method policy evaluator algorithm outcome budget pool batches stopWhen concurrency order discount signal seed prices journal retryFailed fill tree clock';

/** Fills in defaults, and refuses impossible options in one sentence that names the option. */
export function checkOptions<State, Action>(
  environment: Environment<State, Action>,
  options: SearchOptions<State, Action>,
): CheckedOptions<State, Action> {
  expectMethods('environment', environment, ['reset', 'step']);
  expectText('environment.name', environment.name);
  for (const name of ['key', 'answer'] as const) {
    if (environment[name] !== undefined) expectFunction(`environment.${name}`, environment[name]);
  }
  expectObject('options', options);
  expectOptions('search', options, known);
  const { journal, method, outcome, pool, batches, signal, tree } = options;
  const { retryFailed = false, fill = false } = options;
  if (method !== undefined) {
    expectObject('method', method);
    expectOptions('method', method, 'name policy evaluator algorithm stopWhen pairs');
    expectAlgorithm('method.algorithm', method.algorithm);
  }
  checkOthers(options);
  const {
    policy: proposer = method?.policy,
    evaluator: valuer = method?.evaluator,
    algorithm = method?.algorithm ?? mcts(),
    budget = defaultBudget,
    order = 'arrival',
    discount = tree?.discount ?? 1,
    seed = tree?.origin.seed ?? 0,
    prices = {},
    clock = systemClock,
  } = options;
  const policy = policyOf(proposer);
  const evaluator = evaluatorOf(valuer);
  expectAlgorithm('algorithm', algorithm);
  expectMethods('clock', clock, ['now', 'sleep']);
  const concurrency = concurrencyOf(options.concurrency);
  expectOneOf('order', order, ['arrival', 'issued']);
  if (typeof seed !== 'string' && !Number.isFinite(seed)) {
    throw expectation('seed', 'a finite number or a text', seed);
  }
  expectNumber('discount', discount, { min: 0, max: 1 });
  expectSignal(signal);
  if (concurrency.simulations > 1 && algorithm.concurrency !== 'any') {
    const allowed = `1 for ${algorithm.name} (${algorithm.concurrency.serial})`;
    throw expectation('concurrency', allowed, concurrency.simulations);
  }
  expectBoolean('fill', fill);
  checkPrices(prices);
  checkNotation(environment, provenanceOf(policy, evaluator));
  return {
    ...{ journal, pool, batches, retryFailed, fill, signal, tree },
    environment: outcome === undefined ? environment : withOutcome(environment, outcome),
    ...{ policy, evaluator, algorithm, method: useOf(options), stopWhen: conditionsOf(options) },
    budget: withLastResort(limitsOf(budget)),
    ...{ concurrency, order, discount, seed, prices, clock },
  };
}

/** Checks what a search shares with others, or takes over from them. */
function checkOthers<State, Action>({
  journal,
  pool,
  batches,
  tree,
  retryFailed = false,
}: SearchOptions<State, Action>): void {
  expectBoolean('retryFailed', retryFailed);
  if (tree !== undefined) expectMethods('tree', tree, ['backup', 'fork']);
  if (journal !== undefined) {
    expectMethods('journal', journal, ['append']);
    expectIterable('journal.lines', 'the lines of a journal', journal.lines);
  }
  if (pool !== undefined) expectMethods('pool', pool, ['charge']);
  if (batches !== undefined) expectMethods('batches', batches, ['send']);
}

function concurrencyOf(
  given: SearchOptions['concurrency'] = 1,
): CheckedOptions<unknown, unknown>['concurrency'] {
  if (typeof given !== 'object') {
    expectInteger('concurrency', given, { min: 1 });
    // Room for the samples of an expansion, and for a few of them at each simulation.
    return { simulations: given, calls: Math.max(16, 4 * given) };
  }
  // For callers without types: `null` is an object too.
  expectObject('concurrency', given);
  const { simulations, calls } = given;
  expectOptions('concurrency', given, 'simulations calls');
  expectInteger('concurrency.simulations', simulations, { min: 1 });
  expectInteger('concurrency.calls', calls, { min: 1 });
  return { simulations, calls };
}

/** Refuses a part that shows states to a model if there is no notation: it would fail at every node. */
function checkNotation<State, Action>(
  { name, notation }: Environment<State, Action>,
  { needsNotation = [] }: Provenance,
): void {
  if (needsNotation.length === 0) return;
  if (notation === undefined) {
    const parts = needsNotation.map((part) => `\`${part}\``).join(' and ');
    throw new EspalierError(
      'usage',
      `Expected the environment ${name} to have a \`notation\`: ${parts} cannot show its states to a model without one.`,
    );
  }
  expectMethods('environment.notation', notation, ['prompt', 'format', 'parse']);
}

const parts = ['policy', 'evaluator', 'algorithm'] as const;

/** The parts of the method that other options replaced. */
function useOf<State, Action>(
  options: SearchOptions<State, Action>,
): SearchResult<State, Action>['method'] {
  const { method } = options;
  if (method === undefined) return undefined;
  const replaced = parts.filter((part) => (options[part] ?? method[part]) !== method[part]);
  return { name: method.name, replaced };
}

/** The conditions of the method together with those in the options. */
function conditionsOf<State, Action>({
  method,
  stopWhen = [],
}: SearchOptions<State, Action>): readonly StopCondition<State, Action>[] {
  const own = Array.isArray(stopWhen) ? stopWhen : [stopWhen];
  const conditions = [...(method?.stopWhen ?? []), ...own];
  for (const condition of conditions) expectFunction('stopWhen', condition);
  return conditions;
}

function withLastResort(budget: Budget): Budget {
  if (Object.keys(budget).length === 0) return defaultBudget;
  // A limit on nodes does not stop a search that revisits existing nodes.
  const bound = budget.simulations ?? budget.ms;
  return bound === undefined ? { ...budget, simulations: simulationsOfLastResort } : budget;
}
