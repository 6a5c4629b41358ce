import type { PathChoice } from '../path-choice.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import { shareLabel, type ValueSource } from './monte-carlo.ts';
import { type StepLabelOptions, stepwiseRule } from './stepwise-rule.ts';

/** Options of `omegaPrm`. */
export interface OmegaPrmLabelOptions extends StepLabelOptions {
  /** Where MC(s) is read. @defaultValue `'evaluation'`, where a node has none the ends */
  readonly from?: ValueSource;
  /**
   * Which paths become rows.
   *
   * @defaultValue `'leaves'`: every prefix that was evaluated stands in a row
   */
  readonly paths?: PathChoice;
}

/**
 * Labels of OmegaPRM: each prefix by its own Monte-Carlo value.
 *
 * - Soft: MC(s), the share of rollouts from the prefix that went right.
 * - Hard, and the rating as 1 or −1: MC(s) > 0.
 *
 * The paper makes one example of each prefix; here all prefixes of a path stand in one row, and each step has the
 * value of the prefix that it ends.
 *
 * @see Luo et al., "Improve Mathematical Reasoning in Language Models by Automated Process Supervision", 2024
 * (arXiv 2406.06592).
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function omegaPrm(options: OmegaPrmLabelOptions = {}): RowRule<StepwiseRow> {
  return stepwiseRule({
    name: 'omega-prm',
    title: 'the Monte-Carlo value of each prefix',
    paper: 'Luo et al., 2024, arXiv 2406.06592',
    options: { from: 'evaluation', paths: 'leaves', ...options },
    labels: (_record, shareOf) => (node) => {
      const share = shareOf(node);
      return share === undefined ? undefined : shareLabel(share);
    },
  });
}
