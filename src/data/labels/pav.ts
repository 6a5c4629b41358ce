import { expectInteger, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import type { StepLabel } from './monte-carlo.ts';
import { type StepLabelOptions, stepLabelOptions, stepwiseRule } from './stepwise-rule.ts';

/** Options of {@link pav}. */
export interface PavOptions extends StepLabelOptions {
  /** α, the weight of the progress: from 0 up. @defaultValue 0.5, the paper's for its smaller models */
  readonly alpha?: number;
  /** K of the prover, the best of K of the base policy: an integer from 1 up. @defaultValue 4, the paper's */
  readonly prover?: number;
}

type ProgressOptions = Required<Pick<PavOptions, 'alpha' | 'prover'>>;

/**
 * Process advantage: the effective reward of a step, its value and the progress that it makes under a prover.
 *
 * - Soft: `Q + α · A`, with the progress `A = V(after) − V(before)` of a prover that takes the best of K:
 *   `V = 1 − (1 − Q)^K`. It may leave [0, 1]: from −α to 1 + α.
 * - Hard: the progress is above 0, or Q is 1, so that no progress is possible.
 * - Rating: 1 if the hard label holds, 0 without progress, −1 for a setback.
 *
 * Q of a step is the share of right ends at it and below it, before the first step that of the root.
 *
 * Unlike in the paper, which draws fresh rollouts and trains separate verifiers for Q and the advantage, both come from
 * the tree and make one label.
 *
 * @see Setlur et al., "Rewarding Progress: Scaling Automated Process Verifiers for LLM Reasoning", 2024
 * (arXiv 2410.08146).
 * @throws EspalierError `usage` if an option is out of range.
 */
export function pav(options: PavOptions = {}): RowRule<StepwiseRow> {
  expectOptions('pav', options, `${stepLabelOptions} alpha prover`);
  const { alpha = 0.5, prover = 4 } = options;
  expectNumber('alpha', alpha, { min: 0 });
  expectInteger('prover', prover, { min: 1 });
  return stepwiseRule({
    name: 'pav',
    title: 'progress of each step under a prover',
    paper: 'Setlur et al., 2024, arXiv 2410.08146',
    options,
    labels: (_trees, _record, qvalueOf) => (node) => {
      const after = qvalueOf(node);
      const before = qvalueOf(node.parent);
      if (after === undefined || before === undefined) return undefined;
      return labelOf(before, after, { alpha, prover });
    },
  });
}

/**
 * `Q + α · A`, with the progress `A = V(after) − V(before)` of a prover that takes the best of K:
 * `V = 1 − (1 − Q)^K`.
 *
 * @param before - Q before the step, in [0, 1].
 * @param after - Q after it, in [0, 1].
 */
export function effectiveReward(before: number, after: number, options: ProgressOptions): number {
  return after + options.alpha * progressOf(before, after, options.prover);
}

function progressOf(before: number, after: number, prover: number): number {
  return (1 - before) ** prover - (1 - after) ** prover;
}

function labelOf(before: number, after: number, options: ProgressOptions): StepLabel {
  const progress = progressOf(before, after, options.prover);
  const label = progress > 0 || after === 1;
  return {
    value: effectiveReward(before, after, options),
    label,
    rating: label ? 1 : progress < 0 ? -1 : 0,
  };
}
