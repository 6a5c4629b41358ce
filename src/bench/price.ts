import { budgetText, dollars } from './figures.ts';
import type { BenchPoint } from './report.ts';

/**
 * What an extra point costs against the baseline at the same budget, where the two may spend different parts of it, and at
 * what budget the baseline would get as much.
 */
export function priceOf(
  points: readonly BenchPoint[],
  mine: BenchPoint | undefined,
  other: BenchPoint | undefined,
): readonly string[] {
  if (mine === undefined || other === undefined) return [];
  return [spent(mine, other), reach(points, mine, other)];
}

function spent(mine: BenchPoint, other: BenchPoint): string {
  const gained = 100 * (mine.accuracy - other.accuracy);
  const tokens = budgetText({ unit: 'tokens', limit: Math.round(mine.tokens) });
  const amounts = `It spends ${tokens}${inDollars(mine.usd)} a problem, ${other.method} ${budgetText({ unit: 'tokens', limit: Math.round(other.tokens) })}${inDollars(other.usd)}`;
  const more = mine.tokens - other.tokens;
  const dearer = mine.usd === null || other.usd === null ? null : mine.usd - other.usd;
  if (more <= 0 && (dearer ?? 0) <= 0) return `${amounts}: the points cost nothing more.`;
  const price = [
    ...(more > 0 ? [budgetText({ unit: 'tokens', limit: more / gained })] : []),
    ...(dearer !== null && dearer > 0 ? [dollars(dearer / gained)] : []),
  ];
  return `${amounts}: each extra point costs ${price.join(' and ')} a problem.`;
}

function inDollars(usd: number | null): string {
  return usd === null ? '' : ` (${dollars(usd)})`;
}

/** Between two budgets the curve is a line over the logarithm of the budget. */
function reach(points: readonly BenchPoint[], mine: BenchPoint, other: BenchPoint): string {
  const { unit, limit } = mine.budget;
  const curve = points.filter(
    ({ method, budget }) =>
      method === other.method && budget.unit === unit && budget.limit >= limit,
  );
  const place = curve.findIndex(({ accuracy }) => accuracy >= mine.accuracy);
  const [before, after] = [curve[place - 1], curve[place]];
  if (before === undefined || after === undefined) {
    const last = curve.at(-1)?.budget.limit ?? limit;
    return `${other.method} does not get as much with up to ${budgetText({ unit, limit: last })}.`;
  }
  const part = (mine.accuracy - before.accuracy) / (after.accuracy - before.accuracy);
  const wanted = before.budget.limit * (after.budget.limit / before.budget.limit) ** part;
  return `By its curve ${other.method} gets as much with about ${budgetText({ unit, limit: Number(wanted.toPrecision(2)) })}.`;
}
