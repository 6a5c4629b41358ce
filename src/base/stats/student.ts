/**
 * The probability that Student's t is within ± `t`, with `freedom` degrees of freedom: an integer from 1 up.
 *
 * @see Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.7.3 and 26.7.4.
 */
export function studentWithin(t: number, freedom: number): number {
  const angle = Math.atan(t / Math.sqrt(freedom));
  const cosine = Math.cos(angle);
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let power = isOdd ? 3 : 2; power <= freedom - 2; power += 2) {
    term *= ((power - 1) / power) * cosine ** 2;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

/** The 97.5 % point of Student's t: two-sided 95 %. @param freedom - An integer from 1 up. */
export function studentQuantile(freedom: number): number {
  let [low, high] = [1.9, 12.8];
  while (high - low > 1e-10) {
    const middle = (low + high) / 2;
    if (studentWithin(middle, freedom) < 0.95) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
