import { EspalierError } from '../base/errors.ts';
import { aroundCalls } from '../calls/middleware/wrap.ts';
import { search } from '../search/search.ts';
import type { CompareOptions } from './compare-options.ts';
import { budgetText } from './figures.ts';
import type { BenchMethod } from './methods.ts';
import type { BenchInstance } from './task.ts';

/**
 * Refuses a budget in tokens or dollars that holds no call of a method on the first problem: nothing would be measured. No
 * call is made. Methods of your own are not tried: they may do anything.
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
  const own = new Set(options.methods.filter((each) => typeof each !== 'string'));
  for (const budget of options.budgets.filter(({ unit }) => unit === 'tokens' || unit === 'usd')) {
    for (const method of methods.filter((each) => !own.has(each))) {
      if (await holdsCall(options, { method, instance, budget })) continue;
      const message = `Not one call of ${method.name} fits ${budgetText(budget)}: a call reserves its prompt and the longest answer and thoughts that it may get. Lower \`--max-tokens\` or \`--thought-tokens\`, or raise \`--budgets\`.`;
      throw new EspalierError('usage', message, { scope: 'run' });
    }
  }
}

async function holdsCall(
  { model = undefined, judgeModel, prices = {}, maxTokens }: CompareOptions,
  {
    method,
    instance,
    budget,
  }: {
    readonly method: BenchMethod;
    readonly instance: BenchInstance;
    readonly budget: CompareOptions['budgets'][number];
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
  const notation = instance.notationFor?.(asked.capabilities);
  const environment = {
    ...instance.environment,
    ...(notation !== undefined && { notation }),
  };
  const { oracle: _, ...shown } = instance;
  const longest = maxTokens ?? instance.maxTokens;
  try {
    const plan = await method.plan(
      { ...shown, environment, ...(longest !== undefined && { maxTokens: longest }) },
      { model: mute(asked), judgeModel: judgeModel && mute(judgeModel) },
    );
    const limits = { simulations: 1, [budget.unit]: budget.limit };
    const found = await search(environment, {
      ...plan,
      budget: limits,
      prices,
      signal: end.signal,
    });
    return found.exceeded !== budget.unit;
  } catch {
    // It reached a call, which aborted it. Whatever else is wrong is reported where it happens.
    return true;
  }
}
