import { expectOneOf } from '../../base/expect.ts';
import { expectPathChoice } from '../path-choice.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import { shareLabels, type ValueSource } from './monte-carlo.ts';
import { type StepwisePaths, stepwiseRule } from './stepwise-rule.ts';

/** Options of `stepLabels.mathShepherd`. */
export interface MathShepherdOptions extends StepwisePaths {
  /** Where the share of right continuations is read. @defaultValue `'ends'` */
  readonly from?: ValueSource;
}

/**
 * Labels by Monte-Carlo estimation: a step is as good as what was reached from it.
 *
 * - Soft: the share of right ends among the scored ones at the step and below it.
 * - Hard, and the rating as 1 or −1: any of them is right.
 *
 * MedS³ trains its reward model on the soft label alone.
 *
 * Otherwise than in the papers, the continuations are those that the search drew, not fresh ones: they are biased
 * towards what it took for good. A step below which no end was scored ends the row.
 *
 * @see Wang et al., "Math-Shepherd: Verify and Reinforce LLMs Step-by-step without Human Annotations", 2023,
 * section 3.3, equations 2 and 3; Jiang et al., "MedS³: Towards Medical Small Language Models with Self-Evolved
 * Slow Thinking", 2025.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function mathShepherd(options: MathShepherdOptions = {}): RowRule<StepwiseRow> {
  const { from = 'ends', paths = 'ends' } = options;
  expectOneOf('from', from, ['ends', 'evaluation']);
  expectPathChoice('paths', paths);
  return stepwiseRule({
    name: 'math-shepherd',
    paths,
    labels: (record) => shareLabels(record, from),
  });
}
