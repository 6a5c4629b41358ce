import { expectation, expectMethods, expectOneOf } from '../../base/expect.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { failedBy, isFailure } from '../../base/failure.ts';
import { provenanceOf, provenanceOfModel } from '../../base/provenance.ts';
import type { Decision, DecisionModel, Question } from '../../contracts/decision-model.ts';
import type { Notation } from '../../contracts/environment.ts';
import type { Evaluation } from '../../contracts/evaluation.ts';
import type { EvaluateRequest, Evaluator } from '../../contracts/evaluator.ts';
import type { Failed } from '../../contracts/failure.ts';
import type { Message } from '../../contracts/language-model.ts';
import type { SearchNode } from '../../contracts/node.ts';
import type { PromptPart } from '../../contracts/prompt-part.ts';
import type { Provenance } from '../../contracts/provenance.ts';
import { notationOf } from '../../prompting/notation.ts';
import { withInstruction, withParts } from '../../prompting/prompt-parts.ts';
import { fill, type PromptSet, promptsOf, withTexts } from '../../prompting/prompts.ts';
import { evaluateEach } from '../evaluate-each.ts';
import { noState } from '../no-state.ts';
import { valueInRange } from '../value-in-range.ts';

/** The texts of {@link decision}. */
export type DecisionTexts = 'action' | 'state' | 'step';

/** Options of {@link decision}. */
export interface DecisionOptions<State = any, Action = any> {
  /** The decision model. */
  readonly model: DecisionModel & Pick<Provenance, 'prompts'>;
  /** What is asked about each node. @defaultValue a yes-no question: whether the goal can still be reached */
  readonly question?: Question;
  /** Of a choice: the value in [0, 1] of each answer. */
  readonly values?: Readonly<Record<string, number>>;
  /** What is judged: the state that an action led to, or the action before it is taken. @defaultValue `'state'` */
  readonly about?: 'action' | 'state';
  /** What the model is told beside the state. @defaultValue nothing */
  readonly promptParts?: readonly PromptPart<State, Action>[];
  /** Texts to use in place of the usual ones: `step` tells an action, `state` and `action` are the usual question. @defaultValue none */
  readonly prompts?: Partial<Readonly<Record<DecisionTexts, string>>>;
}

const usual: PromptSet<DecisionTexts> = {
  name: 'decision',
  version: 1,
  texts: {
    step: 'Proposed step: {step}',
    state: 'Is all that was done so far correct, and can the goal still be reached from here?',
    action: 'Is the proposed step correct, and can the goal be reached after it?',
  },
};

interface Settings<State, Action> {
  readonly model: DecisionModel;
  readonly question: Question;
  readonly values: Readonly<Record<string, number>>;
  readonly about: 'action' | 'state';
  readonly promptParts: readonly PromptPart<State, Action>[];
  readonly set: PromptSet<DecisionTexts>;
}

/**
 * Values nodes by the answer of a decision model to a typed question: the probability of yes; `level / (levels −
 * 1)` of a scale, whose level is kept in `raw`; `Σ p(choice) · value(choice)` of a choice, whose likeliest answer
 * is the rationale.
 *
 * One node is one call. A node whose question was refused, or whose answer makes no sense, fails alone.
 *
 * @throws EspalierError `usage` where an option is out of its range.
 */
export function decision<State = any, Action = any>(
  options: DecisionOptions<State, Action>,
): Evaluator<State, Action> {
  expectOptions('decision', options, 'model question values about promptParts prompts');
  const { model, about = 'state', promptParts = [], values = {} } = options;
  expectMethods('model', model, ['decide']);
  expectOneOf('about', about, ['state', 'action']);
  const set = withTexts(usual, options.prompts);
  const { question = { type: 'yes-no', text: set.texts[about] } } = options;
  expectQuestion(question, values);
  const settings = { model, question, values, about, promptParts, set };
  // The question is part of what is told.
  const told = { ...set, texts: { ...set.texts, question: JSON.stringify(question) } };
  return {
    ...provenanceOf(
      { needsNotation: ['decision'] },
      model,
      provenanceOfModel(model),
      ...promptParts,
      { prompts: promptsOf(told) },
    ),
    needs: about === 'action' ? 'proposed' : 'realised',
    evaluate: (nodes, request) =>
      evaluateEach(settings, nodes, (node) => evaluate(settings, node, request)),
  };
}

function expectQuestion(question: Question, values: Readonly<Record<string, number>>): void {
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

async function evaluate<State, Action>(
  settings: Settings<State, Action>,
  node: SearchNode<State, Action>,
  request: EvaluateRequest<State, Action>,
): Promise<Evaluation | Failed> {
  const { context } = request;
  const { model, question, promptParts } = settings;
  try {
    const bare = promptOf(settings, node, notationOf(request));
    if (bare === undefined) return noState;
    const messages = await withParts(bare, promptParts, { ...request, node });
    const { answers } = await context.decide(model, { messages, questions: { value: question } });
    return evaluationOf(settings, answers['value']);
  } catch (error) {
    return failedBy(error, 'call', context);
  }
}

/** What the question is about; `undefined` where there is no state to show. */
function promptOf<State, Action>(
  { about, set }: Settings<State, Action>,
  node: SearchNode<State, Action>,
  notation: Notation<State, Action>,
): readonly Message[] | undefined {
  if (about === 'state' || node.kind === 'root') {
    return node.kind === 'proposed' ? undefined : notation.prompt(node.state);
  }
  const { parent, action } = node;
  if (parent.kind === 'proposed') return undefined;
  const step = fill(set.texts.step, { step: notation.format(action) });
  return withInstruction(notation.prompt(parent.state), step);
}

function evaluationOf<State, Action>(
  { question, values }: Settings<State, Action>,
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
