import type { WideningRule } from './selection.ts';

/** Options of {@link progressiveWidening}. */
export interface ProgressiveWideningOptions {
  /** k, the width at the first visit. @defaultValue 1 */
  readonly k?: number;
  /** α in [0, 1]: how fast the width grows with visits. @defaultValue 0.5 */
  readonly alpha?: number;
}

/**
 * Allows another child while `|children| < k · N^α`: the more a node is visited, the wider it gets.
 * Simulations under way count as visits, and a sample that brought nothing new counts as a child: a policy
 * that repeats itself must not hold a search up.
 *
 * @see Couëtoux et al., "Continuous Upper Confidence Trees", 2011; Chaslot et al., "Progressive
 * Strategies for Monte-Carlo Tree Search", 2008.
 */
export function progressiveWidening({
  k = 1,
  alpha = 0.5,
}: ProgressiveWideningOptions = {}): WideningRule {
  return ({ children, samples, visits, inFlight }) =>
    Math.max(children.length, samples) < k * Math.max(1, visits + inFlight) ** alpha;
}
