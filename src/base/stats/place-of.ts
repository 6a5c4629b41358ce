/** The place at which so much of the sum of weights is passed; −1 where it never is, as rounding may have it. */
export function placeOf(weights: readonly number[], share: number): number {
  let left = share;
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
}
