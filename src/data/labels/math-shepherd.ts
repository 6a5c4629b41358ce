import { expectOptions } from '../../base/expect-options.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import { type StepLabelOptions, stepLabelOptions, stepwiseRule } from './stepwise-rule.ts';

/**
 * Labels by Monte-Carlo estimation: a step is as good as the ends reached from it.
 *
 * - Soft: the share of right ends among the scored ones at the step and below it.
 * - Hard, and the rating as 1 or −1: any of them is right.
 *
 * MedS³ trains its reward model on the soft label alone.
 *
 * Unlike in the papers, the continuations are those of the search, not fresh ones, so they are biased towards what it
 * valued. A step without a scored end below ends the row.
 *
 * @see Wang et al., "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations", 2023, section
 * 3.3, equations 2 and 3; Jiang et al., "MedS³: Towards Medical Small Language Models with Self-Evolved Slow Thinking",
 * 2025.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function mathShepherd(options: StepLabelOptions = {}): RowRule<StepwiseRow> {
  expectOptions('mathShepherd', options, stepLabelOptions);
  return stepwiseRule({
    name: 'math-shepherd',
    title: 'the share of right ends below each step',
    paper: 'Wang et al., 2023, arXiv 2312.08935',
    options,
  });
}
