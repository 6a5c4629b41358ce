import { expectOptions } from '../../base/expect-options.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import { type StepLabelOptions, stepLabelOptions, stepwiseRule } from './stepwise-rule.ts';

/**
 * Labels of OmegaPRM: each prefix by its own Monte-Carlo value.
 *
 * - Soft: MC(s), the share of successful rollouts from the prefix.
 * - Hard, and the rating as 1 or −1: MC(s) > 0.
 *
 * The paper makes one example per prefix; here all prefixes of a path are in one row, and each step has the value of
 * the prefix that it ends.
 *
 * @see Luo et al., "Improve Mathematical Reasoning in Language Models by Automated Process Supervision", 2024
 * (arXiv 2406.06592).
 * @throws EspalierError `usage` if an option is out of range.
 */
export function omegaPrm(options: StepLabelOptions = {}): RowRule<StepwiseRow> {
  expectOptions('omegaPrm', options, stepLabelOptions);
  return stepwiseRule({
    name: 'omega-prm',
    title: 'the Monte-Carlo value of each prefix',
    paper: 'Luo et al., 2024, arXiv 2406.06592',
    options: { from: 'evaluation', paths: 'leaves', ...options },
  });
}
