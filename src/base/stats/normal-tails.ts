/**
 * The probability that a standard normal variable is outside ± `z`: the two-sided p-value of a score. Accurate to at
 * least seven digits, even far out in the tails.
 *
 * @see Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.2.11 within 3 and 26.2.14 beyond.
 */
export function normalTails(z: number): number {
  const x = Math.abs(z);
  const density = Math.exp(-(x ** 2) / 2) / Math.sqrt(2 * Math.PI);
  if (x > 3) {
    let fraction = 0;
    for (let depth = 60; depth >= 1; depth--) fraction = depth / (x + fraction);
    return (2 * density) / (x + fraction);
  }
  let [term, sum] = [x, x];
  for (let odd = 3; term > 1e-17; odd += 2) {
    term *= x ** 2 / odd;
    sum += term;
  }
  return 1 - 2 * density * sum;
}
