import { expectation, expectFunction } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Oracle, Verdict } from '../../contracts/verifier.ts';
import { sameAnswerTo } from './is-same-answer.ts';
import type { ReasoningState } from './reasoning-state.ts';

/**
 * Labels finished solutions by the gold answer, compared by `isEqual` or by default `isSameAnswer`, which lets an
 * answer omit the percent sign if the question asks for a percentage. For training data and benchmarks only: searches
 * refuse it. A state without an answer is wrong.
 *
 * @param gold - The known answer: a non-empty text.
 * @throws EspalierError `usage` if `gold` or an option is invalid.
 */
export function answerOracle(
  gold: string,
  options: { readonly isEqual?: (left: string, right: string) => boolean } = {},
): Readonly<Record<keyof Oracle<never>, (state: ReasoningState) => Verdict>> {
  expectOptions('answerOracle', options, 'isEqual');
  const { isEqual } = options;
  if (typeof gold !== 'string' || gold.trim() === '') {
    throw expectation('gold', 'a text that is not empty', gold);
  }
  if (isEqual !== undefined) expectFunction('isEqual', isEqual);
  return {
    label({ question, answer }) {
      if (answer === undefined) return { correct: false, rationale: 'There is no answer.' };
      const correct = (isEqual ?? sameAnswerTo(question))(answer, gold);
      return { correct, rationale: `The answer is \`${answer}\`, the gold answer \`${gold}\`.` };
    },
  };
}
