import { expectation } from '../base/expect.ts';
import { type Interval, wilsonInterval } from '../base/stats/wilson-interval.ts';

/** How much more often one of two ways succeeded, with its 95 % interval. */
export interface Difference extends Interval {
  /** The share of the first way less the share of the second, in [−1, 1]. */
  readonly difference: number;
}

/**
 * The difference of two shares that were measured on the same problems. Problems on which both ways fare
 * alike say nothing about it, so that the interval is narrower than that of separate samples.
 *
 * @param a - Whether the first way solved each problem.
 * @param b - The same of the second way, in the same order.
 * @see Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
 * paired data", 1998, method 10.
 */
export function pairedDifference(a: readonly boolean[], b: readonly boolean[]): Difference {
  if (a.length !== b.length) {
    throw expectation('b', `as long as \`a\`, which has ${a.length} results`, b);
  }
  const n = a.length;
  if (n === 0) return { difference: 0, low: -1, high: 1 };
  const table = crossTable(a, b);
  const [first, second] = [share(table.both + table.onlyA, n), share(table.both + table.onlyB, n)];
  const phi = correlation(table, n);
  const spread = (one: number, other: number) =>
    Math.sqrt(Math.max(0, one ** 2 - 2 * phi * one * other + other ** 2));
  // From the counts: the two shares would leave a rounding error where they are equal.
  const difference = (table.onlyA - table.onlyB) / n;
  return {
    difference,
    low: difference - spread(first.value - first.low, second.high - second.value),
    high: difference + spread(first.high - first.value, second.value - second.low),
  };
}

function share(successes: number, trials: number) {
  return { value: successes / trials, ...wilsonInterval(successes, trials) };
}

function crossTable(a: readonly boolean[], b: readonly boolean[]) {
  const count = (first: boolean, second: boolean) =>
    a.filter((solved, index) => solved === first && b[index] === second).length;
  return {
    both: count(true, true),
    onlyA: count(true, false),
    onlyB: count(false, true),
    neither: count(false, false),
  };
}

/** φ of the table, with Newcombe's correction for continuity where it is positive. */
function correlation(table: ReturnType<typeof crossTable>, n: number): number {
  const { both, onlyA, onlyB, neither } = table;
  const margins = (both + onlyA) * (onlyB + neither) * (both + onlyB) * (onlyA + neither);
  if (margins === 0) return 0;
  const excess = both * neither - onlyA * onlyB;
  const corrected = excess > 0 ? Math.max(excess - n / 2, 0) : excess;
  return corrected / Math.sqrt(margins);
}
