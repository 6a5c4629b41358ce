/** The first index at which the cumulative weight exceeds a share of the total; −1 if rounding prevents it. */
export function placeOf(weights: readonly number[], share: number): number {
  let left = share;
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
}
