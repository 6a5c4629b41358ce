import { EspalierError } from '../../base/errors.ts';
import { expectation, expectFunction, expectInteger, expectObject } from '../../base/expect.ts';
import { expectCapabilities } from '../../base/expect-capabilities.ts';
import { expectVerifier, scoreIn } from '../../base/expect-no-oracle.ts';
import { expectOptions } from '../../base/expect-options.ts';
import { actingAfter } from '../../calls/acting-on.ts';
import type { CallContext } from '../../contracts/context.ts';
import type { Environment, Notation, Transition } from '../../contracts/environment.ts';
import type { Capabilities } from '../../contracts/language-model.ts';
import type { Verifier } from '../../contracts/verifier.ts';
import { canonicalAnswer } from './canonical-answer.ts';
import { answerOfStep } from './extract-answer.ts';
import { sameAnswerTo } from './is-same-answer.ts';
import { reasoningNotations } from './reasoning-notation.ts';
import type { ReasoningState } from './reasoning-state.ts';

/** Options of {@link reasoning}. */
export interface ReasoningOptions {
  /** The question: a non-empty text. */
  readonly question: string;
  /**
   * Decides whether an answered state is right, using only what is available at run time: a check, a calculation,
   * tests. Its score is the reward. An oracle, which knows the gold answer, is refused.
   *
   * @defaultValue none: answered states have no reward, and an evaluator values them
   */
  readonly verifier?: Verifier<ReasoningState>;
  /**
   * Extracts the final answer from a step; `undefined` if it states none.
   *
   * @defaultValue what {@link extractAnswer} finds, without mere conclusions: *So she has 9 eggs.* may be on the way
   */
  readonly extract?: (step: string) => string | undefined;
  /**
   * Whether two answers are equivalent: the one that a JSON step states in its text and the one in its `answer` field.
   *
   * @defaultValue `isSameAnswer`, with an optional percent sign if the question asks for a percentage
   */
  readonly isEqual?: (left: string, right: string) => boolean;
  /** The system message. @defaultValue none */
  readonly system?: string;
  /** The text between steps, not empty. @defaultValue an empty line */
  readonly delimiter?: string;
  /** The number of steps after which a solution without an answer ends: an integer from 1 up. @defaultValue 16 */
  readonly maxSteps?: number;
}

/** A question as an environment. Its states are self-contained. */
export interface ReasoningEnvironment extends Environment<ReasoningState, string> {
  /** The question without a step. */
  reset(): Transition<ReasoningState>;
  /** The steps, ignoring white space. */
  key(state: ReasoningState): string;
  /** The final answer, numbers in lowest terms, without units. */
  answer(state: ReasoningState): string | undefined;
  /** The notation that every model understands: `restated` of `notations`. */
  readonly notation: Notation<ReasoningState, string>;
  /**
   * Three notations for states and steps. {@link notationFor} chooses one.
   *
   * - `continued`: the steps so far are the beginning of the model's own answer, which it continues.
   * - `restated`: the steps so far follow the question; the model answers with the next one.
   * - `json`: as `restated`, with the next step as JSON.
   */
  readonly notations: Readonly<
    Record<'continued' | 'json' | 'restated', Notation<ReasoningState, string>>
  >;
  /** Absent: states are JSON. */
  readonly codec?: never;
}

/**
 * Step-by-step reasoning about a question: a state is the question and the steps so far, an action is the
 * text of the next step.
 *
 * A step that states a final answer ends a solution. With a verifier, its reward is the verdict; without one it has no
 * reward, and is valued by the evaluator. A solution that reaches `maxSteps` without an answer ends with reward 0. Do
 * not pass the known answer here, where it would guide the search to itself: use {@link answerOracle}.
 *
 * @throws EspalierError `usage` if an option is out of range, and for an oracle as the verifier.
 */
export function reasoning(options: ReasoningOptions): ReasoningEnvironment {
  expectOptions(
    'reasoning',
    options,
    'question verifier extract isEqual system delimiter maxSteps',
  );
  const { question, verifier, extract = answerOfStep, isEqual } = options;
  const { system, delimiter = '\n\n', maxSteps = 16 } = options;
  expectText('question', question);
  if (system !== undefined) expectText('system', system);
  // A delimiter may be mere white space; a question must not.
  if (typeof delimiter !== 'string' || delimiter === '') {
    throw expectation('delimiter', 'a text that is not empty', delimiter);
  }
  expectInteger('maxSteps', maxSteps, { min: 1 });
  expectFunction('extract', extract);
  if (isEqual !== undefined) expectFunction('isEqual', isEqual);
  if (verifier !== undefined) expectVerifier(verifier);
  const key = ({ steps }: ReasoningState) =>
    JSON.stringify(steps.map((step) => step.trim().replace(/\s+/g, ' ')));
  const notations = reasoningNotations({
    system,
    delimiter,
    extract,
    isEqual: isEqual ?? sameAnswerTo(question),
  });
  return {
    name: 'reasoning',
    ...(verifier?.stamps !== undefined && { stamps: verifier.stamps }),
    reset: () => ({ state: { question, steps: [] } }),
    step(state, action, context) {
      expectOpen(state, maxSteps);
      expectText('step', action);
      const steps = [...state.steps, action];
      const answer = extract(action);
      if (answer !== undefined) {
        const answered = { ...state, steps, answer };
        return verifier === undefined
          ? { state: answered, terminal: true, answer: true }
          : reward(verifier, answered, actingAfter(context, { key }, { state: answered, action }));
      }
      const next = { ...state, steps };
      return steps.length < maxSteps ? { state: next } : { state: next, terminal: true, reward: 0 };
    },
    key,
    answer: ({ answer }) => (answer === undefined ? undefined : canonicalAnswer(answer)),
    notation: notations.restated,
    notations,
  };
}

/**
 * The best notation for a model: `continued` if it supports `continuation`, because all steps so far are then read from
 * its cache; `json` if it supports `schema`, because nothing is written around it; else `restated`.
 */
export function notationFor(
  environment: Pick<ReasoningEnvironment, 'notations'>,
  capabilities: Capabilities,
): Notation<ReasoningState, string> {
  expectObject('environment', environment);
  const { notations } = environment;
  expectObject('environment.notations', notations);
  expectCapabilities('notationFor', capabilities);
  const { continuation = false, schema = false } = capabilities;
  if (continuation) return notations.continued;
  return schema ? notations.json : notations.restated;
}

async function reward(
  verifier: Verifier<ReasoningState>,
  state: ReasoningState,
  context: CallContext,
): Promise<Transition<ReasoningState>> {
  const score = scoreIn(await verifier.verify(state, context));
  return { state, terminal: true, answer: true, reward: score };
}

function expectOpen({ steps, answer }: ReasoningState, maxSteps: number): void {
  if (answer === undefined && steps.length < maxSteps) return;
  const end = answer === undefined ? 'behind the last step' : 'behind an answer';
  throw new EspalierError('usage', `Expected no step ${end}, got one.`, { scope: 'item' });
}

function expectText(name: string, value: unknown): void {
  if (typeof value !== 'string' || value.trim() === '') {
    throw expectation(name, 'a text that is not empty', value);
  }
}
