import { counted } from '../base/counted.ts';
import { expectation } from '../base/expect.ts';
import { areTooMany, isHurt, searchKey } from '../bench/arms.ts';
import type { Compared } from '../bench/bench.ts';
import type { BenchCell } from '../bench/cell.ts';
import { isSame } from '../bench/columns.ts';
import { budgetText, listed, pointsWithin } from '../bench/figures.ts';
import type { BenchBudget } from '../bench/report.ts';
import type { Check } from '../bench/suite.ts';
import { differencesFrom } from '../bench/summary.ts';

/** What a benchmark measures. */
export interface Measures {
  readonly methods: readonly string[];
  readonly budgets: readonly BenchBudget[];
  /** How many searches each method makes at each budget. */
  readonly searches: number;
}

/** On the command line, and in a suite. */
const checkOption = '--fail-if-worse` or `failIfWorse';

/** @throws EspalierError `usage` for a check of what is not measured. */
export function expectChecks(
  checks: readonly Check[],
  { methods, budgets }: Pick<Measures, 'budgets' | 'methods'>,
): void {
  for (const check of checks) {
    const unknown = [check.method, check.than].find((name) => !methods.includes(name));
    if (unknown !== undefined) {
      const expected = `a check of two methods of the benchmark (${methods.join(', ')})`;
      throw expectation(checkOption, expected, unknown);
    }
    if (budgetsOf(check, budgets).length === 0) {
      const known = budgets.map(({ unit, limit }) => `${unit}=${limit}`).join(', ');
      const given = `${check.unit === undefined ? '' : `${check.unit}=`}${check.limit}`;
      throw expectation(checkOption, `a check at a budget of the benchmark (${known})`, given);
    }
  }
}

/** What is worse than it may be, or cannot be told: a sentence each. */
export function failedChecks(
  checks: readonly Check[],
  { report, cells, stopReason }: Compared,
  { budgets, searches }: Measures,
): readonly string[] {
  return checks.flatMap((check) =>
    budgetsOf(check, budgets).flatMap((budget) => {
      const { method, than } = check;
      const at = budgetText(budget);
      const arms = [method, than].map((name) => ({
        name,
        cells: cells.filter((cell) => cell.method === name && isSame(cell.budget, budget)),
      }));
      const missing = arms.flatMap((arm) => unmeasured(arm, { at, searches, stopReason }));
      if (missing.length > 0) return missing;
      const guided = arms.filter((arm) => report.guided.some((point) => point.method === arm.name));
      if (guided.length > 0) {
        return `Failed: ${listed(guided.map(({ name }) => name))} cannot be checked: an oracle guided it.`;
      }
      return worse(arms, { check, at, searches, cells, budget });
    }),
  );
}

/** What is wrong with a comparison that was measured; nothing where it is no worse. */
function worse(
  arms: readonly { readonly name: string; readonly cells: readonly BenchCell[] }[],
  asked: {
    readonly check: Check;
    readonly at: string;
    readonly searches: number;
    readonly cells: readonly BenchCell[];
    readonly budget: BenchBudget;
  },
): readonly string[] {
  const { check, at, cells, budget } = asked;
  const { method, than } = check;
  const found = differencesFrom(cells, than).find(
    (difference) => difference.method === method && isSame(difference.budget, budget),
  );
  if (found === undefined || found.clusters === 0) {
    return [`Failed: ${method} and ${than} at ${at} have no scored searches in common.`];
  }
  const doubtful = doubtOf(arms, asked);
  if (doubtful !== undefined) return [doubtful];
  if (found.high >= 0) return [];
  const points = pointsWithin(found.difference, found);
  return [`Failed: ${method} is worse than ${than} at ${at}: ${points} points.`];
}

/** Why what was found is not to be trusted: the verdict discards it, or not every search was scored. */
function doubtOf(
  arms: readonly { readonly name: string; readonly cells: readonly BenchCell[] }[],
  asked: { readonly check: Check; readonly at: string; readonly searches: number },
): string | undefined {
  const { check, at, searches } = asked;
  const hurt = arms.filter(({ cells }) => areTooMany(cells.filter(isHurt).length, cells.length));
  if (hurt.length > 0) {
    const isCode = hurt.some(({ cells }) => cells.some(({ isBroken }) => isBroken));
    return `Failed: ${isCode ? 'code' : 'calls'} failed in too many searches of ${listed(hurt.map(({ name }) => name))} at ${at} to compare them.`;
  }
  const pairs = pairsOf(arms.map((arm) => arm.cells));
  if (pairs >= searches) return undefined;
  return `Failed: only ${pairs} of ${counted(searches, 'search')} of ${check.method} and ${check.than} at ${at} could be scored.`;
}

/** How many searches were scored in all arms, or lost, of which there may be a few. */
function pairsOf(arms: readonly (readonly BenchCell[])[]): number {
  const [first = new Set<string>(), ...others] = arms.map(
    (cells) => new Set(cells.filter(({ status }) => status !== 'unscored').map(searchKey)),
  );
  return [...first].filter((key) => others.every((keys) => keys.has(key))).length;
}

/** The budgets of that limit, in whatever unit where none is named. */
function budgetsOf(
  { unit, limit }: Check,
  budgets: readonly BenchBudget[],
): readonly BenchBudget[] {
  return budgets.filter((one) => one.limit === limit && (unit ?? one.unit) === one.unit);
}

const because: Readonly<Record<Compared['stopReason'], string>> = {
  budget: ': the budget was spent',
  failing: ': too many searches failed in a row',
  finished: '',
  stopped: ': it was ended by Ctrl-C',
};

function unmeasured(
  { name, cells }: { readonly name: string; readonly cells: readonly BenchCell[] },
  {
    at,
    searches,
    stopReason,
  }: {
    readonly at: string;
    readonly searches: number;
    readonly stopReason: Compared['stopReason'];
  },
): readonly string[] {
  const { length } = cells;
  if (length === 0)
    return [`Failed: ${name} at ${at} has not been measured${because[stopReason]}.`];
  if (cells.every(({ status }) => status === 'failed')) {
    return [`Failed: all searches of ${name} at ${at} failed.`];
  }
  if (length >= searches) return [];
  return [
    `Failed: only ${length} of ${counted(searches, 'search')} of ${name} at ${at} have been made${because[stopReason]}.`,
  ];
}
