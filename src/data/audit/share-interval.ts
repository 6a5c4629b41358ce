/** A share with its 95 % interval. */
export interface ShareInterval {
  /** The share, in [0, 1]; 0 of none. */
  readonly share: number;
  /** The lower end. */
  readonly low: number;
  /** The upper end. */
  readonly high: number;
}

/** The 97.5 % point of the normal distribution. */
const z = 1.959963984540054;

/**
 * The 95 % interval of a share; without trials all of [0, 1].
 *
 * @see Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
 */
export function shareInterval(count: number, trials: number): ShareInterval {
  if (trials === 0) return { share: 0, low: 0, high: 1 };
  const share = count / trials;
  const scale = 1 + z ** 2 / trials;
  const middle = (share + z ** 2 / (2 * trials)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2))) / scale;
  return { share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
