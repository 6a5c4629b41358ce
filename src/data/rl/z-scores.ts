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
