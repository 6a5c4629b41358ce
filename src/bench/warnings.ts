import { counted } from '../base/counted.ts';
import type { StopReason } from '../search/contracts.ts';
import type { Arm } from './arms.ts';
import { leastClusters, mostUnused } from './bounds.ts';
import type { BenchCell } from './cell.ts';
import { budgetText, listed, percent } from './figures.ts';
import { pointOf, spentOf } from './points.ts';
import { groupsOf } from './statistics.ts';

/** What a reader has to know before trusting a number, each a sentence, the gravest first. */
export function warningsOf(arms: readonly Arm[], clusters: number): readonly string[] {
  const methods = groupsOf(
    arms,
    arms.map(({ method }) => method),
  );
  return [
    ...methods.flatMap(overspent),
    ...(clusters < leastClusters
      ? [
          `Only ${counted(clusters, 'independent problem')}: below ${leastClusters} no interval and no verdict is to be trusted.`,
        ]
      : []),
    ...methods.flatMap((group) => lost(group, 'failed')),
    ...methods.flatMap((group) => lost(group, 'unscored')),
    ...methods.flatMap(unused),
    ...unpriced(methods),
  ];
}

/** A search must never spend more than it was given. A deadline alone is noticed a moment late. */
function overspent(arms: readonly Arm[]): readonly string[] {
  return arms.flatMap(({ method, budget, cells }) => {
    const slack = budget.unit === 'ms' ? 1.05 : 1 + 1e-9;
    const spends = cells.map((cell) => spentOf(cell) ?? 0);
    const over = spends.filter((spent) => spent > budget.limit * slack);
    if (over.length === 0) return [];
    const most = budgetText({ unit: budget.unit, limit: Math.max(...over) });
    return [
      `THE BUDGET WAS BROKEN: ${method} spent up to ${most} of ${budgetText(budget)}, in ${over.length} of ${cells.length} searches. Its comparisons at this budget are not fair; please report this as a bug.`,
    ];
  });
}

const consequences = {
  failed: 'failed and count as wrong',
  unscored: 'could not be scored and are left out',
};

function lost(arms: readonly Arm[], status: 'failed' | 'unscored'): readonly string[] {
  const cells = arms.flatMap((arm) => arm.cells);
  const found = cells.filter((cell) => cell.status === status);
  if (found.length === 0) return [];
  const reason = commonReason(found);
  const because = reason === undefined ? '.' : `, most often because: ${reason}`;
  return [
    `${found.length} of ${cells.length} searches of ${cells[0]?.method} ${consequences[status]}${because}`,
  ];
}

function commonReason(cells: readonly BenchCell[]): string | undefined {
  const reasons = cells.flatMap(({ reason }) => reason ?? []).sort();
  return groupsOf(reasons, reasons).toSorted((a, b) => b.length - a.length)[0]?.[0];
}

const whyEnded: Readonly<Record<StopReason, string>> = {
  solved: 'they had what they looked for',
  budget: 'the next call would not have fitted',
  exhausted: 'nothing was left to search',
  stopped: 'a stop condition ended them',
  failed: 'they could not go on',
};

function unused(arms: readonly Arm[]): readonly string[] {
  const found = arms
    .map((arm) => ({ arm, point: pointOf(arm) }))
    .filter(({ point }) => point.unused > mostUnused);
  const [first] = found;
  if (first === undefined) return [];
  const places = found.map(
    ({ point }) => `${percent(point.unused)} of ${budgetText(point.budget)}`,
  );
  const ends = found
    .flatMap(({ arm }) => arm.cells.map(({ stopReason }) => stopReason))
    .filter((reason) => reason !== 'solved')
    .sort();
  const [common = []] = groupsOf(ends, ends).toSorted((a, b) => b.length - a.length);
  return [
    `${first.arm.method} left unused, in searches that did not end as solved, ${listed(places)}: ${whyEnded[common[0] ?? 'budget']} in ${common.length} of ${ends.length}.`,
  ];
}

function unpriced(methods: readonly (readonly Arm[])[]): readonly string[] {
  const names = methods
    .filter((arms) => arms.some(({ cells }) => cells.some(({ usd }) => usd === null)))
    .map(([first]) => first?.method ?? '');
  if (names.length === 0) return [];
  return [
    `Nobody knows the price of a model that ${listed(names)} asked: dollars are missing, and the sums hold only what is known. Give its price to count them.`,
  ];
}
