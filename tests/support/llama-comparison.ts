/** How far two sets of logits are apart. Distances are in parts of the range of the second at each position. */
export interface LogitDistance {
  readonly positions: number;
  /** The largest of all. */
  readonly worst: number;
  /** The mean of all. */
  readonly mean: number;
  /** At how many positions the likeliest token is another one. */
  readonly argmaxes: number;
}

/** Compares the logits of two implementations, position by position. */
export function logitDistance(
  ours: readonly Float32Array[],
  theirs: readonly Float32Array[],
): LogitDistance {
  let [worst, sum, count, argmaxes] = [0, 0, 0, 0];
  for (const [position, mine] of ours.entries()) {
    const other = theirs[position] ?? new Float32Array();
    const range = Math.max(...other) - Math.min(...other);
    for (const [token, logit] of mine.entries()) {
      const distance = Math.abs(logit - (other[token] ?? Number.NaN)) / range;
      // What cannot be compared is as far apart as can be.
      worst = Math.max(worst, Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance);
      sum += distance;
      count++;
    }
    if (mine.indexOf(Math.max(...mine)) !== other.indexOf(Math.max(...other))) argmaxes++;
  }
  return { positions: ours.length, worst, mean: sum / count, argmaxes };
}
