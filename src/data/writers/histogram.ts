/** How many values fell into each bin. */
export interface Histogram {
  /** The bins that hold something, and those between them. */
  readonly bins: readonly {
    /** The lower bound, which belongs to the bin. */
    readonly from: number;
    /** The upper bound, which does not. */
    readonly to: number;
    /** How many values. */
    readonly count: number;
  }[];
  /** How many values there were. */
  readonly count: number;
  /** Their mean; 0 if there were none. */
  readonly mean: number;
}

/**
 * Counts in fixed bins, so that nothing needs to be kept.
 *
 * @param bounds - Ascending: the lower bounds of the bins. What is below the first one counts in the first bin.
 */
export function histogramCounter(bounds: readonly number[]): {
  add(value: number): void;
  histogram(): Histogram;
} {
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;
  return {
    add(value) {
      const bin = Math.max(
        0,
        bounds.findLastIndex((bound) => bound <= value),
      );
      counts[bin] = (counts[bin] ?? 0) + 1;
      count += 1;
      sum += value;
    },
    histogram() {
      const first = counts.findIndex((held) => held > 0);
      const last = counts.findLastIndex((held) => held > 0);
      const bins = bounds.map((from, place) => ({
        from,
        to: bounds[place + 1] ?? Number.POSITIVE_INFINITY,
        count: counts[place] ?? 0,
      }));
      return {
        bins: first < 0 ? [] : bins.slice(first, last + 1),
        count,
        mean: count === 0 ? 0 : sum / count,
      };
    },
  };
}

/** Bins for lengths in characters: powers of two. */
export const lengthBounds: readonly number[] = [
  0,
  ...Array.from({ length: 24 }, (_, power) => 2 ** power),
];

/** Bins for margins: tenths up to 1, then 1, 2, 5, 10, 100. */
export const marginBounds: readonly number[] = [
  ...Array.from({ length: 10 }, (_, tenth) => tenth / 10),
  1,
  2,
  5,
  10,
  100,
];
