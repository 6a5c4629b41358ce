import { EspalierError } from '../base/errors.ts';
import { aroundCalls } from '../calls/middleware/wrap.ts';
import { search } from '../search/search.ts';
import { plainContext } from '../testing/plain-context.ts';
import type { CompareOptions } from './compare-options.ts';
import { budgetText, listed } from './figures.ts';
import { type BenchMethod, shownTo } from './methods.ts';
import type { BenchBudget } from './report.ts';
import { groupsOf } from './statistics.ts';
import type { BenchInstance } from './task.ts';

/**
 * Refuses a budget in tokens or dollars that holds no call of a method on any problem: nothing would be measured. No call is
 * made. Methods and guides of your own are not tried: they may do anything.
 *
 * @returns a sentence for each budget that holds no call of some methods on some problems.
 * @throws EspalierError `usage`.
 */
export async function expectRoom(
  options: CompareOptions,
  {
    methods,
    instances,
  }: { readonly methods: readonly BenchMethod[]; readonly instances: readonly BenchInstance[] },
): Promise<readonly string[]> {
  if (options.guides !== undefined) return [];
  const own = new Set(options.methods.filter((each) => typeof each !== 'string'));
  const tried = methods.filter((each) => !own.has(each));
  const limited = options.budgets.filter(({ unit }) => unit === 'tokens' || unit === 'usd');
  const sorted = limited.length === 0 ? [] : await byPrompt(options, instances);
  const found: { readonly method: string; readonly where: string }[] = [];
  for (const budget of limited.toSorted((a, b) => a.limit - b.limit)) {
    for (const method of tried) {
      const fitting = await countFitting(sorted, (instance) =>
        holdsCall(options, { method, instance, budget }),
      );
      if (fitting === sorted.length) continue;
      if (fitting === 0) throw noRoom(method, budget);
      const missing = `${sorted.length - fitting} of ${instances.length} problems`;
      found.push({ method: method.name, where: `${missing} at ${budgetText(budget)}` });
    }
  }
  const places = found.map(({ where }) => where);
  return groupsOf(found, places).map((group) => {
    const names = listed(group.map(({ method }) => method));
    return `Not one call of ${names} fits ${group[0]?.where}: raise the budget, or lower the maximum tokens of an answer or of its thoughts.`;
  });
}

function noRoom({ name }: BenchMethod, budget: BenchBudget): EspalierError {
  const message = `Not one call of ${name} fits ${budgetText(budget)}: a call reserves its prompt and the longest answer and thoughts that it may get. Raise the budget, or lower the maximum tokens of an answer or of its thoughts.`;
  return new EspalierError('usage', message, { scope: 'run' });
}

/** Instances from the shortest first prompt to the longest. Where no prompt can be told without a call, the first instance. */
async function byPrompt(
  { model, maxTokens }: CompareOptions,
  instances: readonly BenchInstance[],
): Promise<readonly BenchInstance[]> {
  const measured: { readonly instance: BenchInstance; readonly length: number }[] = [];
  for (const instance of instances) {
    const asked = instance.model ?? model;
    if (asked === undefined) continue;
    const { environment } = shownTo(asked, instance, maxTokens);
    try {
      const { state } = await environment.reset(plainContext({ signal: AbortSignal.abort() }));
      const prompt = environment.notation?.prompt(state);
      if (prompt === undefined) continue;
      measured.push({ instance, length: Buffer.byteLength(JSON.stringify(prompt)) });
    } catch {
      // It asks somebody for its state, or fails, which is reported where it happens.
    }
  }
  if (measured.length === 0) return instances.slice(0, 1);
  return measured.toSorted((a, b) => a.length - b.length).map(({ instance }) => instance);
}

/** How many instances fit, of which the shortest do where longer ones do. */
async function countFitting(
  sorted: readonly BenchInstance[],
  fits: (instance: BenchInstance) => Promise<boolean>,
): Promise<number> {
  const isFitting = async (place: number) => {
    const instance = sorted[place];
    return instance !== undefined && (await fits(instance));
  };
  // Most often all fit, or else none.
  if (await isFitting(sorted.length - 1)) return sorted.length;
  let [low, high] = (await isFitting(0)) ? [1, sorted.length - 1] : [0, 0];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isFitting(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
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
