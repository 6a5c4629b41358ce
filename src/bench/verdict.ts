import { counted } from '../base/counted.ts';
import { normalTails } from '../base/stats/normal-tails.ts';
import { normalQuantile } from '../base/stats/wilson-interval.ts';
import { areTooMany, budgetKey } from './arms.ts';
import { leastClusters, leastGain } from './bounds.ts';
import { budgetText, dollars, listed, percent, points, signedPoints } from './figures.ts';
import { nextSteps } from './next-steps.ts';
import { leavesMuch, type ScoredPoint, scored } from './points.ts';
import { priceOf } from './price.ts';
import type { BenchBudget, BenchDifference, BenchPoint, Verdict } from './report.ts';
import { groupsOf } from './statistics.ts';
import { unsearched } from './unsearched.ts';

/** The chance of an error in a verdict, for either answer. */
const alpha = 0.05;

/** The input of a verdict. */
export interface Findings {
  readonly baseline: string;
  /** Of methods that no oracle has guided. */
  readonly points: readonly BenchPoint[];
  readonly differences: readonly BenchDifference[];
  /** Those with a scored search. */
  readonly clusters: number;
  /** Whether all answers were recorded before. */
  readonly isReplay: boolean;
  /** The cost for each independent problem, in dollars; missing if unknown. */
  readonly usd?: number;
}

/** Findings whose points all have an accuracy. */
interface ScoredFindings extends Findings {
  readonly points: readonly ScoredPoint[];
}

/**
 * Whether search pays.
 *
 * - `yes`: some search, at some budget, is better than the baseline: its mid-p-value, corrected by Holm for all methods and
 *   budgets, is below 0.05, and its 95 % interval is above 0. Of these the largest gain at the least budget is named, in the
 *   unit of the largest gain of all.
 * - `no`: the upper end of the 95 % interval is below 3 points for every search at every budget. That is an
 *   intersection–union test: to be wrong it has to be wrong about the one that does pay, which is less likely than about that
 *   one alone, so that nothing is to be corrected.
 * - `undecided`: neither, or fewer than 30 clusters behind any comparison; with how many problems may decide.
 *
 * Where more than 5 % of all searches of a method, or of the baseline, at a budget are outages, have lost more than 5 % of
 * their calls or failed by an error of code, that comparison counts for nothing, and there is no `no`.
 *
 * @see Berger, "Multiparameter Hypothesis Testing and Acceptance Sampling", 1982, for intersection–union tests.
 */
export function verdictOf(found: Findings): Verdict {
  const { text, ...verdict } = judged(found);
  return { ...verdict, text: [text, ...leftUnused(found.points)].join(' ') };
}

/** What a budget holds and a search leaves might have gained something. */
function leftUnused(points: readonly BenchPoint[]): readonly string[] {
  const most = new Map<string, number>();
  for (const { method, unused } of scored(points).filter(leavesMuch)) {
    most.set(method, Math.max(unused, most.get(method) ?? 0));
  }
  if (most.size === 0) return [];
  const parts = [...most].map(([method, unused]) => `${percent(unused)} by ${method}`);
  return [`Budget was left unused: up to ${listed(parts)}.`];
}

function judged(found: Findings): Verdict {
  const searches = searchesOf(found);
  const broken = searches.filter((search) => failedIn(found, search).length > 0);
  const sound = searches.filter((search) => !broken.includes(search));
  const known = { ...found, points: scored(found.points) };
  const advice = broken.length > 0 ? [fixFirst(found, broken)] : [];
  if (found.clusters === 0) return undecided(['No search was scored.', ...advice]);
  const clusters = Math.min(found.clusters, ...sound.map((search) => search.clusters));
  if (found.clusters < leastClusters || (clusters < leastClusters && broken.length === 0)) {
    return undecided([tooFew(clusters, found.clusters)]);
  }
  if (searches.length === 0) {
    return undecided([
      `No search was compared with ${found.baseline} at an equal budget.`,
      ...unsearched(known),
    ]);
  }
  const winners = clusters < leastClusters ? [] : sound.filter(isGain);
  const best = bestOf(winners);
  if (best !== undefined) {
    return { answer: 'yes', text: `Yes. ${yes(known, { best, winners, sound }).join(' ')}`, best };
  }
  if (broken.length === 0 && searches.every(({ high }) => high < leastGain)) {
    return no(known, searches);
  }
  const worse = losses(known, sound);
  return undecided([
    ...advice,
    ...(worse.length > 0 ? useInstead(known) : []),
    ...worse,
    ...nearest(found, sound),
    ...(sound.length > 0 && clusters >= leastClusters ? [problemsWanted(sound, found.usd)] : []),
    ...unsearched(known),
    ...(broken.length === 0 ? nextSteps(known, 'undecided') : []),
  ]);
}

function isGain({ adjustedP, low }: BenchDifference): boolean {
  return adjustedP < alpha && low > 0;
}

