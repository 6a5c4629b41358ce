import { type Interval, wilsonInterval } from '../../base/stats/wilson-interval.ts';

/** A share with its 95 % interval. */
export interface ShareInterval extends Interval {
  /** The share, in [0, 1]; 0 of none. */
  readonly share: number;
}

/** The 95 % interval of a share; without trials all of [0, 1]. */
export function shareInterval(count: number, trials: number): ShareInterval {
  return { share: trials === 0 ? 0 : count / trials, ...wilsonInterval(count, trials) };
}
