import { counted } from '../base/counted.ts';
import { withPlace } from '../base/user-module.ts';
import type { CallSpend } from '../calls/call-spend.ts';
import type { Budget, ModelUsage } from '../contracts/spend.ts';
import type { Problem } from '../runs/problem.ts';
import type { SearchResult, StopReason } from '../search/contracts.ts';
import { knownValue } from '../tree/selection.ts';
import { pathTo } from '../tree/summary.ts';
import { shownDollars } from './prices.ts';
import { describeUnused, type Unused } from './unused.ts';

/** A finished search as `--json` prints it. */
export interface SearchReport {
  /** Whether the solution was verified. A judge that was sure ends a search as `solved`, but verifies nothing. */
  readonly solved: boolean;
  /** The solution as text; `null` if there is none. */
  readonly answer: string | null;
  /** The actions as text. */
  readonly path: readonly string[];
  readonly stopReason: StopReason;
  /** Who proposed and judged; `null` where no model did. */
  readonly model: string | null;
  readonly spend: {
    readonly simulations: number;
    readonly calls: number;
    readonly tokens: number;
    /** Dollars; `null` where a model has no known price. */
    readonly usd: number | null;
    readonly ms: number;
  };
  /** The part of `spend` for calls whose replies were lost with a killed process, where there are any. */
  readonly lost?: Pick<SearchReport['spend'], 'calls' | 'tokens' | 'usd'>;
  /** What each model read and wrote, by who asked it; dollars are `null` if nobody knows the price. */
  readonly usage: readonly Readonly<Record<keyof ModelUsage, number | string | null>>[];
  /** Whether no shorter plan exists. */
  readonly optimal: boolean;
  /** Why the search failed, if it did. */
  readonly failure?: string;
  /** What came to nothing on the way, where anything did. */
  readonly failures?: { readonly count: number; readonly first: readonly string[] };
  /** The unused budget of an unsolved search, if more than half of a limit: why, and which option would use it. */
  readonly unused?: Unused;
  /** The stamp of the tree, such as `oracle-guided`, if it has one. */
  readonly stamps?: readonly string[];
}

/** What there is to say about a finished search. */
export function reportOf(
  { environment: { notation }, answer, verifies }: Problem,
  {
    result,
    model,
    unused,
    lost,
  }: {
    readonly result: SearchResult<unknown, unknown>;
    readonly model: string | null;
    readonly unused: Unused | undefined;
    /** What killed processes have lost. */
    readonly lost: CallSpend;
  },
): SearchReport {
  const { best, actions, stopReason, optimal, failure, failures, unpriced } = result;
  const isVerified = verifies || best.reward !== undefined;
  const solved = result.solved && isVerified;
  const path = actions.map((action) => notation.format(action));
  const { stamps } = result.tree;
  const { simulations, calls, tokens, usd, ms } = result.spend;
  return {
    solved,
    answer: solved || (best.terminal && !isVerified) ? answer(best.state, path) || null : null,
    path,
    stopReason,
    model,
    spend: {
      simulations,
      calls,
      tokens,
      usd: unpriced.length > 0 ? null : usd,
      ms: Math.round(ms * 10) / 10,
    },
    ...(lost.calls > 0 && { lost: { ...lost, usd: unpriced.length > 0 ? null : lost.usd } }),
    usage: result.usage.map((one) => ({
      ...one,
      usd: one.usd ?? null,
      uncachedUsd: one.uncachedUsd ?? null,
    })),
    optimal,
    ...(failure !== undefined && { failure: withPlace(failure.message, failure.cause) }),
    ...(failures.count > 0 && {
      failures: {
        count: failures.count,
        first: failures.first.map(({ message, cause }) => withPlace(message, cause)),
      },
    }),
    ...(unused !== undefined && { unused }),
    ...(stamps.size > 0 && { stamps: [...stamps] }),
  };
}

