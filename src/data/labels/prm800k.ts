import { expectBoolean, expectNumber } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { RowRule, StepwiseRow } from '../rows.ts';
import type { StepLabel } from './monte-carlo.ts';
import { type StepLabelOptions, stepLabelOptions, stepwiseRule } from './stepwise-rule.ts';

/**
 * Ratings as in PRM800K: −1, 0 or 1 for each step and all its alternatives.
 *
 * - The soft label is the share of right ends at the step and below it, or its evaluation.
 * - Rating: −1 up to `wrongTo`, 1 from `rightFrom`, 0 between; −1 if both apply.
 * - Hard: rating 1.
 *
 * A row that ends with an error has no outcome; a complete one has.
 *
 * @see Lightman et al., "Let's Verify Step by Step", 2023, section 2.4 and appendix A.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function prm800k(
  options: StepLabelOptions & {
    /** The value up to which a step is rated −1: in [0, 1]. @defaultValue 0 */
    readonly wrongTo?: number;
    /** The value from which a step is rated 1: from `wrongTo` to 1. @defaultValue 0.5 */
    readonly rightFrom?: number;
    /** Whether a row ends with its first step rated −1, as those of the data set do. @defaultValue true */
    readonly untilError?: boolean;
  } = {},
): RowRule<StepwiseRow> {
  expectOptions('prm800k', options, `${stepLabelOptions} wrongTo rightFrom untilError`);
  const { untilError = true, wrongTo = 0, rightFrom = 0.5 } = options;
  expectBoolean('untilError', untilError);
  expectNumber('wrongTo', wrongTo, { min: 0, max: 1 });
  expectNumber('rightFrom', rightFrom, { min: wrongTo, max: 1 });
  const ratingOf = (value: number): StepLabel['rating'] =>
    value <= wrongTo ? -1 : value >= rightFrom ? 1 : 0;
  return stepwiseRule({
    name: 'prm800k',
    title: 'ratings of each step, with its alternatives',
    paper: 'Lightman et al., 2023, arXiv 2305.20050',
    options,
    untilError,
    labels: (_trees, _record, shareOf) => (node) => {
      const value = shareOf(node);
      if (value === undefined) return undefined;
      const rating = ratingOf(value);
      return { value, rating, label: rating === 1 };
    },
  });
}
