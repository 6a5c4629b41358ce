import { mean } from '../../base/stats/mean.ts';

/**
 * A of each step, where equal steps of several rollouts share one: the mean of A over the rollouts that take it. A
 * step that only one rollout takes keeps the A of that rollout. A rollout that takes a step twice counts once.
 *
 * @param advantages - A of each rollout.
 * @param steps - The key of each step of each rollout: equal for the same action in the same state.
 * @see Li et al., "SALT: Step-level Advantage Assignment for Long-horizon Agents via Trajectory Graph", 2025
 * (arXiv 2510.20022), whose graph merges equal edges of rollouts from one prompt. Its merging rules for states are not taken over: keys decide.
 */
export function saltAdvantages(
  advantages: readonly number[],
  steps: readonly (readonly string[])[],
): readonly (readonly number[])[] {
  const shared = new Map<string, number[]>();
  for (const [rollout, keys] of steps.entries()) {
    for (const key of new Set(keys)) {
      const known = shared.get(key) ?? [];
      known.push(advantages[rollout] ?? 0);
      shared.set(key, known);
    }
  }
  const means = new Map([...shared].map(([key, values]) => [key, mean(values)]));
  return steps.map((keys) => keys.map((key) => means.get(key) ?? 0));
}
