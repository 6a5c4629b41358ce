import { mostUnused } from './bounds.ts';
import {
  amount,
  budgetText,
  dollars,
  none,
  percent,
  percentWithin,
  pointsWithin,
  pValue,
} from './figures.ts';
import { leavesMuch } from './points.ts';
import type { BenchBudget, BenchDifference, BenchPoint, BenchReport } from './report.ts';

/** A column of a table about points, the same wherever it is shown. */
export interface PointColumn {
  readonly heading: string;
  /** What it says, in one sentence without its full stop; of names, nothing. */
  readonly meaning?: string;
  readonly cell: (point: BenchPoint) => string;
}

/** Which point a row is about. */
const which: readonly PointColumn[] = [
  { heading: 'method', cell: ({ method }) => method },
  { heading: 'budget', cell: ({ budget }) => budgetText(budget) },
];

const searches: PointColumn = {
  heading: 'searches',
  meaning:
    'how many searches were scored, and of how many where some were left out; those that failed by themselves count as wrong',
  cell: ({ n, searches: all }) => (n === all ? amount(n) : `${amount(n)} of ${amount(all)}`),
};

/** Resources used, as means over searches. */
const tokens: PointColumn = {
  heading: 'tokens',
  meaning: 'tokens read and written per search',
  cell: (point) => amount(point.tokens),
};

const kindsOfTokens: readonly PointColumn[] = [
  { heading: 'in', meaning: 'tokens read', cell: ({ inputTokens }) => amount(inputTokens) },
  {
    heading: 'cached',
    meaning: 'tokens read from the cache of the provider, which are also among those read',
    cell: ({ cachedTokens }) => amount(cachedTokens),
  },
  { heading: 'out', meaning: 'tokens written', cell: ({ outputTokens }) => amount(outputTokens) },
];

const prices: readonly PointColumn[] = [
  {
    heading: '$ per 1,000',
    meaning: 'dollars for 1,000 searches; unknown where a model has no known price',
    cell: ({ usd }) => dollars(usd === null ? null : 1_000 * usd),
  },
  {
    heading: 'calls',
    meaning: 'calls per search',
    cell: ({ calls }) => amount(calls),
  },
  {
    heading: 'ms',
    meaning:
      'milliseconds per search, reused answers taking as long as when they were bought; unknown where they came at once',
    cell: ({ ms }) => amount(ms),
  },
  {
    heading: 'unused',
    meaning: `the share of the budget that was left by searches that were not solved, among them those with a right answer where only an oracle knows it; ${none} where all were solved, † above ${100 * mostUnused} %`,
    cell: (point) =>
      point.n === 0 || Object.keys(point.ends).every((reason) => reason === 'solved')
        ? none
        : `${percent(point.unused)}${leavesMuch(point) ? ' †' : ''}`,
  },
];

/** The columns of the results of a report: in a page all of them, on a terminal those that fit. */
export function resultColumns(
  report: BenchReport,
  { isWide }: { readonly isWide: boolean },
): readonly PointColumn[] {
  const compared = (point: BenchPoint) => differenceOf(report, point);
  return [
    ...which,
    searches,
    {
      heading: 'right',
      meaning: 'the share of chosen answers that are right, with its 95 % interval',
      cell: (point) => percentWithin(point.accuracy, point),
    },
    {
      heading: `vs ${report.baseline}`,
      meaning: `the difference from ${report.baseline} at the same budget on the same problems, in points, with its 95 % interval, which is not corrected for several comparisons`,
      cell: (point) => shown(compared(point), (one) => pointsWithin(one.difference, one)),
    },
    {
      heading: 'adjusted p',
      meaning:
        'the mid-p-value: the probability of a larger difference if there were none, and half that of one as large, by flipping the signs of the paired differences; corrected by Holm’s procedure for all searches and budgets, or, for other methods without search, for all of those. It can be large where the interval excludes 0, and equal for several methods',
      cell: (point) => shown(compared(point), ({ adjustedP }) => pValue(adjustedP)),
    },
    tokens,
    ...(isWide ? kindsOfTokens : []),
    ...prices,
  ];
}

/** The columns of methods that an oracle guided: what they share with the others, under its right name. */
export function guidedColumns(): readonly PointColumn[] {
  return [
    ...which,
    searches,
    {
      heading: 'pass@k',
      meaning:
        'the share of searches in which a right answer was found and recognised by the oracle, with its 95 % interval',
      cell: (point) => percentWithin(point.accuracy, point),
    },
    tokens,
    ...prices,
  ];
}

