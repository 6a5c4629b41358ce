import { normalTails } from '../base/stats/normal-tails.ts';
import { normalQuantile } from '../base/stats/wilson-interval.ts';
import { budgetKey } from './arms.ts';
import { leastClusters, leastGain } from './bounds.ts';
import { budgetText, listed, percent, signedPoints } from './figures.ts';
import { nextSteps } from './next-steps.ts';
import { priceOf } from './price.ts';
import type { BenchDifference, BenchPoint, Verdict } from './report.ts';

/** The chance of an error in a verdict, for either answer. */
const alpha = 0.05;

/** What a verdict is made from. */
export interface Findings {
  readonly baseline: string;
  /** Of methods that no oracle has guided. */
  readonly points: readonly BenchPoint[];
  readonly differences: readonly BenchDifference[];
  readonly clusters: number;
}

/**
 * Whether search pays.
 *
 * - `yes`: some search, at some budget, is better than the baseline: its p-value, corrected by Holm for all methods and
 *   budgets, is below 0.05, and its 95 % interval is above 0.
 * - `no`: the upper end of the 95 % interval is below 3 points for every search at every budget. That is an
 *   intersection–union test: to be wrong it has to be wrong about the one that does pay, which is less likely than about that
 *   one alone, so that nothing is to be corrected.
 * - `undecided`: neither, or fewer than 30 clusters behind any comparison; with how many problems may decide.
 *
 * @see Berger, "Multiparameter Hypothesis Testing and Acceptance Sampling", 1982, for intersection–union tests.
 */
export function verdictOf(found: Findings): Verdict {
  const searches = searchesOf(found);
  const clusters = Math.min(found.clusters, ...searches.map((search) => search.clusters));
  if (searches.length === 0) {
    return undecided([`no search was compared with ${found.baseline} at an equal budget.`]);
  }
  if (clusters < leastClusters) {
    return undecided([
      `not to be trusted with ${clusters} independent problems; compare on ${leastClusters} or more, better on 100.`,
    ]);
  }
  const winners = searches.filter(({ adjustedP, low }) => adjustedP < alpha && low > 0);
  const [first] = winners.toSorted((a, b) => b.difference - a.difference);
  if (first !== undefined) {
    const own = winners.filter(({ method, budget }) => isOf(first, method, budget.unit));
    const best = own.toSorted((a, b) => a.budget.limit - b.budget.limit)[0] ?? first;
    return { answer: 'yes', text: yes(found, best).join(' '), best };
  }
  if (searches.every(({ high }) => high < leastGain)) return no(found, searches);
  return undecided([
    nearest(found, searches),
    problemsWanted(searches),
    ...nextSteps(found, 'undecided'),
  ]);
}

/** Comparisons of methods that are no baselines. */
function searchesOf({ baseline, points, differences }: Findings): readonly BenchDifference[] {
  const baselines = new Set(points.flatMap(({ method, isBaseline }) => (isBaseline ? method : [])));
  return differences.filter(({ method, than }) => than === baseline && !baselines.has(method));
}

function isOf(one: BenchDifference, method: string, unit: string): boolean {
  return one.method === method && one.budget.unit === unit;
}

