import { ModelCallError } from '../../base/errors.ts';
import { describeValue, expectation } from '../../base/expect.ts';
import type {
  Decision,
  DecisionModel,
  DecisionRequest,
  Question,
} from '../../contracts/decision-model.ts';
import type { Failure } from '../../contracts/failure.ts';
import { fieldsOf } from '../transport/json.ts';

/** Tolerance for the rounding of one number. */
const tolerance = 1e-6;
/** Tolerance for the rounding of sums, and for unlikely answers that a server leaves out. */
const rounding = 0.02;

/** Checks questions. @throws EspalierError `usage` if one cannot be asked. */
export function expectQuestions({ questions }: DecisionRequest): void {
  const names = Object.keys(questions);
  if (names.length === 0) throw expectation('questions', 'one question or more', questions);
  for (const [name, question] of Object.entries(questions)) {
    const fault = faultOf(question);
    if (fault !== undefined) throw expectation(`questions.${name}`, fault, question);
  }
}

function faultOf(question: Question): string | undefined {
  switch (question.type) {
    case 'yes-no':
      return undefined;
    case 'scale': {
      const { length } = question.levels;
      return length >= 2 && length <= 10 ? undefined : 'a scale with 2 to 10 levels';
    }
    case 'choice':
      return Object.keys(question.choices).length >= 2 ? undefined : 'a choice between 2 or more';
    default:
      return "of the type 'yes-no', 'scale' or 'choice'";
  }
}

/** A decision from the probability of yes. */
export function readYesNo(probability: unknown): Decision {
  const read = numberWithin(probability, 1);
  return typeof read === 'number' ? { type: 'yes-no', probability: read } : read;
}

/** A decision from a level. `told` are the probabilities of the levels, which are left out if they are invalid. */
export function readScale(
  { levels }: Extract<Question, { readonly type: 'scale' }>,
  level: unknown,
  told: readonly unknown[],
): Decision {
  const read = numberWithin(level, levels.length - 1);
  if (typeof read !== 'number') return read;
  const probabilities = told.length === levels.length ? distributionOf(told) : undefined;
  const isSound = probabilities !== undefined && !('kind' in probabilities);
  return { type: 'scale', level: read, ...(isSound && { probabilities }) };
}

/** A decision from the probabilities of choices, in order. A missing probability counts as 0. */
export function readChoice(
  { choices }: Extract<Question, { readonly type: 'choice' }>,
  told: readonly unknown[],
): Decision {
  const names = Object.keys(choices);
  const probabilities = distributionOf(told.map((probability) => probability ?? 0));
  if ('kind' in probabilities) return probabilities;
  const best = Math.max(...probabilities);
  return {
    type: 'choice',
    choice: names[probabilities.indexOf(best)] ?? '',
    probabilities: Object.fromEntries(
      names.map((name, place) => [name, probabilities[place] ?? 0]),
    ),
  };
}

/** The decision that follows from the probabilities of all answers: yes and no, the levels, or the choices. */
export function decisionFrom(question: Question, probabilities: readonly number[]): Decision {
  switch (question.type) {
    case 'yes-no':
      return readYesNo(probabilities[0]);
    case 'scale': {
      const level = probabilities.reduce((sum, probability, place) => sum + place * probability, 0);
      return readScale(question, level, probabilities);
    }
    case 'choice':
      return readChoice(question, probabilities);
  }
}

/** Numbers normalised to probabilities that sum to 1. */
function distributionOf(numbers: readonly unknown[]): Failure | readonly number[] {
  const read: number[] = [];
  for (const number of numbers) {
    const probability = numberWithin(number, 1);
    if (typeof probability !== 'number') return probability;
    read.push(probability);
  }
  const sum = read.reduce((total, probability) => total + probability, 0);
  if (Math.abs(sum - 1) > rounding) {
    return unread(`Expected probabilities that sum to 1, got \`${sum}\`.`);
  }
  return read.map((probability) => probability / sum);
}

function numberWithin(value: unknown, most: number): Failure | number {
  const isSound = typeof value === 'number' && value >= -tolerance && value <= most + tolerance;
  if (isSound) return Math.min(most, Math.max(0, value));
  return unread(`Expected a number from 0 to ${most}, got ${describeValue(value)}.`);
}

/** The failure of a question with an unreadable answer. */
export function unread(message: string): Failure {
  return { kind: 'parse', message };
}

/** The failure of a question without an answer. */
export function unanswered(name: string): Failure {
  return unread(`Expected an answer to \`${name}\`, got none.`);
}

/** The failure of a question that the model declined to answer. */
export function refused(name: string): Failure {
  return { kind: 'call', message: `The model declined to answer \`${name}\`.` };
}

/** A plain error for a server whose model makes no decisions; any other error unchanged. */
export function plainError(
  error: unknown,
  { provider, modelId }: Pick<DecisionModel, 'modelId' | 'provider'>,
): unknown {
  if (!ModelCallError.isInstance(error) || error.status !== 501) return error;
  return new ModelCallError({
    kind: 'capability',
    message: `${provider}:${modelId} is not a decision model.`,
    status: 501,
    requestId: error.requestId,
    charged: false,
  });
}

/** A field of an object. */
export function at(value: unknown, name: string): unknown {
  return Object.hasOwn(fieldsOf(value), name) ? fieldsOf(value)[name] : undefined;
}
