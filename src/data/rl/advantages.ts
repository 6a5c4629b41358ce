import { mean } from '../../base/stats/mean.ts';

/**
 * `(x − μ) / (σ + ε)` of each number, with the deviation of the numbers themselves, `σ² = Σ (x − μ)² / n`. Equal
 * numbers, and a single one, score 0.
 *
 * @param epsilon - ε, above 0.
 * @see Shao et al., "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", 2024,
 * section 4.1.2, for groups of rollouts. TRL takes σ² with n − 1.
 */
export function zScores(values: readonly number[], epsilon: number): readonly number[] {
  const centre = mean(values);
  // A mean of equal numbers may be off by a rounding error, which a small ε would blow up.
  if (values.every((value) => value === values[0])) return values.map(() => 0);
  const deviation = Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
  return values.map((value) => (value - centre) / (deviation + epsilon));
}

/**
 * A of all ends of a problem: the z-score within the own tree plus the z-score across all trees.
 *
 * @param trees - The returns of the ends of each tree.
 * @param epsilon - ε of {@link zScores}.
 * @returns A of each end, by tree.
 * @see Ji et al., "Tree Search for LLM Agent Reinforcement Learning", 2025 (arXiv 2509.21240).
 */
export function treeGrpoAdvantages(
  trees: readonly (readonly number[])[],
  epsilon: number,
): readonly (readonly number[])[] {
  const across = zScores(trees.flat(), epsilon);
  let place = 0;
  return trees.map((returns) =>
    zScores(returns, epsilon).map((within) => within + (across[place++] ?? 0)),
  );
}

/**
 * A of an end from the groups that it belongs to, one for each node of its path: the ends at and below that node.
 *
 * With `a_j = R − mean(R of group j)`: `A = (1/J) Σ a_j`, or, weighted by size, `A = Σ |G_j| a_j / Σ |G_j|`. Below
 * the root only groups of two and more count. The batch is not whitened here, as the paper does afterwards: that is
 * for the trainer.
 *
 * @param own - R of the end.
 * @param groups - The returns of each group, own included, from the root's on: at least that one.
 * @param weighted - Whether larger groups count more: by their size.
 * @see Li et al., "TreePO: Bridging the Gap of Policy Optimization and Efficacy and Inference Efficiency with
 * Heuristic Tree-based Modeling", 2025 (arXiv 2508.17445).
 */
export function treePoAdvantage(
  own: number,
  groups: readonly (readonly number[])[],
  weighted = false,
): number {
  const counted = groups.filter((group, depth) => depth === 0 || group.length > 1);
  const weights = counted.map((group) => (weighted ? group.length : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return counted.reduce(
    (sum, group, place) => sum + ((weights[place] ?? 0) * (own - mean(group))) / total,
    0,
  );
}

/** The returns of the ends at and below a node. */
export interface SubtreeReturn {
  /** V(n), the mean of R over the ends. */
  readonly value: number;
  /** |leaves(n)|, how many ends there are: from 1 up. */
  readonly leaves: number;
}

/**
 * V(n) of all nodes, `V(n) = Σ R(ℓ) / |leaves(n)|` over the ends ℓ at and below n; `undefined` for a node without
 * one.
 *
 * @param parents - The parent of each node, by id; parents come before their children, and the first is the root,
 * whose entry is not looked at.
 * @param returns - R of each end, by id.
 */
export function subtreeReturns(
  parents: readonly number[],
  returns: ReadonlyMap<number, number>,
): readonly (SubtreeReturn | undefined)[] {
  const sums = parents.map((_, id) => returns.get(id) ?? 0);
  const leaves = parents.map((_, id): number => (returns.has(id) ? 1 : 0));
  for (let id = parents.length - 1; id > 0; id--) {
    const parent = parents[id] ?? 0;
    sums[parent] = (sums[parent] ?? 0) + (sums[id] ?? 0);
    leaves[parent] = (leaves[parent] ?? 0) + (leaves[id] ?? 0);
  }
  return leaves.map((count, id) =>
    count === 0 ? undefined : { value: (sums[id] ?? 0) / count, leaves: count },
  );
}

/** V(n) of a step and of the steps above it. */
export interface StepValues {
  /** V(n), behind the step. */
  readonly value: number;
  readonly parent: number;
  readonly root: number;
  readonly leaves: number;
}

/** `V(n) − V(parent)`: the change made by the step itself. */
export function localAdvantage({ value, parent }: StepValues): number {
  return value - parent;
}

/** `V(n) − V(root)`: the worth of the path up to the step beyond that of the problem. */
export function globalAdvantage({ value, root }: StepValues): number {
  return value - root;
}

/**
 * `(A_local + A_global) / √|leaves(n)|`: steps that many ends share count less in each of them.
 *
 * @see Hou et al., "TreeRL: LLM Reinforcement Learning with On-Policy Tree Search", 2025 (arXiv 2506.11902).
 */
export function treeRlAdvantage(step: StepValues): number {
  return (localAdvantage(step) + globalAdvantage(step)) / Math.sqrt(step.leaves);
}

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

/**
 * The step-level advantage of GiGPO: the z-score of G among all steps of all rollouts that were taken from the same
 * state. A step that is the only one taken from its state scores 0.
 *
 * @param anchors - The key of the state before each step, by rollout.
 * @param returns - G of each step, by rollout.
 * @param epsilon - ε of {@link zScores}.
 * @see Feng et al., "Group-in-Group Policy Optimization for LLM Agent Training", 2025 (arXiv 2505.10978). The paper's
 * σ, or 1 in its place, has no ε.
 */
export function anchorAdvantages(
  anchors: readonly (readonly string[])[],
  returns: readonly (readonly number[])[],
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
