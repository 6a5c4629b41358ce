import { zScores } from './z-scores.ts';

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
