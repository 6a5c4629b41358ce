import type { StopReason } from '../search/contracts.ts';
import type { Arm } from './arms.ts';
import { greedyName, mostUnused } from './bounds.ts';
import type { BenchCell } from './cell.ts';
import { budgetText, listed, percent } from './figures.ts';
import { pointOf, spentOf } from './points.ts';
import { groupsOf } from './statistics.ts';

/**
 * What a reader has to know before trusting a number, each a sentence, the gravest first. That problems are too few, the
 * verdict says.
 *
 * @param models - The models that were asked, where they are known.
 */
export function warningsOf(
  arms: readonly Arm[],
  models: readonly (string | null)[],
): readonly string[] {
  const methods = groupsOf(
    arms,
    arms.map(({ method }) => method),
  );
  return [
    ...methods.flatMap(overspent),
    ...methods.flatMap((group) => lost(group, 'failed')),
    ...methods.flatMap((group) => lost(group, 'unscored')),
    ...methods.flatMap(unused),
    ...unpriced(methods, models),
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
      `BUDGET EXCEEDED: ${method} spent up to ${most} with a budget of ${budgetText(budget)}, in ${over.length} of ${cells.length} searches. Comparisons at this budget are not fair; please report this as a bug.`,
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
  const because = reason === undefined ? '.' : `; the most common reason: ${reason}`;
  return [
    `${found.length} of ${cells.length} searches of ${cells[0]?.method} ${consequences[status]}${because}`,
  ];
}

function commonReason(cells: readonly BenchCell[]): string | undefined {
  const reasons = cells.flatMap(({ reason }) => reason ?? []).sort();
  return groupsOf(reasons, reasons).toSorted((a, b) => b.length - a.length)[0]?.[0];
}

const whyEnded: Readonly<Record<StopReason, string>> = {
  solved: 'they were solved',
  budget: 'the next call would have exceeded it',
  exhausted: 'nothing was left to search',
  stopped: 'a stop condition ended them',
  failed: 'they could not continue',
};

/** Greedy asks once, whatever the budget: what it leaves says nothing. */
function unused(arms: readonly Arm[]): readonly string[] {
  const found = arms
    .map((arm) => ({ ...pointOf(arm), why: commonEnd(arm) }))
    .filter((point) => point.unused > mostUnused && point.method !== greedyName);
  const [first] = found;
  if (first === undefined) return [];
  const reasons = found.map(({ why }) => why.reason);
  const groups = groupsOf(found, reasons).map((group) => {
    const places = group.map((point) => `${percent(point.unused)} of ${budgetText(point.budget)}`);
    const sum = (field: 'count' | 'of') => group.reduce((total, { why }) => total + why[field], 0);
    return `${listed(places)}, because ${whyEnded[group[0]?.why.reason ?? 'budget']} in ${sum('count')} of ${sum('of')}`;
  });
  return [
    `${first.method} left budget unused in searches that were not solved: ${groups.join('; ')}.`,
  ];
}

/** Why most of the searches of an arm ended that were not solved. */
function commonEnd({ cells }: Arm) {
  const ends = cells
    .map(({ stopReason }) => stopReason)
    .filter((reason) => reason !== 'solved')
    .sort();
  const [common = []] = groupsOf(ends, ends).toSorted((a, b) => b.length - a.length);
  return { reason: common[0] ?? 'budget', count: common.length, of: ends.length };
}

function unpriced(
  methods: readonly (readonly Arm[])[],
  models: readonly (string | null)[],
): readonly string[] {
  const names = methods
    .filter((arms) => arms.some(({ cells }) => cells.some(({ usd }) => usd === null)))
    .map(([first]) => first?.method ?? '');
  if (names.length === 0) return [];
  const asked = [...new Set(models.flatMap((model) => model ?? []))];
  const which = asked.length === 0 ? 'a model' : asked.map((model) => `\`${model}\``).join(' or ');
  const where = names.length === methods.length ? '' : ` of ${listed(names)}`;
  return [
    `Price unknown for ${which}: dollars${where} are missing. Set \`--price-in\` and \`--price-out\`, or \`prices\` in code.`,
  ];
}
