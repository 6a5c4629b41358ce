import { mean } from '../base/stats/mean.ts';
import { type Arm, isHurt, isRight, isScored } from './arms.ts';
import type { BenchCell } from './cell.ts';
import type { BenchPoint } from './report.ts';
import { calibrationOf, clusteredShare, groupsOf, passAtK } from './statistics.ts';

/** What an arm comes to. */
export function pointOf({ method, budget, isBaseline, cells }: Arm): BenchPoint {
  const scored = cells.filter(isScored);
  const { share, low, high } = clusteredShare(
    scored.map(isRight),
    scored.map(({ cluster }) => cluster),
  );
  const average = (of: (cell: BenchCell) => number) => mean(cells.map(of));
  const known = (of: (cell: BenchCell) => number | null) =>
    cells.some((cell) => of(cell) === null) ? null : average((cell) => of(cell) ?? 0);
  return {
    method,
    budget,
    isBaseline,
    accuracy: share,
    low,
    high,
    n: scored.length,
    failed: cells.filter(({ status }) => status === 'failed').length,
    outages: cells.filter((cell) => isHurt(cell) && cell.isBroken !== true).length,
    broken: cells.filter(({ isBroken }) => isBroken).length,
    unscored: cells.length - scored.length,
    passAtK: passAtK(problemsOf(scored)),
    anyEnd: cells.every(({ ends }) => ends.length === 0)
      ? null
      : mean(scored.map(({ anyRight }) => Number(anyRight))),
    tokens: average(({ tokens }) => tokens),
    inputTokens: average(({ inputTokens }) => inputTokens),
    cachedTokens: average(({ cachedTokens }) => cachedTokens),
    outputTokens: average(({ outputTokens }) => outputTokens),
    usd: known(({ usd }) => usd),
    calls: average(({ calls }) => calls),
    ms: known(({ ms }) => ms),
    reused: average(({ reused }) => reused),
    cold: coldOf(cells),
    unused: unusedShare(cells),
    ends: countsOf(cells),
    calibration: calibrationOf(cells.flatMap(({ ends }) => ends)),
    tree: {
      nodes: average(({ tree }) => tree.nodes),
      depth: average(({ tree }) => tree.depth),
      width: average(({ tree }) => tree.width),
    },
  };
}

/** What searches that reused nothing took; those that made no call have bought none. */
function coldOf(cells: readonly BenchCell[]): BenchPoint['cold'] {
  const cold = cells.filter(({ calls, reused }) => calls > 0 && reused === 0);
  const times = cold.flatMap(({ ms }) => ms ?? []);
  return { n: cold.length, ms: times.length === 0 ? null : mean(times) };
}

/** What a search was charged in the unit of its budget; `null` where nobody knows. */
export function spentOf(cell: BenchCell): number | null {
  return cell[cell.budget.unit];
}

/** Of those that did not end as solved: they might have found more with what was left. */
function unusedShare(cells: readonly BenchCell[]): number {
  const left = cells.flatMap((cell) => {
    const spent = spentOf(cell);
    if (cell.stopReason === 'solved' || spent === null) return [];
    return [Math.min(1, Math.max(0, 1 - spent / cell.budget.limit))];
  });
  return left.length === 0 ? 0 : mean(left);
}

/** The reasons in one order, so that equal reports are written alike. */
function countsOf(cells: readonly BenchCell[]): BenchPoint['ends'] {
  const reasons = cells.map(({ stopReason }) => stopReason).sort();
  return Object.fromEntries(groupsOf(reasons, reasons).map((group) => [group[0], group.length]));
}

function problemsOf(cells: readonly BenchCell[]) {
  const groups = groupsOf(
    cells.map(isRight),
    cells.map(({ instance }) => instance),
  );
  return groups.map((group) => ({ n: group.length, right: group.filter(Boolean).length }));
}
