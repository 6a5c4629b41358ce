import { zScores } from './z-scores.ts';

/**
 * G of each step, `G_t = Σ γ^(k−t) r_k` over the steps k from t on.
 *
 * @param rewards - r of each step.
 * @param discount - γ, in [0, 1].
 */
export function stepReturns(rewards: readonly number[], discount: number): readonly number[] {
  const returns: number[] = [];
  let next = 0;
  for (const reward of rewards.toReversed()) {
    next = reward + discount * next;
    returns.unshift(next);
  }
  return returns;
}

/** What {@link anchorAdvantages} reads. */
export interface AnchoredSteps {
  /** The key of the state before each step, by rollout. */
  readonly anchors: readonly (readonly string[])[];
  /** G of each step, by rollout. */
  readonly returns: readonly (readonly number[])[];
}

/**
 * The step-level advantage of GiGPO: the z-score of G among all steps of all rollouts that were taken from the same
 * state. A step from a state that nothing else was taken from scores 0.
 *
 * @param epsilon - ε of {@link zScores}.
 * @see Feng et al., "Group-in-Group Policy Optimization for LLM Agent Training", 2025 (arXiv 2505.10978). The
 * paper's σ, or 1 in its place, has no ε.
 */
export function anchorAdvantages(
  { anchors, returns }: AnchoredSteps,
  epsilon: number,
): readonly (readonly number[])[] {
  const groups = new Map<string, { readonly of: readonly [number, number]; value: number }[]>();
  for (const [rollout, keys] of anchors.entries()) {
    for (const [step, key] of keys.entries()) {
      const group = groups.get(key) ?? [];
      group.push({ of: [rollout, step], value: returns[rollout]?.[step] ?? 0 });
      groups.set(key, group);
    }
  }
  const advantages = anchors.map((keys) => keys.map(() => 0));
  for (const group of groups.values()) {
    const scores = zScores(
      group.map(({ value }) => value),
      epsilon,
    );
    for (const [place, { of }] of group.entries()) {
      const own = advantages[of[0]];
      if (own !== undefined) own[of[1]] = scores[place] ?? 0;
    }
  }
  return advantages;
}