/** The columns that say how searches went. */
export const courseColumns: readonly PointColumn[] = [
  ...which,
  {
    heading: 'failed',
    meaning: 'searches that could not continue, and count as wrong',
    cell: ({ failed }) => amount(failed),
  },
  {
    heading: 'left out',
    meaning:
      'searches that could not ask their model, that broken code ended or whose answer could not be scored; they are in no accuracy, difference or calibration',
    cell: ({ n, searches: all }) => amount(all - n),
  },
  {
    heading: 'ended by',
    meaning: 'why searches ended',
    cell: ({ ends }) =>
      Object.entries(ends)
        .filter(([, count]) => count > 0)
        .map(([reason, count]) => `${reason} ${amount(count)}`)
        .join(', ') || none,
  },
  {
    heading: 'reused',
    meaning: 'the share of calls that were answered by what was bought before, for another search',
    cell: ({ calls, reused }) => (calls === 0 || reused === null ? none : percent(reused / calls)),
  },
  {
    heading: 'cold ms',
    meaning: `milliseconds per search that bought all of its calls, and how many did; ${none} where none did or times were left out`,
    cell: ({ cold }) => shown(cold?.ms, (ms) => `${amount(ms)} (${amount(cold?.n ?? null)})`),
  },
  {
    heading: 'any end right',
    meaning: 'the share of searches with a right answer anywhere in the tree, chosen or not',
    cell: ({ anyEnd }) => (anyEnd === null ? none : percent(anyEnd)),
  },
  {
    heading: 'calibration error',
    meaning: 'the mean distance between values and the share that is right, in points',
    cell: ({ calibration }) => shown(calibration, (one) => (100 * one.expectedError).toFixed(1)),
  },
  {
    heading: 'Brier',
    meaning: 'the mean squared error of values: 0 is best, and a constant value of 0.5 gets 0.25',
    cell: ({ calibration }) => shown(calibration, ({ brier }) => brier.toFixed(3)),
  },
  {
    heading: 'nodes',
    meaning: 'mean number of nodes in a tree',
    cell: ({ tree }) => amount(tree.nodes),
  },
  {
    heading: 'depth',
    meaning: 'mean length of the longest path',
    cell: ({ tree }) => amount(tree.depth),
  },
  {
    heading: 'width',
    meaning: 'mean number of children of a node that has any',
    cell: ({ tree }) => amount(tree.width),
  },
];

/** The columns of what several searches of one problem get right, for reports with several seeds. */
export function repeatedColumns(points: readonly BenchPoint[]): readonly PointColumn[] {
  const sizes = [...new Set(points.flatMap(({ passAtK }) => passAtK.map(({ k }) => k)))];
  const of = (point: BenchPoint, size: number) => point.passAtK.find(({ k }) => k === size);
  return [
    ...which,
    ...sizes
      .toSorted((a, b) => a - b)
      .flatMap((k) => [
        {
          heading: `pass@${k}`,
          meaning: `the share of problems that at least one of ${k} searches gets right`,
          cell: (point: BenchPoint) => shown(of(point, k), ({ any }) => percent(any)),
        },
        {
          heading: `pass^${k}`,
          meaning: `the share of problems that all ${k} get right`,
          cell: (point: BenchPoint) => shown(of(point, k), ({ all }) => percent(all)),
        },
      ]),
  ];
}

/** Points with those of equal budget adjacent, so that compared points are together. */
export function byBudget(points: readonly BenchPoint[]): readonly BenchPoint[] {
  const units = [...new Set(points.map(({ budget }) => budget.unit))];
  return points.toSorted(
    ({ budget: a }, { budget: b }) =>
      units.indexOf(a.unit) - units.indexOf(b.unit) || a.limit - b.limit,
  );
}

/** How a point compares with the baseline at the same budget; nothing if they have no scored search in common. */
export function differenceOf(
  { differences, baseline }: BenchReport,
  { method, budget }: BenchPoint,
): BenchDifference | undefined {
  return differences.find(
    (one) =>
      one.method === method &&
      one.than === baseline &&
      one.clusters > 0 &&
      isSame(one.budget, budget),
  );
}

/** Whether two budgets are the same limit in the same unit. */
export function isSame(a: BenchBudget, b: BenchBudget): boolean {
  return a.unit === b.unit && a.limit === b.limit;
}

function shown<Value>(value: Value | null | undefined, text: (value: Value) => string): string {
  return value === null || value === undefined ? none : text(value);
}
