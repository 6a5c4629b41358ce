import { expectMethods, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { Completion, LanguageModel } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import { answerIn, likelyEnough, probabilitiesOf } from '../../prompting/answer-words.ts';
import { fill, type PromptSet, promptsOf, withTexts } from '../../prompting/prompts.ts';
import { choiceIn } from '../../prompting/read-field.ts';
import { fieldsIn, type Reading, replyText } from '../../prompting/read-reply.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { noState } from '../no-state.ts';
import { type RequestSettings, requestSettings } from '../request-settings.ts';
import { askBehind, subjectOf, type View } from '../subject.ts';
import { average } from './average.ts';

/** The texts of a self-evaluation. */
export type SelfEvalText = 'action' | 'state';

/** How a model is asked about its own work. */
export interface SelfEvalOptions<State = any, Action = any> {
  /** The model, as a rule the one that proposes. */
  readonly model: LanguageModel;
  /** What is evaluated: the state that an action led to, or the action before it is taken. @defaultValue `'state'` */
  readonly about?: 'action' | 'state';
  /**
   * How many answers are averaged: an integer from 1 up.
   *
   * @defaultValue 1 where the model tells log-probabilities, else 8
   */
  readonly samples?: number;
  /** The limit on the tokens of one answer: an integer from 1 up. @defaultValue 4 */
  readonly maxTokens?: number;
  /** The temperature of sampling: from 0 up, for models that take one. @defaultValue 0 for one sample, else 1 */
  readonly temperature?: number;
  /** What the model is told behind the state, such as lessons. @defaultValue none */
  readonly promptParts?: readonly PromptPart<State, Action>[];
  /** Texts to replace: `state`, and `action` with the slot `{step}`. A is for wrong, B for right. */
  readonly prompts?: Partial<Readonly<Record<SelfEvalText, string>>>;
}

const choices = [
  '(A) incorrect',
  '(B) correct',
  'Answer with one letter and nothing else: A or B.',
].join('\n');

const selfEvalPrompts: PromptSet<SelfEvalText> = {
  name: 'self-eval',
  version: 1,
  texts: {
    state: [
      'Do not write a step. Look at the work so far, its last step above all: does each step follow from what',
      `stands before it, and does the work head for the goal?\n${choices}`,
    ].join(' '),
    action: [
      'Proposed step: {step}\n\nDo not write a step. Look at the proposed one: does it follow from what stands',
      `before it, and does the work head for the goal with it?\n${choices}`,
    ].join(' '),
  },
};

/**
 * Values nodes by a model's confidence in its own work, P(True): it is asked whether the work is (A) incorrect
 * or (B) correct, and the value is
 *
 * `C = P(B) / (P(A) + P(B))`,
 *
 * where P(B) is the mass of all variants of the letter, such as `B` and ` B`, at the first place where one of
 * the letters was written. Where the model tells no log-probabilities, C is the share of B among the samples.
 * An answer without a letter, or whose letters have a probability below 0.1 in all, does not count and is told in `unscored`; where none counts the node fails.
 *
 * MCTS-DPO shows the known solution beside the question, divides C by the depth and adds ±1 at a right or wrong
 * end; here nobody knows the solution, and what is made of C is for the method to say.
 *
 * @see Kadavath et al., "Language Models (Mostly) Know What They Know", 2022.
 * @see Xie et al., "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning", 2024
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function selfEval<State = any, Action = any>(
  options: SelfEvalOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions(
    'selfEval',
    options,
    'model about samples maxTokens temperature promptParts prompts',
  );
  const { model, about = 'state', promptParts = [] } = options;
  expectMethods('model', model, ['generate']);
  expectOneOf('about', about, ['state', 'action']);
  const readsTokens = model.capabilities.logprobs === true;
  const { samples = readsTokens ? 1 : 8, maxTokens = 4, temperature } = options;
  const settings = requestSettings(model, { samples, maxTokens, temperature, readsTokens });
  const prompts = withTexts<SelfEvalText>(selfEvalPrompts, options.prompts);
  const asking = { model, settings, prompts, view: { about, promptParts } };
  return {
    needs: about === 'action' ? 'proposed' : 'realised',
    ...provenanceOf(
      { needsNotation: ['selfEval'] },
      provenanceOfModel(model, settings),
      { prompts: promptsOf(prompts) },
      ...promptParts,
    ),
    evaluate: (nodes, request) =>
      evaluateEach(asking.view, nodes, (node) => evaluate(asking, node, request)),
  };
}

interface Asking<State, Action> {
  readonly model: LanguageModel;
  readonly settings: RequestSettings;
  readonly prompts: PromptSet<SelfEvalText>;
  readonly view: View<State, Action>;
}

const letters = ['A', 'B'];

async function evaluate<State, Action>(
  { model, settings, prompts: { texts }, view }: Asking<State, Action>,
  node: SearchNode<State, Action>,
  request: EvaluateRequest<State, Action>,
): Promise<Evaluation | Failed> {
  const { context } = request;
  try {
    const subject = await subjectOf(view, node, request);
    if (subject === undefined) return noState;
    const { messages, step } = subject;
    const question = step === undefined ? fill(texts.state, {}) : fill(texts.action, { step });
    const { completions } = await context.generate(model, {
      ...settings,
      messages: askBehind(messages, question),
    });
    const expected = settings.logprobs === true ? `A or B ${likelyEnough}` : 'A or B';
    return average({ expected, reason: false, read: readConfidence }, completions);
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

function readConfidence(completion: Completion): Reading | undefined {
  if (completion.logprobs !== undefined) {
    const shares = probabilitiesOf(completion, letters);
    return typeof shares === 'object' ? { score: shares['B'] ?? 0 } : undefined;
  }
  if (completion.finishReason === 'refusal') return undefined;
  const stated = fieldsIn(completion, 'answer');
  const letter =
    stated === undefined
      ? answerIn(replyText(completion), letters)
      : choiceIn(stated['answer'], letters);
  return letter === undefined ? undefined : { score: letter === 'B' ? 1 : 0 };
}
