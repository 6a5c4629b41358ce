import { expectation, expectMethods, expectObject, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { isFailure } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Decision, DecisionModel, Question } from '../../contracts/decision-model.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import { notationOf } from '../../prompting/notation.ts';
import { expectParts, withInstruction, withParts } from '../../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, type Texts, withTexts } from '../../prompting/prompts.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { valueInRange } from '../value-in-range.ts';

/** Options of {@link decision}. */
export interface DecisionOptions<State = any, Action = any> {
  /** The decision model. */
  readonly model: DecisionModel & Pick<Provenance, 'prompts'>;
  /** The question about each node. @defaultValue a yes-no question: whether the goal can still be reached */
  readonly question?: Question;
  /** For a choice: the value in [0, 1] of each answer. */
  readonly values?: Readonly<Record<string, number>>;
  /** What is judged: the state that an action led to, or the action before it is taken. @defaultValue `'state'` */
  readonly about?: 'action' | 'state';
  /** Text added to the prompt after the state. @defaultValue nothing */
  readonly promptParts?: readonly PromptPart<State, Action>[];
  /** Replacement texts: `step` shows an action, `state` and `action` are the default questions. @defaultValue none */
  readonly prompts?: Texts<'action' | 'state' | 'step'>;
}

const usual = {
  name: 'decision',
  version: 1,
  texts: {
    step: 'Proposed step: {step}',
    state: 'Is all that was done so far correct, and can the goal still be reached from here?',
    action: 'Is the proposed step correct, and can the goal be reached after it?',
  },
} satisfies PromptSet;

/**
 * Values nodes by the answer of a decision model to a typed question: the probability of yes; `level / (levels −
 * 1)` of a scale, whose level is kept in `raw`; `Σ p(choice) · value(choice)` of a choice, whose likeliest answer
 * is the rationale.
 *
 * One node is one call. A node whose question is refused, or whose answer is invalid, fails alone.
 *
 * @throws EspalierError `usage` if an option is out of range.
 */
export function decision<State = any, Action = any>(
  options: DecisionOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions('decision', options, 'model question values about promptParts prompts');
  const { model, about = 'state', promptParts = [], values = {} } = options;
  expectMethods('model', model, ['decide']);
  expectOneOf('about', about, ['state', 'action']);
  expectParts(promptParts);
  const set = withTexts(usual, options.prompts);
  const { question = { type: 'yes-no', text: set.texts[about] } } = options;
  expectQuestion(question, values);
  // The question belongs to the recorded prompts.
  const told = { ...set, texts: { ...set.texts, question: JSON.stringify(question) } };
  return {
    ...provenanceOf(
      { needsNotation: ['decision'] },
      model,
      provenanceOfModel(model),
      ...promptParts,
      { prompts: promptsOf(told) },
    ),
    ...evaluateEach<State, Action>(about, (request) => async ({ place, step }) => {
      const notation = notationOf(request);
      const prompt = notation.prompt(place.state);
      const bare =
        step === undefined
          ? prompt
          : withInstruction(prompt, fill(set.texts.step, { step: notation.format(step.action) }));
      const messages = await withParts(bare, promptParts, { ...request, node: step ?? place });
      const asked = { messages, questions: { value: question } };
      const { answers } = await request.context.decide(model, asked);
      return evaluationOf(question, values, answers['value']);
    }),
  };
}

function expectQuestion(question: Question, values: Readonly<Record<string, number>>): void {
  expectObject('question', question);
  switch (question.type) {
    case 'yes-no':
      return;
    case 'scale': {
      const { length } = question.levels;
      if (length >= 2 && length <= 10) return;
      throw expectation('question.levels', 'of 2 to 10 levels', question.levels);
    }
    case 'choice': {
      const names = Object.keys(question.choices);
      if (names.length < 2) throw expectation('question.choices', 'of 2 or more', question.choices);
      const lacking = names.find((name) => !isValue(values, name));
      if (lacking === undefined) return;
      throw expectation(`values.${lacking}`, 'a number from 0 to 1', values[lacking]);
    }
    default:
      throw expectation('question', "of the type 'yes-no', 'scale' or 'choice'", question);
  }
}

function isValue(values: Readonly<Record<string, number>>, name: string): boolean {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return value !== undefined && value >= 0 && value <= 1;
}

function evaluationOf(
  question: Question,
  values: Readonly<Record<string, number>>,
  answer: Decision | undefined,
): Evaluation | Failed {
  if (answer === undefined) return odd('none');
  if (isFailure(answer)) return { failure: answer };
  if (answer.type !== question.type) return odd(`one of the type \`${answer.type}\``);
  switch (answer.type) {
    case 'yes-no':
      return valueInRange('the probability of yes', answer.probability);
    case 'scale': {
      const most = question.type === 'scale' ? question.levels.length - 1 : 1;
      const value = valueInRange('a level by its scale', answer.level / most);
      const score = Math.min(most, Math.max(0, answer.level));
      return 'value' in value ? { ...value, raw: { score, range: [0, most] } } : value;
    }
    case 'choice': {
      const sum = Object.entries(values).reduce(
        (total, [name, value]) => total + (answer.probabilities[name] ?? 0) * value,
        0,
      );
      const value = valueInRange('the expected value of a choice', sum);
      return 'value' in value ? { ...value, rationale: answer.choice } : value;
    }
  }
}

function odd(got: string): Failed {
  return { failure: { kind: 'parse', message: `Expected an answer to the question, got ${got}.` } };
}
