import { mean } from '../../base/stats/mean.ts';

/** Options of {@link treePoAdvantage}. */
export interface TreePoOptions {
  /** Whether larger groups count more: by their size. @defaultValue false */
  readonly weighted?: boolean;
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
 * @see Li et al., "TreePO: Bridging the Gap of Policy Optimization and Efficacy and Inference Efficiency with
 * Heuristic Tree-based Modeling", 2025 (arXiv 2508.17445).
 */
export function treePoAdvantage(
  own: number,
  groups: readonly (readonly number[])[],
  { weighted = false }: TreePoOptions = {},
): number {
  const counted = groups.filter((group, depth) => depth === 0 || group.length > 1);
  const weights = counted.map((group) => (weighted ? group.length : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return counted.reduce(
    (sum, group, place) => sum + ((weights[place] ?? 0) * (own - mean(group))) / total,
    0,
  );
}
