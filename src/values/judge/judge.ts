import { expectFunction, expectMethods, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { LanguageModel } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import { promptsOf } from '../../prompting/prompts.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { noState } from '../no-state.ts';
import { type RequestSettings, requestSettings } from '../request-settings.ts';
import { askBehind, subjectOf, type View } from '../subject.ts';
import { average } from './average.ts';
import { type CodesForm, codesForm } from './codes-form.ts';
import { type CriteriaForm, criteriaForm } from './criteria.ts';
import type { FormSettings, JudgeForm } from './form.ts';
import { type NumberForm, numberForm } from './number.ts';
import { type ScaleForm, scaleForm } from './scale.ts';
import { type SuccessForm, successForm } from './success.ts';
import { type YesNoForm, yesNoForm } from './yes-no.ts';

export { type JudgementScale, judgePrompt } from './scale.ts';

/** What all forms of a judgement have in common. */
export interface JudgeBasics<State = any, Action = any> {
  /** The model. */
  readonly model: LanguageModel;
  /**
   * What is judged: the state that an action led to, or the action before it is taken.
   *
   * @defaultValue `'state'`
   */
  readonly about?: 'action' | 'state';
  /**
   * Whether it is to give a reason, which becomes the rationale of the evaluation. Then the value is that
   * of what it writes, also where the model tells log-probabilities.
   *
   * @defaultValue false for a scale and for yes or no, else true: a judge that must give its reason first judges
   * better
   */
  readonly reason?: boolean;
  /**
   * How many answers are averaged: an integer from 1 up.
   *
   * @defaultValue 1 where the value is read from log-probabilities, else 3
   */
  readonly samples?: number;
  /**
   * The limit on the tokens of one answer. A model that thinks before it writes needs more.
   *
   * @defaultValue for a scale 1 where log-probabilities are read, 64 with a reason, else 8; for other forms what
   * their answers take, 256 with a reason
   */
  readonly maxTokens?: number;
  /** The temperature of sampling: from 0 up, for models that take one. @defaultValue 0 for one sample, else 1 */
  readonly temperature?: number;
  /** The probability mass to sample from, in (0, 1], for models that take a temperature. @defaultValue what the model does */
  readonly topP?: number;
  /** What is judged by, in words. @defaultValue none */
  readonly rubric?: string;
  /** What the model is told behind the state, such as lessons. @defaultValue none */
  readonly promptParts?: readonly PromptPart<State, Action>[];
  /**
   * Makes one score of those of all answers, on the range of the form. MCTSr takes `(min + mean) / 2`.
   *
   * @defaultValue the mean
   */
  readonly aggregate?: (scores: readonly number[]) => number;
}

/** How a language model is asked for a judgement. */
export type JudgeOptions<State = any, Action = any> = JudgeBasics<State, Action> &
  (CodesForm | CriteriaForm | NumberForm | ScaleForm | SuccessForm | YesNoForm);

/**
 * Values nodes by asking a language model for a judgement in one of several forms:
 *
 * - `scale`: one of a few words, as Tree of Thoughts does. Where the model tells log-probabilities, one call is
 *   enough, and the value is the expectation over the words, `Σ p(w) v(w) / Σ p(w)`, read from the first token. A token
 *   counts for a word that it is, but for the marks around it, or that it begins with two letters or more.
 * - `number`: a whole number on a range, as in MCTSr (−100 to 100), LATS (1 to 10) or SWE-Search.
 * - `criteria`: points for each of several criteria, as in I-MCTS.
 * - `codes`: one of the codes A to E, as in R-MCTS.
 * - `yes-no`: P(yes), or the share of *yes*.
 * - `success`: success 1, else on track 0.5, else 0, as Koh et al. do.
 *
 * What is not read from log-probabilities is the mean over samples. All forms but `scale` and `yes-no` answer in
 * JSON, to which models that honour `schema` are bound; with others it is looked for, and the last verdict that
 * is stated counts. An answer that cannot be read does not count and is told in `unscored`; where none counts
 * the node fails. Log-probabilities cannot be read where the words looked for have less than 0.1 together: then
 * something else was likelier by far, and their shares are noise.
 *
 * @see Yao et al., "Tree of Thoughts: Deliberate Problem Solving with Large Language Models", 2023,
 * value prompts.
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function judge<State = any, Action = any>(
  options: JudgeOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions(
    'judge',
    options,
    'model about reason samples maxTokens temperature topP rubric promptParts aggregate form codes meanings prompts criteria range scale',
  );
  const judgement = judgementOf(options);
  const { model, form, view, settings } = judgement;
  return {
    needs: view.about === 'action' ? 'proposed' : 'realised',
    ...provenanceOf(
      { needsNotation: ['judge'] },
      provenanceOfModel(model, settings),
      { prompts: promptsOf(form.prompts) },
      ...view.promptParts,
    ),
    evaluate: (nodes, request) =>
      evaluateEach(judgement.view, nodes, (node) => evaluate(judgement, node, request)),
  };
}

interface Judgement<State, Action> {
  readonly model: LanguageModel;
  readonly view: View<State, Action>;
  readonly form: JudgeForm;
  readonly settings: RequestSettings;
  readonly aggregate: ((scores: readonly number[]) => number) | undefined;
}

function judgementOf<State, Action>(
  options: JudgeOptions<State, Action>,
): Judgement<State, Action> {
  const { model, about = 'state', promptParts = [], aggregate } = options;
  expectMethods('model', model, ['generate']);
  expectOneOf('about', about, ['state', 'action']);
  if (aggregate !== undefined) expectFunction('aggregate', aggregate);
  const { reason, rubric } = options;
  const form = formOf(options, { logprobs: model.capabilities.logprobs === true, reason, rubric });
  const view = { about, promptParts };
  const { samples = form.readsTokens ? 1 : 3, maxTokens = form.maxTokens } = options;
  const { temperature, topP } = options;
  const { schema, readsTokens } = form;
  const settings = requestSettings(model, {
    samples,
    maxTokens,
    temperature,
    topP,
    schema,
    readsTokens,
  });
  return { model, view, form, settings, aggregate };
}

function formOf<State, Action>(
  options: JudgeOptions<State, Action>,
  settings: FormSettings,
): JudgeForm {
  const forms = ['scale', 'number', 'criteria', 'codes', 'yes-no', 'success'];
  if (options.form !== undefined) expectOneOf('form', options.form, forms);
  switch (options.form) {
    case 'number':
      return numberForm(options, settings);
    case 'criteria':
      return criteriaForm(options, settings);
    case 'codes':
      return codesForm(options, settings);
    case 'yes-no':
      return yesNoForm(options, settings);
    case 'success':
      return successForm(options, settings);
    case 'scale':
    case undefined:
      break;
  }
  return scaleForm(options, settings);
}

async function evaluate<State, Action>(
  { model, view, form, settings, aggregate }: Judgement<State, Action>,
  node: SearchNode<State, Action>,
  request: EvaluateRequest<State, Action>,
): Promise<Evaluation | Failed> {
  const { context } = request;
  try {
    const asked = subjectOf(view, node, request);
    const subject = asked instanceof Promise ? await asked : asked;
    if (subject === undefined) return noState;
    const messages = askBehind(subject.messages, form.request(subject.step));
    const { completions } = await context.generate(model, { ...settings, messages });
    return average(form, completions, aggregate);
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}