/** What there is to say about a puzzle that needs no search; `undefined` for one that does. */
export function solvedAlready({ solvedWith }: Problem): SearchReport | undefined {
  if (solvedWith === undefined) return undefined;
  return {
    solved: true,
    answer: solvedWith,
    path: [],
    stopReason: 'solved',
    model: null,
    spend: { simulations: 0, calls: 0, tokens: 0, usd: 0, ms: 0 },
    usage: [],
    optimal: true,
  };
}

/** A finished search for people: the plan step by step, how it ended, what it took. */
export function describeSearch(
  problem: Problem,
  report: SearchReport,
  end: {
    readonly result: SearchResult<unknown, unknown>;
    readonly budget: Budget;
    /** Which model it was. */
    readonly line: string;
  },
): string {
  const { result, budget, line } = end;
  const plan = describePlan(problem, report, result);
  const heading = report.solved || report.path.length === 0 ? [] : ['The best path so far:', ''];
  return [
    problem.title,
    line,
    '',
    ...heading,
    ...(plan.length === 0 ? [] : [...plan, '']),
    describeEnd(report, result, budget),
    ...describeLosses(result),
    ...(report.unused === undefined
      ? []
      : [describeUnused(report.unused, { isCut: report.stopReason === 'budget' })]),
    describeSpend(report, result),
    ...describeKilled(report),
    ...describeFailed(report),
    ...describeUsage(result.usage),
  ].join('\n');
}

function describePlan(
  { render }: Problem,
  { path }: SearchReport,
  { best }: SearchResult<unknown, unknown>,
): readonly string[] {
  const width = `${path.length}.`.length;
  const indent = ' '.repeat(width + 1);
  return pathTo(best).flatMap((node, step) => {
    const shown =
      node.kind === 'proposed' || render === undefined ? [] : render(node.state).split('\n');
    const [first = '', ...more] = (path[step - 1] ?? '').split('\n');
    const action = step === 0 ? [] : [`${`${step}.`.padStart(width)} ${first}`];
    return [...action, ...[...more, ...shown].map((line) => indent + line)];
  });
}

function describeEnd(
  { solved, answer, path, stopReason, optimal, failure }: SearchReport,
  { best, tree, exceeded, spend }: SearchResult<unknown, unknown>,
  budget: Budget,
): string {
  const steps = counted(path.length, 'step');
  if (solved) {
    const shortest = optimal ? ', and no plan is shorter' : '';
    const isLine = answer !== null && !answer.includes('\n');
    return `Solved in ${steps}${shortest}${isLine ? `: ${answer}` : '.'}`;
  }
  if (answer !== null) {
    const value = tree.score(best) ?? knownValue(best, tree);
    return `Answered in ${steps}, valued at ${value.toFixed(2)}, not verified: ${answer}`;
  }
  switch (stopReason) {
    case 'budget':
      if (exceeded === 'ms') return `Not solved: the time of ${budget.ms} ms is up.`;
      if (exceeded !== undefined && spend[exceeded] < (budget[exceeded] ?? 0)) {
        return `Not solved: what comes next may take more than is left of ${describeLimit(budget, exceeded)}.`;
      }
      return `Not solved: the budget of ${describeLimit(budget, exceeded)} is spent.`;
    case 'exhausted':
      return 'Not solved: nothing is left to search.';
    case 'stopped':
      return 'Not solved: ended by Ctrl-C.';
    case 'failed':
      return `The search failed: ${failure}`;
    case 'solved':
      return 'Ended without a solution.';
  }
}

function describeLimit(budget: Budget, exceeded: keyof Budget = 'simulations'): string {
  const limit = budget[exceeded] ?? 0;
  return exceeded === 'usd' ? `$${limit}` : counted(limit, exceeded.slice(0, -1));
}

/** Failures on the way, and whether the journal was from another search. */
function describeLosses({
  failure,
  failures: { count, first },
  coverage: { differsAt },
}: SearchResult<unknown, unknown>): readonly string[] {
  const causes = first.map(({ message, cause }) => withPlace(message, cause)).join(' ');
  return [
    ...(count > (first[0]?.message === failure?.message ? 1 : 0)
      ? [`${counted(count, 'failure')} on the way, such as: ${causes}`]
      : []),
    ...(differsAt === undefined
      ? []
      : [`From line ${differsAt} of its journal on this search asked something else.`]),
  ];
}