function yes(found: Findings, best: BenchDifference): readonly string[] {
  const { method, budget, difference, low, high, adjustedP } = best;
  const searches = searchesOf(found);
  const own = searches.filter((one) => isOf(one, method, budget.unit));
  const later = own.filter((one) => one.budget.limit > budget.limit);
  const unsure = later.filter((one) => !(one.adjustedP < alpha && one.low > 0));
  const from = later.length > 0 && unsure.length === 0 ? 'from' : 'at';
  const corrected = searches.length === 1 ? '' : `, corrected for ${searches.length} comparisons`;
  const [mine, other] = [pointAt(found, method, best), pointAt(found, found.baseline, best)];
  const rivals = found.points.filter(
    (point) =>
      point.isBaseline &&
      point.method !== found.baseline &&
      budgetKey(point.budget) === budgetKey(budget) &&
      point.accuracy >= (mine?.accuracy ?? 1),
  );
  return [
    `Yes: ${method} gets ${signedPoints(difference)} points against ${found.baseline} ${from} ${budgetText(budget)}${from === 'from' ? ' on' : ''} (95 % interval ${signedPoints(low)} to ${signedPoints(high)}, p ${pIn(adjustedP)}${corrected}): ${percent(mine?.accuracy ?? 0)} for ${percent(other?.accuracy ?? 0)}.`,
    ...(unsure.length > 0
      ? [`At ${listed(unsure.map((one) => budgetText(one.budget)))} the difference is not shown.`]
      : []),
    ...priceOf(found.points, mine, other),
    ...rivals.map(
      (rival) =>
        `But ${rival.method}, no search, gets ${percent(rival.accuracy)} at that budget: that is what to beat.`,
    ),
    ...nextSteps(found, 'yes'),
  ];
}

function no(found: Findings, searches: readonly BenchDifference[]): Verdict {
  const [most] = searches.toSorted((a, b) => b.high - a.high);
  const where = most === undefined ? '' : `${most.method} at ${budgetText(most.budget)}`;
  const text = [
    `No: at no budget does any of these searches gain 3 points against ${found.baseline}; the upper ends of all 95 % intervals are below that, the highest at ${signedPoints(most?.high ?? 0)} (${where}).`,
    ...nextSteps(found, 'no'),
  ].join(' ');
  return { answer: 'no', text };
}

function undecided(sentences: readonly string[]): Verdict {
  return { answer: 'undecided', text: `Undecided: ${sentences.join(' ')}` };
}

/** The search that promises most, and what is known of it. */
function nearest(found: Findings, searches: readonly BenchDifference[]): string {
  const [first] = searches.toSorted((a, b) => b.difference - a.difference);
  if (first === undefined) return '';
  const { method, budget, difference, low, high, clusters } = first;
  return `${method} at ${budgetText(budget)} differs most from ${found.baseline}, by ${signedPoints(difference)} points, and at ${clusters} independent problems its 95 % interval is ${signedPoints(low)} to ${signedPoints(high)}.`;
}

/**
 * How many independent problems would decide in four of five benchmarks, were the differences as they look: the fewer of what
 * shows that the best of them is above 0, and what shows that all are below 3 points.
 */
function problemsWanted(searches: readonly BenchDifference[]): string {
  const power = 0.8416;
  const corrected = quantileOf(alpha / searches.length) + power;
  const needed = (distance: number, quantile: number, search: BenchDifference) => {
    const error = (search.high - search.low) / 2 / normalQuantile;
    return distance <= 0
      ? Number.POSITIVE_INFINITY
      : search.clusters * Math.max(1, ((quantile * error) / distance) ** 2);
  };
  const forYes = searches.map((search) => needed(search.difference, corrected, search));
  const forNo = searches.map((search) =>
    needed(leastGain - search.difference, normalQuantile + power, search),
  );
  const wanted = Math.min(...forYes, Math.max(...forNo));
  if (wanted > 100_000) return 'No number of problems that one can buy would decide it.';
  const rounded = Math.ceil(wanted / 10) * 10;
  return `If the differences stay as they are, about ${rounded.toLocaleString('en-US')} independent problems would decide it.`;
}

/** The z beyond which the two tails hold so much. */
function quantileOf(tails: number): number {
  let [low, high] = [0, 40];
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (normalTails(middle) > tails) low = middle;
    else high = middle;
  }
  return low;
}

function pointAt(
  { points }: Findings,
  name: string,
  { budget }: BenchDifference,
): BenchPoint | undefined {
  return points.find(
    (point) => point.method === name && budgetKey(point.budget) === budgetKey(budget),
  );
}

function pIn(p: number): string {
  return p < 0.0001 ? 'below 0.0001' : p.toPrecision(2);
}