/** At the least budget at which any search pays, the one with the largest gain: no other does better there. */
function bestOf(winners: readonly BenchDifference[]): BenchDifference | undefined {
  const unit = byGain(winners)[0]?.budget.unit;
  const own = winners.filter(({ budget }) => budget.unit === unit);
  const least = Math.min(...own.map(({ budget }) => budget.limit));
  return byGain(own.filter(({ budget }) => budget.limit === least))[0];
}

function byGain(searches: readonly BenchDifference[]): readonly BenchDifference[] {
  return searches.toSorted((a, b) => b.difference - a.difference);
}

/** Searches that are worse than the baseline by more than chance explains, those of the same budgets in one sentence. */
function losses({ baseline }: Findings, searches: readonly BenchDifference[]): readonly string[] {
  const worse = searches.filter(({ adjustedP, high }) => adjustedP < alpha && high < 0);
  const budgets = groupsOf(
    worse,
    worse.map(({ budget }) => budgetKey(budget)),
  ).flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const most = pIn(Math.max(...group.map(({ adjustedP }) => adjustedP)));
    const isEqual = group.every(({ adjustedP }) => pIn(adjustedP) === most);
    return {
      names: group.map(({ method }) => method),
      text: `at ${budgetText(first.budget)} (p ${isEqual ? '' : 'at most '}${most})`,
    };
  });
  const places = groupsOf(
    budgets,
    budgets.map(({ names }) => names.join(' ')),
  ).map((group) => {
    const names = group[0]?.names ?? [];
    const are = names.length === 1 ? 'is' : 'are';
    return `${listed(names)} ${are} worse than ${baseline} ${listed(group.map(({ text }) => text))}`;
  });
  return places.length === 0 ? [] : [`${listed(places)}.`];
}

/** Where searches lose: what does best without one, at any budget. */
function useInstead({ points: all, baseline }: ScoredFindings): readonly string[] {
  const without = all.filter(({ isBaseline, method }) => isBaseline || method === baseline);
  const [first] = without.toSorted((a, b) => b.accuracy - a.accuracy);
  return first === undefined ? [] : [`For now use ${first.method}.`];
}

/** The points of a comparison at which too many searches have failed for it to say anything. */
function failedIn(
  found: Findings,
  { method, than, budget }: BenchDifference,
): readonly BenchPoint[] {
  return [method, than]
    .flatMap((name) => pointAt(found, name, budget) ?? [])
    .filter((point) => areTooMany(point.outages + point.broken, point.searches));
}

function fixFirst(found: Findings, broken: readonly BenchDifference[]): string {
  const failed = [...new Set(broken.flatMap((difference) => failedIn(found, difference)))];
  const places = failed.map(
    (point) =>
      `${point.outages + point.broken} of ${point.searches} of ${point.method} at ${budgetText(point.budget)}`,
  );
  if (failed.some((point) => point.broken > point.outages)) {
    return `Code of the task or of a method failed in too many searches to compare them: ${listed(places)}. The notes say what failed. Fix it and run the same command again, which repeats what failed.`;
  }
  if (found.isReplay) {
    return `Too many searches asked for what was not recorded: ${listed(places)}. Compare methods that ask the same as the recorded run, with the \`--max-tokens\` and the \`--temperature\` that it had, or name a model in place of \`--replay\`.`;
  }
  return `Calls failed in too many searches to compare them: ${listed(places)}. The notes name the cause. Fix it and run the same command again, which repeats searches that came to nothing. Searches that lost only some of their calls are kept: to repeat those, too, use another folder (\`--out\`) with what was bought (\`--cache\`).`;
}

/** Fewer problems than were searched count where one of a pair could not be scored. */
function tooFew(clusters: number, all: number): string {
  const advice = `Use ${leastClusters} or more.`;
  if (clusters < all) {
    return `Only ${clusters} of ${all} independent problems could be compared, which is too few. ${advice}`;
  }
  const are = clusters === 1 ? 'is' : 'are';
  return `${counted(clusters, 'independent problem')} ${are} too few. ${advice}`;
}

/** Comparisons of methods that are no baselines. */
function searchesOf({ baseline, points, differences }: Findings): readonly BenchDifference[] {
  const baselines = new Set(points.flatMap(({ method, isBaseline }) => (isBaseline ? method : [])));
  return differences.filter(({ method, than }) => than === baseline && !baselines.has(method));
}

