import { expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import { byForm, type JudgeForm } from './by-form.ts';
import { codesForm, criteriaForm, numberForm, successForm, yesNoForm } from './forms.ts';
import type { JudgeOptions } from './judge-options.ts';
import { scaleForm } from './scale.ts';

/**
 * Values nodes by asking a language model for a judgement in one of several forms:
 *
 * - `scale`: one of a few words, as Tree of Thoughts does. Where the model tells log-probabilities, one call is
 *   enough, and the value is the expectation over the words, `Σ p(w) v(w) / Σ p(w)`, read from the first token. A token
 *   counts for a word that it is, but for the marks around it, or that it begins with two letters or more. Where that
 *   token is a blank, or log-probabilities are not told after all, the model is asked once more, for up to 8 tokens;
 *   `maxTokens` saves the second call.
 * - `number`: an integer on a range, as in MCTSr (−100 to 100), LATS (1 to 10) or SWE-Search.
 * - `criteria`: points for each of several criteria, as in I-MCTS: their sum over the most there can be. The share of
 *   each is kept as a part, and the sum as the raw score, as is the number of the form before.
 * - `codes`: one of the codes A to E, as in R-MCTS, which takes the mean of 20 samples.
 * - `yes-no`: P(yes) where the model tells log-probabilities and no reason is wanted, or the share of *yes*.
 * - `success`: success 1, else on track 0.5, else 0, as Koh et al. do, with 20 samples at temperature 1.
 *
 * What is not read from log-probabilities is the mean over samples. All forms but `scale` and `yes-no` answer in
 * JSON, to which models that support `schema` are bound; with others it is looked for, and the last verdict that
 * is stated counts. An answer that cannot be read does not count and is counted in `unscored`; where none counts
 * the node fails. Log-probabilities cannot be read where the words looked for have less than 0.1 together: then
 * something else was likelier by far, and their shares are noise.
 *
 * @see Yao et al., "Tree of Thoughts: Deliberate Problem Solving with Large Language Models", 2023,
 * value prompts; Koh et al., "Tree Search for Language Model Agents", 2024; Yu et al., "ExACT: Teaching AI Agents to
 * Explore with Reflective-MCTS and Exploratory Learning", 2024, codes.
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
