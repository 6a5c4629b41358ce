import { expectation } from '../base/expect.ts';
import { mean } from '../base/stats/mean.ts';
import type { Interval } from '../base/stats/wilson-interval.ts';
import { effectiveTrials, groupsOf, quantileFor } from './statistics.ts';

/** How much more often one of two ways succeeded, with its 95 % interval. */
export interface Difference extends Interval {
  /** The share of the first way less the share of the second, in [−1, 1]. */
  readonly difference: number;
}

/**
 * The difference of two shares that were measured on the same problems. Problems on which both ways fare
 * alike say nothing about it, so that the interval is narrower than that of separate samples. With clusters it is the
 * mean over clusters of the mean over their results.
 *
 * The interval is Tango's score interval: it covers the truth in 93 to 97 % also where two ways nearly always fare alike, as
 * ways that share what was bought do. Newcombe's covered it in up to 98 % there, and plain t intervals in down to 92 %. Where
 * fewer than five problems differ any interval covers it in more. With several results a cluster it goes by as many pairs
 * as hold the same variance as the clusters do, never more than there are, and by Student's t.
 *
 * @param a - Whether the first way solved each problem.
 * @param b - The same of the second way, in the same order.
 * @param clusters - Which results belong together, in the same order. By default each is a cluster of its own.
 * @see Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample design",
 * 1998. `npm run verify:verdicts` measures how often it covers the truth.
 */
export function pairedDifference(
  a: readonly boolean[],
  b: readonly boolean[],
  clusters: readonly string[] = a.map((_, place) => String(place)),
): Difference {
  for (const [name, list] of Object.entries({ b, clusters })) {
    if (list.length !== a.length) {
      throw expectation(name, `as long as \`a\`, which has ${a.length} results`, list);
    }
  }
  if (a.length === 0) return { difference: 0, low: -1, high: 1 };
  const signs = a.map((solved, place) => Number(solved) - Number(b[place]));
  const groups = groupsOf(signs, clusters);
  const only = (sign: number) =>
    mean(groups.map((group) => group.filter((found) => found === sign).length / group.length));
  const differences = groups.map(mean);
  const [onlyA, onlyB] = [only(1), only(-1)];
  const ofOne = onlyA + onlyB - (onlyA - onlyB) ** 2;
  const pairs = effectiveTrials(differences, ofOne, a.length);
  const quantile = quantileFor(groups.length, a.length);
  const high = scoreLimit({ onlyA, onlyB, pairs, quantile });
  const low = -scoreLimit({ onlyA: onlyB, onlyB: onlyA, pairs, quantile });
  return { difference: mean(differences), low, high };
}

interface Discordance {
  /** Shares of pairs in which one way alone succeeded. */
  readonly onlyA: number;
  readonly onlyB: number;
  readonly pairs: number;
  readonly quantile: number;
}

/** The greatest difference that the score test does not reject. */
function scoreLimit({ onlyA, onlyB, pairs, quantile }: Discordance): number {
  let [inside, outside] = [onlyA - onlyB, 1];
  for (let halving = 0; halving < 50; halving++) {
    const middle = (inside + outside) / 2;
    const gap = onlyA - onlyB - middle;
    if (pairs * gap ** 2 > quantile ** 2 * scoreVariance(onlyA, onlyB, middle)) outside = middle;
    else inside = middle;
  }
  return inside;
}

/** The variance of one pair, were `difference` the true one: at the shares of greatest likelihood under it. */
function scoreVariance(onlyA: number, onlyB: number, difference: number): number {
  const linear = (2 - onlyA + onlyB) * difference - onlyA - onlyB;
  const constant = onlyB * difference * (1 - difference);
  const root = Math.sqrt(Math.max(0, linear ** 2 + 8 * constant));
  return (root - linear) / 2 + difference * (1 - difference);
}
