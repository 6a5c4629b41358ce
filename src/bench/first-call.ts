import { EspalierError } from '../base/errors.ts';
import { aroundCalls } from '../calls/middleware/wrap.ts';
import { search } from '../search/search.ts';
import type { CompareOptions } from './compare-options.ts';
import { budgetText } from './figures.ts';
import { type BenchMethod, shownTo } from './methods.ts';
import type { BenchBudget } from './report.ts';
import type { BenchInstance } from './task.ts';

/**
 * Refuses a budget in tokens or dollars that holds no call of a method on the first problem: nothing would be measured. No
 * call is made. Methods and guides of your own are not tried: they may do anything.
 *
 * @throws EspalierError `usage`.
 */
export async function expectRoom(
  options: CompareOptions,
  {
    methods,
    instance,
  }: { readonly methods: readonly BenchMethod[]; readonly instance: BenchInstance },
): Promise<void> {
  if (options.guides !== undefined) return;
  const own = new Set(options.methods.filter((each) => typeof each !== 'string'));
  for (const budget of leastBudgets(options.budgets)) {
    for (const method of methods.filter((each) => !own.has(each))) {
      if (await holdsCall(options, { method, instance, budget })) continue;
      const message = `Not one call of ${method.name} fits ${budgetText(budget)}: a call reserves its prompt and the longest answer and thoughts that it may get. Lower \`--max-tokens\` or \`--thought-tokens\`, or raise \`--budgets\`.`;
      throw new EspalierError('usage', message, { scope: 'run' });
    }
  }
}

/** The smallest budgets in tokens and in dollars: what fits them fits the others. */
function leastBudgets(budgets: readonly BenchBudget[]): readonly BenchBudget[] {
  return (['tokens', 'usd'] as const).flatMap(
    (unit) =>
      budgets.filter((budget) => budget.unit === unit).toSorted((a, b) => a.limit - b.limit)[0] ??
      [],
  );
}

async function holdsCall(
  { model, judgeModel, prices = {}, maxTokens }: CompareOptions,
  {
    method,
    instance,
    budget,
  }: {
    readonly method: BenchMethod;
    readonly instance: BenchInstance;
    readonly budget: BenchBudget;
  },
): Promise<boolean> {
  const asked = instance.model ?? model;
  if (asked === undefined) return true;
  const end = new AbortController();
  const mute = aroundCalls(() => () => {
    const reached = new EspalierError('budget', 'The first call fits.');
    end.abort(reached);
    return Promise.reject(reached);
  });
  const shown = shownTo(asked, instance, maxTokens);
  try {
    const plan = await method.plan(shown, {
      model: mute(asked),
      judgeModel: judgeModel && mute(judgeModel),
    });
    const found = await search(shown.environment, {
      ...plan,
      budget: { simulations: 1, [budget.unit]: budget.limit },
      prices,
      signal: end.signal,
    });
    return found.exceeded !== budget.unit;
  } catch {
    // It reached a call, which aborted it. Whatever else is wrong is reported where it happens.
    return true;
  }
}