function describeSpend(
  { spend }: SearchReport,
  { coverage }: SearchResult<unknown, unknown>,
): string {
  const { simulations, calls, tokens, usd, ms } = spend;
  const parts = [
    counted(simulations, 'simulation'),
    `${counted(calls, 'call')}${coverage.recorded > 0 ? ` (${coverage.recorded} from the journal)` : ''}`,
    ...(tokens > 0 ? [counted(tokens, 'token')] : []),
    ...shownDollars(usd),
    `${Math.round(ms)} ms`,
  ];
  return parts.join(' · ');
}

/** Calls that killed processes lost: they are in the sum of what was spent, at the maximum that they can have cost. */
function describeKilled({ lost }: SearchReport): readonly string[] {
  if (lost === undefined) return [];
  const { calls, tokens, usd } = lost;
  const cost = [counted(tokens, 'token'), ...shownDollars(usd)].join(' · ');
  return [
    `Lost with a killed process: ${counted(calls, 'call')}, counted above at the maximum cost of ${cost}.`,
  ];
}

/** What neither the lines of models nor the losses account for, so that all lines add up to the sum. */
function describeFailed({ spend, lost, usage }: SearchReport): readonly string[] {
  const { tokens, usd } = usage.reduce(
    (rest, one) => ({
      tokens: rest.tokens - Number(one.inputTokens) - Number(one.outputTokens),
      usd: rest.usd - Number(one.usd),
    }),
    {
      tokens: spend.tokens - (lost?.tokens ?? 0),
      usd: Number(spend.usd) - Number(lost?.usd ?? 0),
    },
  );
  // Less is shown as $0.0000.
  if (spend.usd === null || usd < 0.00005) return [];
  const cost = [...(tokens > 0 ? [counted(tokens, 'token')] : []), ...shownDollars(usd)];
  return [
    `Failed attempts and calls without known usage: counted above at the maximum cost of ${cost.join(' · ')}.`,
  ];
}

/** The usage of each model, and the savings of caches, if anything cost money or came from a cache. */
function describeUsage(usage: readonly ModelUsage[]): readonly string[] {
  const isOfInterest = ({ usd, cachedTokens }: ModelUsage) => usd !== 0 || cachedTokens > 0;
  if (!usage.some(isOfInterest)) return [];
  const widest = (field: 'model' | 'role') => Math.max(...usage.map((one) => one[field].length));
  const [role, model] = [widest('role'), widest('model')];
  const lines = usage.map((one) =>
    [
      `${one.role.padEnd(role)}  ${one.model.padEnd(model)}  ${counted(one.calls, 'call')}`,
      `${counted(one.inputTokens, 'token')} read${shareOf(one.cachedTokens, one.inputTokens, 'from a cache')}`,
      `${one.outputTokens} written${shareOf(one.reasoningTokens, one.outputTokens, 'thoughts')}`,
      one.usd === undefined ? '$ unknown' : `$${one.usd.toFixed(4)}`,
    ].join(' · '),
  );
  const sum = (field: 'uncachedUsd' | 'usd') =>
    usage.reduce((total, one) => total + (one[field] ?? 0), 0);
  const [usd, uncached] = [sum('usd'), sum('uncachedUsd')];
  const saved = uncached - usd;
  if (Math.abs(saved) < 0.00005) return lines;
  const share = `${Math.abs((100 * saved) / uncached).toFixed(0)} %`;
  const what = saved > 0 ? `saved ${share}` : `cost ${share} more`;
  return [...lines, `Caches ${what}: $${usd.toFixed(4)} instead of $${uncached.toFixed(4)}.`];
}

function shareOf(part: number, whole: number, what: string): string {
  return part === 0 ? '' : ` (${((100 * part) / whole).toFixed(0)} % ${what})`;
}
