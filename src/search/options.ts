import { systemClock } from '../base/clock.ts';
import {
  expectation,
  expectFunction,
  expectInteger,
  expectMethods,
  expectNumber,
  expectObject,
  expectOneOf,
  expectText,
} from '../base/expect.ts';
import { expectNoOracle } from '../base/expect-no-oracle.ts';
import type { PriceTable } from '../calls/prices.ts';
import { expectPrice } from '../calls/pricing.ts';
import type { Order } from '../calls/sequencer.ts';
import type { Clock } from '../contracts/clock.ts';
import type { Budget } from '../contracts/spend.ts';
import { mcts } from './algorithms/mcts.ts';
import type { SearchAlgorithm, SearchOptions, StopCondition } from './contracts.ts';

/** What a search may spend where its caller sets no budget. */
export const defaultBudget: Budget = { simulations: 100 };

/**
 * Joins a budget that local work alone may never meet (one of nodes, calls, tokens or dollars), so that
 * every search ends.
 */
export const simulationsOfLastResort = 100_000;

/** Options with their defaults, checked. */
export interface CheckedOptions<State, Action> {
  readonly algorithm: SearchAlgorithm;
  readonly budget: Budget;
  readonly stopWhen: readonly StopCondition<State, Action>[];
  readonly concurrency: number;
  readonly order: Order;
  readonly discount: number;
  readonly seed: number | string;
  readonly prices: PriceTable;
  readonly clock: Clock;
}

const units: readonly string[] = ['simulations', 'nodes', 'calls', 'tokens', 'usd', 'ms'];

/** Fills in defaults and refuses what cannot be, in one sentence that names the option. */
export function checkOptions<State, Action>(
  options: SearchOptions<State, Action>,
): CheckedOptions<State, Action> {
  expectMethods('environment', options.environment, ['reset', 'step']);
  expectText('environment.name', options.environment.name);
  expectNoOracle('evaluator', 'evaluate', options.evaluator);
  if (options.tree !== undefined) expectMethods('tree', options.tree, ['backup', 'fork']);
  if (options.journal !== undefined) expectMethods('journal', options.journal, ['append']);
  if (options.pool !== undefined) expectMethods('pool', options.pool, ['charge']);
  const {
    algorithm = mcts(),
    budget = defaultBudget,
    stopWhen = [],
    concurrency = 1,
    order = 'arrival',
    discount = options.tree?.discount ?? 1,
    seed = options.tree?.origin.seed ?? 0,
    prices = {},
    clock = systemClock,
  } = options;
  expectMethods('policy', options.policy, ['propose']);
  if (options.evaluator !== undefined) {
    expectMethods('evaluator', options.evaluator, ['evaluate']);
    expectOneOf('evaluator.needs', options.evaluator.needs, ['proposed', 'realised']);
  }
  expectMethods('algorithm', algorithm, ['run']);
  expectMethods('clock', clock, ['now', 'sleep']);
  expectInteger('concurrency', concurrency, { min: 1 });
  expectOneOf('order', order, ['arrival', 'issued']);
  if (typeof seed !== 'string') expectNumber('seed', seed);
  expectNumber('discount', discount, { min: 0, max: 1 });
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
    throw expectation('signal', 'an AbortSignal', options.signal);
  }
  if (concurrency > 1 && algorithm.concurrency !== 'any') {
    throw expectation(
      'concurrency',
      `1 for ${algorithm.name} (${algorithm.concurrency.serial})`,
      concurrency,
    );
  }
  const conditions = Array.isArray(stopWhen) ? stopWhen : [stopWhen];
  for (const condition of conditions) expectFunction('stopWhen', condition);
  checkPrices(prices);
  return {
    algorithm,
    budget: withLastResort(checkBudget(budget)),
    stopWhen: conditions,
    concurrency,
    order,
    discount,
    seed,
    prices,
    clock,
  };
}

function checkBudget(budget: Budget): Budget {
  expectObject('budget', budget);
  for (const [unit, limit] of Object.entries(budget) as [string, unknown][]) {
    if (!units.includes(unit)) throw expectation('budget', `made of ${units.join(', ')}`, unit);
    if (limit === undefined) continue;
    if (unit === 'usd' || unit === 'ms') expectNumber(`budget.${unit}`, limit, { min: 0 });
    else expectInteger(`budget.${unit}`, limit, { min: 0, max: Number.POSITIVE_INFINITY });
  }
  // A limit that is present but undefined does not bind.
  const limits = Object.entries(budget) as [string, unknown][];
  return Object.fromEntries(limits.filter(([, limit]) => limit !== undefined));
}

function checkPrices(prices: PriceTable): void {
  expectObject('prices', prices);
  for (const [modelId, price] of Object.entries(prices)) {
    expectPrice(price, (field) => `prices['${modelId}']${field}`);
  }
}

function withLastResort(budget: Budget): Budget {
  // Nodes do not bind a search that comes back to those it has.
  const bound = budget.simulations ?? budget.ms;
  return bound === undefined ? { ...budget, simulations: simulationsOfLastResort } : budget;
}