function yes(
  found: ScoredFindings,
  {
    best,
    winners,
    sound,
  }: Readonly<Record<'sound' | 'winners', readonly BenchDifference[]>> & {
    readonly best: BenchDifference;
  },
): readonly string[] {
  const { method, budget, difference, low, high, adjustedP } = best;
  const own = searchesOf(found).filter(
    (one) => one.method === method && one.budget.unit === budget.unit,
  );
  const later = own.filter((one) => one.budget.limit > budget.limit);
  const unsure = later.filter((one) => !winners.includes(one));
  const isFrom = later.length > 0 && unsure.length === 0;
  const where = `${isFrom ? 'from' : 'at'} ${budgetText(budget)}${isFrom ? ' up' : ''}`;
  const corrected = sound.length === 1 ? '' : ` corrected for ${sound.length} comparisons`;
  const [mine, other] = [pointAt(found, method, budget), pointAt(found, found.baseline, budget)];
  return [
    `With ${method}, accuracy rises by ${points(difference)} points over ${found.baseline} ${where} (95 % interval ${signedPoints(low)} to ${signedPoints(high)}; p ${pIn(adjustedP)}${corrected}): ${percent(mine?.accuracy ?? 0)} against ${percent(other?.accuracy ?? 0)}${unpaired(best, mine, other)}.`,
    ...mostAbove(best, winners),
    ...(unsure.length > 0
      ? [`At ${listed(unsure.map((one) => budgetText(one.budget)))} the gain is not significant.`]
      : []),
    ...losses(found, sound),
    ...priceOf(found.points, { mine, other, difference }),
    ...unsearched(found, best),
    ...nextSteps(found, 'yes'),
  ];
}

/** Where searches were lost, the difference is that of the pairs that are left, and accuracies are those of all scored searches. */
function unpaired(
  { difference }: BenchDifference,
  mine: ScoredPoint | undefined,
  other: ScoredPoint | undefined,
): string {
  const gap = (mine?.accuracy ?? 0) - (other?.accuracy ?? 0);
  return Math.abs(gap - difference) < 0.0005
    ? ''
    : ' over all scored searches of each, which are not all of the same problems';
}

/** Another search may gain more where there is more to spend. */
function mostAbove(best: BenchDifference, winners: readonly BenchDifference[]): readonly string[] {
  const own = winners.filter(({ budget }) => budget.unit === best.budget.unit);
  const most = Math.max(...own.map(({ budget }) => budget.limit));
  const [top] = byGain(own.filter(({ budget }) => budget.limit === most));
  if (top === undefined || top.method === best.method || most === best.budget.limit) return [];
  return [
    `At ${budgetText(top.budget)} ${top.method} gains the most: ${signedPoints(top.difference)} points.`,
  ];
}

function no(found: ScoredFindings, searches: readonly BenchDifference[]): Verdict {
  const [most] = searches.toSorted((a, b) => b.high - a.high);
  const where = most === undefined ? '' : `${most.method} at ${budgetText(most.budget)}`;
  const text = [
    `No. The gain of every search over ${found.baseline} is below ${100 * leastGain} points at every budget: the highest of the 95 % intervals ends at ${signedPoints(most?.high ?? 0)} (${where}).`,
    ...losses(found, searches),
    ...unsearched(found),
    ...nextSteps(found, 'no'),
  ].join(' ');
  return { answer: 'no', text };
}

function undecided(sentences: readonly string[]): Verdict {
  return { answer: 'undecided', text: `Undecided. ${sentences.join(' ')}` };
}

/** The most promising comparison, with its figures. */
function nearest(found: Findings, searches: readonly BenchDifference[]): readonly string[] {
  const [first] = searches.toSorted((a, b) => b.difference - a.difference);
  if (first === undefined) return [];
  const { method, budget, difference, low, high, clusters, adjustedP } = first;
  const known = `95 % interval ${signedPoints(low)} to ${signedPoints(high)}, ${clusters} independent problems`;
  const where = `${method} at ${budgetText(budget)}`;
  // The interval is that of this comparison alone.
  const isSelected = low > 0 && adjustedP >= alpha && searches.length > 1;
  return [
    difference <= -0.0005
      ? `No search does better than ${found.baseline}: the closest is ${where}, with ${signedPoints(difference)} points (${known}).`
      : `The largest gain over ${found.baseline} is ${points(difference)} points (${where}; ${known}).`,
    ...(isSelected
      ? [
          `That interval is not corrected for ${searches.length} comparisons; p is, and it is ${pIn(adjustedP)}.`,
        ]
      : []),
  ];
}

/**
 * How many independent problems would decide in four of five benchmarks, were the differences as they look: the fewer of what
 * shows that the best of them is above 0, and what shows that all are below 3 points.
 */
function problemsWanted(searches: readonly BenchDifference[], usd = 0): string {
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
  if (wanted > 100_000) return 'Even 100,000 independent problems would not decide it.';
  const rounded = Math.ceil(wanted / 10) * 10;
  const price =
    usd > 0 ? `, for about ${dollars(Number((rounded * usd).toPrecision(2)))} in all` : '';
  return `If the differences stay as they are, about ${rounded.toLocaleString('en-US')} independent problems would decide it${price}.`;
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

function pointAt<Point extends BenchPoint>(
  { points }: { readonly points: readonly Point[] },
  name: string,
  budget: BenchBudget,
): Point | undefined {
  return points.find(
    (point) => point.method === name && budgetKey(point.budget) === budgetKey(budget),
  );
}

function pIn(p: number): string {
  return p < 0.0001 ? 'below 0.0001' : p.toPrecision(2);
}
