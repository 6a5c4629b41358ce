import { expectation } from '../base/expect.ts';
import { mostFailed } from './bounds.ts';
import type { BenchCell } from './cell.ts';
import type { BenchBudget } from './report.ts';

/** One method at one budget, and all of its searches. */
export interface Arm {
  readonly method: string;
  readonly budget: BenchBudget;
  readonly isBaseline: boolean;
  /** Whether an oracle guided any search of the method, at whatever budget. */
  readonly isGuided: boolean;
  /** Always in the same order. */
  readonly cells: readonly BenchCell[];
}

/**
 * Cells by method and budget, the same whatever their order: baselines first, in the order given, then methods by name, each
 * from its least budget up.
 *
 * @throws EspalierError `usage` if two cells are the same search.
 */
export function armsOf(cells: readonly BenchCell[], baselines: readonly string[]): readonly Arm[] {
  const guided = new Set(cells.filter(({ isGuided }) => isGuided).map(({ method }) => method));
  const rank = (method: string) =>
    baselines.includes(method) ? baselines.indexOf(method) : baselines.length;
  const groups = new Map<string, BenchCell[]>();
  for (const cell of cells) {
    const key = JSON.stringify([cell.method, cell.budget.unit, cell.budget.limit]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [cell]);
    else group.push(cell);
  }
  const arms = [...groups.values()].flatMap((group): readonly Arm[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { method, budget } = first;
    const isBaseline = baselines.includes(method);
    return [{ method, budget, isBaseline, isGuided: guided.has(method), cells: inOrder(group) }];
  });
  return arms.sort(
    (a, b) =>
      rank(a.method) - rank(b.method) ||
      compareTexts(a.method, b.method) ||
      compareTexts(a.budget.unit, b.budget.unit) ||
      a.budget.limit - b.budget.limit,
  );
}

/** Names a search of an arm: the same in all arms. */
export function searchKey({ instance, attempt }: BenchCell): string {
  return JSON.stringify([instance, attempt]);
}

/** Names a budget. */
export function budgetKey({ unit, limit }: BenchBudget): string {
  return `${unit}=${limit}`;
}

/** Whether the chosen answer counts as right: never where the search failed. */
export function isRight({ status, right }: BenchCell): boolean {
  return status === 'scored' && right;
}

/** Whether it counts at all. */
export function isScored(cell: BenchCell): boolean {
  return cell.status !== 'unscored' && !isLost(cell);
}

/** Whether it came to nothing through no fault of its method, and is made again by the same command. */
export function isLost({ isOutage, isBroken }: BenchCell): boolean {
  return isOutage === true || isBroken === true;
}

/** Whether its result says little about its method: it failed through no fault of it, or lost more than 5 % of its calls. */
export function isHurt(cell: BenchCell): boolean {
  return isLost(cell) || (cell.lost?.calls ?? 0) > mostFailed * cell.calls;
}

/** Whether so many searches were affected that all of them together say nothing about their method. */
export function areTooMany(hurt: number, searches: number): boolean {
  return hurt > mostFailed * searches;
}

/** Order by code units: the same on every machine. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function inOrder(cells: readonly BenchCell[]): readonly BenchCell[] {
  const sorted = cells.toSorted(
    (a, b) => compareTexts(a.instance, b.instance) || a.attempt - b.attempt,
  );
  for (const [place, cell] of sorted.entries()) {
    const before = sorted[place - 1];
    if (before?.instance === cell.instance && before.attempt === cell.attempt) {
      const name = `${cell.method} at ${budgetKey(cell.budget)}, search ${cell.attempt} of ${cell.instance}`;
      throw expectation('cells', 'one for each search', name);
    }
  }
  return sorted;
}
