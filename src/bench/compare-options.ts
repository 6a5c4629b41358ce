import {
  expectArray,
  expectation,
  expectInteger,
  expectMethods,
  expectNumber,
  expectObject,
  expectOneOf,
  expectText,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { priceOf } from '../calls/pricing.ts';
import { budgetKey } from './arms.ts';
import type { CompareOptions } from './bench.ts';
import type { BenchBudget } from './report.ts';
import type { BenchInstance } from './task.ts';

const names =
  'task model judgeModel methods budgets temperature out recording split limit maxTokens seeds seed baseline concurrency paced budget prices stopWhen signal onProgress';

const units = ['calls', 'ms', 'tokens', 'usd'] as const;

/** @throws EspalierError `usage` for an option that cannot be. */
export function expectCompareOptions(options: CompareOptions): void {
  expectOptions('compare', options, names);
  const { task, seeds = 1, concurrency = 4, limit = 1, maxTokens = 1 } = options;
  expectMethods('task', task, ['instances']);
  expectText('task.name', task.name);
  expectText('task.title', task.title);
  expectText('out', options.out);
  if (options.recording !== undefined) expectText('recording', options.recording);
  expectArray('methods', options.methods);
  expectBudgets(options.budgets, options.paced);
  if (options.temperature !== undefined) {
    expectNumber('temperature', options.temperature, { min: 0 });
  }
  expectInteger('seeds', seeds, { min: 1 });
  expectInteger('concurrency', concurrency, { min: 1 });
  expectInteger('limit', limit, { min: 1 });
  expectInteger('maxTokens', maxTokens, { min: 1 });
  if (options.budget !== undefined) {
    expectOptions('budget', options.budget, 'simulations nodes calls tokens usd');
  }
  expectPrices(options);
}

function expectBudgets(budgets: readonly BenchBudget[], paced = true): void {
  expectArray('budgets', budgets);
  if (budgets.length === 0) throw expectation('budgets', 'one or more', budgets);
  const known = new Set<string>();
  for (const [place, budget] of budgets.entries()) {
    const name = `budgets[${place}]`;
    expectOptions(name, budget, 'unit limit');
    expectOneOf(`${name}.unit`, budget.unit, units);
    expectNumber(`${name}.limit`, budget.limit, { min: 0 });
    if (budget.limit === 0) throw expectation(`${name}.limit`, 'more than 0', budget.limit);
    const key = budgetKey(budget);
    if (budget.unit === 'ms' && !paced) {
      const expected = 'in tokens, calls or usd: recorded answers come at once without times';
      throw expectation('budgets', expected, key);
    }
    if (known.has(key)) throw expectation('budgets', 'without repetition', key);
    known.add(key);
  }
}

/** Where dollars are limited, a model without a price is refused before anything is bought. */
function expectPrices({ model, judgeModel, budgets, budget, prices = {} }: CompareOptions): void {
  if (budget?.usd === undefined && budgets.every(({ unit }) => unit !== 'usd')) return;
  for (const each of [model, judgeModel]) if (each !== undefined) priceOf(each, prices, true);
}

/** The instances that a task gave. */
export function expectInstances(given: unknown): readonly BenchInstance[] {
  expectArray('task.instances()', given);
  const instances = given as readonly BenchInstance[];
  if (instances.length === 0) throw expectation('task', 'one with instances', 'none');
  const ids = new Set<string>();
  for (const [place, instance] of instances.entries()) {
    const name = `task.instances()[${place}]`;
    expectObject(name, instance);
    const { id, environment, oracle } = instance;
    expectText(`${name}.id`, id);
    expectMethods(`${name}.environment`, environment, ['reset', 'step']);
    if (oracle !== undefined) expectMethods(`${name}.oracle`, oracle, ['label']);
    if (ids.has(id)) throw expectation('task', 'one whose instances have different ids', id);
    ids.add(id);
  }
  return instances;
}
