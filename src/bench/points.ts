import { mean } from '../base/stats/mean.ts';
import { type Arm, isHurt, isLost, isRight, isScored } from './arms.ts';
import { greedyName, mostUnused } from './bounds.ts';
import type { BenchCell } from './cell.ts';
import type { BenchPoint } from './report.ts';
import { calibrationOf, clusteredShare, groupsOf, passAtK } from './statistics.ts';

/** A point with an accuracy. */
export interface ScoredPoint extends BenchPoint {
  readonly accuracy: number;
}

/** Points that have an accuracy: only these can be compared, and have a place in a plot. */
export function scored(points: readonly BenchPoint[]): readonly ScoredPoint[] {
  return points.filter((point): point is ScoredPoint => point.accuracy !== null);
}

/** What an arm comes to. */
export function pointOf({ method, budget, isBaseline, cells }: Arm): BenchPoint {
  const counted = cells.filter(isScored);
  const { share, low, high } = clusteredShare(
    counted.map(isRight),
    counted.map(({ cluster }) => cluster),
  );
  // What was lost says nothing about what a search takes, unless there is nothing else.
  const whole = cells.filter((cell) => !isLost(cell));
  const made = whole.length > 0 ? whole : cells;
  const average = (of: (cell: BenchCell) => number) => mean(made.map(of));
  const known = (of: (cell: BenchCell) => number | null) =>
    made.some((cell) => of(cell) === null) ? null : average((cell) => of(cell) ?? 0);
  const isTimed = cells.some(({ ms }) => ms !== null);
  return {
    method,
    budget,
    isBaseline,
    accuracy: counted.length > 0 ? share : null,
    low,
    high,
    searches: cells.length,
    n: counted.length,
    failed: counted.filter(({ status }) => status === 'failed').length,
    outages: cells.filter((cell) => isHurt(cell) && cell.isBroken !== true).length,
    broken: cells.filter(({ isBroken }) => isBroken).length,
    unscored: cells.filter(({ status }) => status === 'unscored').length,
    passAtK: passAtK(problemsOf(counted)),
    anyEnd: cells.every(({ ends }) => ends.length === 0)
      ? null
      : clusteredShare(
          counted.map(({ anyRight }) => anyRight),
          counted.map(({ cluster }) => cluster),
        ).share,
    tokens: average(({ tokens }) => tokens),
    inputTokens: average(({ inputTokens }) => inputTokens),
    cachedTokens: average(({ cachedTokens }) => cachedTokens),
    outputTokens: average(({ outputTokens }) => outputTokens),
    usd: known(({ usd }) => usd),
    calls: average(({ calls }) => calls),
    ms: known(({ ms }) => ms),
    reused: isTimed ? average(({ reused }) => reused) : null,
    cold: isTimed ? coldOf(made) : null,
    unused: unusedShare(made),
    ends: countsOf(cells),
    calibration: calibrationOf(counted.flatMap(({ ends }) => ends)),
    tree: {
      nodes: average(({ tree }) => tree.nodes),
      depth: average(({ tree }) => tree.depth),
      width: average(({ tree }) => tree.width),
    },
  };
}

/** What searches that reused nothing took; those that made no call have bought none. */
function coldOf(cells: readonly BenchCell[]): NonNullable<BenchPoint['cold']> {
  const cold = cells.filter(({ calls, reused }) => calls > 0 && reused === 0);
  const times = cold.flatMap(({ ms }) => ms ?? []);
  return { n: cold.length, ms: times.length === 0 ? null : mean(times) };
}

/** What a search was charged in the unit of its budget; `null` if nobody knows. */
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

/** Whether more of a budget was left than may stay unsaid. Greedy asks once, whatever the budget: what it leaves says nothing. */
export function leavesMuch({ method, unused }: BenchPoint): boolean {
  return unused > mostUnused && method !== greedyName;
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
