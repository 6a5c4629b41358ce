import { expectBoolean, expectOneOf, expectText } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import { byForm, type JudgeForm } from './by-form.ts';
import { codesForm, criteriaForm, numberForm, successForm, yesNoForm } from './forms.ts';
import type { JudgeOptions } from './judge-options.ts';
import { scaleForm } from './scale.ts';

/**
 * Values nodes by asking a language model for a judgement in one of several forms:
 *
 * - `scale`: one of a few words, as in Tree of Thoughts. With log-probabilities, one call is enough, and the value is
 *   the expectation over the words, `Σ p(w) v(w) / Σ p(w)`, read from the first token. A token counts for a word if it
 *   equals it, ignoring punctuation, or is a prefix of at least two letters. If that token is blank, or
 *   log-probabilities are missing after all, the model is asked again for up to 8 tokens; setting `maxTokens` avoids
 *   the second call.
 * - `number`: an integer on a range, as in MCTSr (−100 to 100), LATS (1 to 10) or SWE-Search.
 * - `criteria`: points for each of several criteria, as in I-MCTS: their sum divided by the maximum. The share of each
 *   is kept as a part, and the sum as the raw score, like the number of `number`.
 * - `codes`: one of the codes A to E, as in R-MCTS, which takes the mean of 20 samples.
 * - `yes-no`: P(yes) if the model reports log-probabilities and no reason is wanted, else the share of *yes*.
 * - `success`: success 1, else on track 0.5, else 0, as in Koh et al., with 20 samples at temperature 1.
 *
 * Without log-probabilities, the value is the mean over samples. All forms except `scale` and `yes-no` answer in JSON,
 * to which models that support `schema` are constrained; in other models' answers it is searched for, and the last
 * verdict counts. An unreadable answer is ignored and counted in `unscored`; if none counts, the node fails.
 * Log-probabilities are unreadable if the expected words have less than 0.1 in total: something else was far likelier,
 * and their shares are noise.
 *
 * @see Yao et al., "Tree of Thoughts: Deliberate Problem Solving with Large Language Models", 2023, value prompts; Koh
 * et al., "Tree Search for Language Model Agents", 2024; Yu et al., "ExACT: Teaching AI Agents to Explore with
 * Reflective-MCTS and Exploratory Learning", 2024, codes.
 * @throws EspalierError `usage` if an option is out of range.
 */
export function judge<State = any, Action = any>(
  options: JudgeOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions(
    'judge',
    options,
    'model about reason samples maxTokens temperature topP rubric promptParts aggregate form codes meanings prompts criteria range scale',
  );
  const { reason = false, rubric = '' } = options;
  expectBoolean('reason', reason);
  expectText('rubric', rubric);
  return byForm('judge', options, (logprobs) => formOf(options, logprobs));
}

function formOf(options: JudgeOptions, logprobs: boolean): JudgeForm {
  const forms = ['scale', 'number', 'criteria', 'codes', 'yes-no', 'success'];
  if (options.form !== undefined) expectOneOf('form', options.form, forms);
  switch (options.form) {
    case 'number':
      return numberForm(options);
    case 'criteria':
      return criteriaForm(options);
    case 'codes':
      return codesForm(options);
    case 'yes-no':
      return yesNoForm(options, logprobs);
    case 'success':
      return successForm(options);
    case 'scale':
    case undefined:
      break;
  }
  return scaleForm(options, logprobs);
}
