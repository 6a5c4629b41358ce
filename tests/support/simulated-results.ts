import type { Interval } from '../../src/base/stats/wilson-interval.ts';
import type { Random } from '../../src/contracts/context.ts';

/** Results of two ways, and the cluster of each. */
export interface Simulated {
  readonly a: boolean[];
  readonly b: boolean[];
  readonly clusters: string[];
}

/** How clusters are made. */
export interface Clusters {
  readonly count: number;
  /** Results of each cluster: from the first to the second, each equally likely. */
  readonly size: readonly [number, number];
}

/** One pair of results a problem, as far in common as `overlap` says: 0 independent, 1 as much as the shares allow. */
export function pairsOf(
  n: number,
  shares: { readonly a: number; readonly b: number; readonly overlap: number },
  random: Random,
): Simulated {
  const { a, b, overlap } = shares;
  const both = a * b + overlap * Math.min(a * (1 - b), b * (1 - a));
  const drawn = Array.from({ length: n }, () => random.next());
  return {
    a: drawn.map((u) => u < a),
    b: drawn.map((u) => u < both || (u >= a && u < a + b - both)),
    clusters: drawn.map((_, place) => String(place)),
  };
}

/**
 * Results in clusters: each has a chance of its own, from a beta distribution with the mean `share`, so that two results of a
 * cluster correlate by `within`. Both ways have it in common with the chance `overlap`, else each its own.
 */
export function clusteredPairsOf(
  { count, size: [least, most] }: Clusters,
  shares: {
    readonly a: number;
    readonly b: number;
    readonly within: number;
    readonly overlap: number;
  },
  random: Random,
): Simulated {
  const found: Simulated = { a: [], b: [], clusters: [] };
  for (let cluster = 0; cluster < count; cluster++) {
    const chanceA = beta(shares.a, shares.within, random);
    const same = shares.a === shares.b && random.next() < shares.overlap;
    const chanceB = same ? chanceA : beta(shares.b, shares.within, random);
    const size = least + random.integer(most - least + 1);
    for (let result = 0; result < size; result++) {
      found.a.push(random.next() < chanceA);
      found.b.push(random.next() < chanceB);
      found.clusters.push(String(cluster));
    }
  }
  return found;
}

/** Percentiles of the means of clusters drawn anew, with putting back: the bootstrap that the figures stand beside. */
export function bootstrapInterval(means: readonly number[], random: Random): Interval {
  const draws = 400;
  const sums = Array.from({ length: draws }, () => {
    let sum = 0;
    for (const _ of means) sum += means[random.integer(means.length)] ?? 0;
    return sum / means.length;
  }).sort((one, other) => one - other);
  return {
    low: sums[Math.floor(draws * 0.025)] ?? 0,
    high: sums[Math.ceil(draws * 0.975) - 1] ?? 1,
  };
}

/** Mean `share`, and `within` = 1 / (α + β + 1). */
function beta(share: number, within: number, random: Random): number {
  const total = (1 - within) / within;
  const [a, b] = [gamma(share * total, random), gamma((1 - share) * total, random)];
  return a + b === 0 ? Number(random.next() < share) : a / (a + b);
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random.next()) ** (1 / shape);
  const d = shape - 1 / 3;
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - random.next()) < x ** 2 / 2 + d - d * v + d * Math.log(v))
      return d * v;
  }
}
