import { budgetText, dollars, listed } from './figures.ts';
import type { ScoredPoint } from './points.ts';

/**
 * What an extra point costs against the baseline at the same budget, where the two may spend different parts of it, and at
 * what budget the baseline would get as much.
 */
export function priceOf(
  points: readonly ScoredPoint[],
  {
    mine,
    other,
    difference,
  }: {
    readonly mine: ScoredPoint | undefined;
    readonly other: ScoredPoint | undefined;
    /** What is gained on the searches that both have. */
    readonly difference: number;
  },
): readonly string[] {
  if (mine === undefined || other === undefined) return [];
  return [...spent(mine, other, 100 * difference), ...reach(points, mine, other)];
}

/** In calls where models count no tokens; nothing where none was asked. */
function spent(mine: ScoredPoint, other: ScoredPoint, gained: number): readonly string[] {
  const unit = (['tokens', 'calls'] as const).find((name) => mine[name] + other[name] > 0);
  if (unit === undefined) return [];
  const amounts = `${mine.method} spends ${spendOf(mine, unit)} per search, against ${spendOf(other, unit)} for ${other.method}`;
  const more = mine[unit] - other[unit];
  const dearer = mine.usd === null || other.usd === null ? null : mine.usd - other.usd;
  if (more <= 0 && (dearer ?? 0) <= 0) return [`${amounts}: the gain comes at no extra cost.`];
  const price = [
    ...(more > 0 ? [budgetText({ unit, limit: more / gained })] : []),
    ...(dearer !== null && dearer > 0 ? [dollars(dearer / gained)] : []),
  ];
  return [`${amounts}: each point gained costs ${listed(price)} per search.`];
}

function spendOf(point: ScoredPoint, unit: 'calls' | 'tokens'): string {
  const { usd, [unit]: spend } = point;
  const text = budgetText({ unit, limit: unit === 'tokens' ? Math.round(spend) : spend });
  return usd === null || usd === 0 ? text : `${text} (${dollars(usd)})`;
}

/**
 * At what budget the other method gets as much: between two budgets its curve is a line over the logarithm of the budget.
 * Nothing where there is only one budget.
 */
function reach(
  points: readonly ScoredPoint[],
  mine: ScoredPoint,
  other: ScoredPoint,
): readonly string[] {
  const { unit } = mine.budget;
  const curve = points.filter(
    ({ method, budget }) => method === other.method && budget.unit === unit,
  );
  if (curve.length < 2) return [];
  const place = curve.findIndex(({ accuracy }) => accuracy >= mine.accuracy);
  const [before, after] = [curve[place - 1], curve[place]];
  if (after === undefined) return [`${other.method} does not reach this at any budget tried.`];
  if (before === undefined) return [`${other.method} gets as much at ${budgetText(after.budget)}.`];
  const part = (mine.accuracy - before.accuracy) / (after.accuracy - before.accuracy);
  const wanted = before.budget.limit * (after.budget.limit / before.budget.limit) ** part;
  return [
    `Going by its curve, ${other.method} needs about ${budgetText({ unit, limit: Number(wanted.toPrecision(2)) })} for the same accuracy.`,
  ];
}
