import { expectInteger } from '../expect.ts';

/** A 95 % confidence interval, both ends included. */
export interface Interval {
  /** Its lower end. */
  readonly low: number;
  /** Its upper end. */
  readonly high: number;
}

/** The 97.5 % point of the normal distribution: two-sided 95 %. */
export const normalQuantile = 1.959963984540054;

/**
 * The 95 % interval of a proportion, from the number of successes. It is accurate for few trials and near 0 and 1,
 * where the usual `p ± 1.96 · √(p(1 − p)/n)` is not. Without trials it is all of [0, 1].
 *
 * @see Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
 */
export function wilsonInterval(successes: number, trials: number): Interval {
  expectInteger('trials', trials, { min: 0 });
  expectInteger('successes', successes, { min: 0, max: trials });
  if (trials === 0) return { low: 0, high: 1 };
  return shareInterval(successes / trials, trials, normalQuantile);
}

/**
 * Wilson's interval from a proportion in [0, 1], its number of trials (above 0, not necessarily an integer), and the
 * quantile z or t.
 */
export function shareInterval(share: number, trials: number, quantile: number): Interval {
  const scale = 1 + quantile ** 2 / trials;
  const middle = (share + quantile ** 2 / (2 * trials)) / scale;
  const spread = Math.sqrt((share * (1 - share)) / trials + quantile ** 2 / (4 * trials ** 2));
  const half = (quantile * spread) / scale;
  // In theory the bounds are exactly 0 and 1 there; rounding would leave them slightly off.
  return {
    low: share === 0 ? 0 : middle - half,
    high: share === 1 ? 1 : middle + half,
  };
}
