import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { numberIn } from '../../prompting/read-field.ts';
import {
  type Fields,
  fieldName,
  fieldsIn,
  namedFields,
  type Reading,
  reasonIn,
} from '../../prompting/read-reply.ts';
import {
  type FormSettings,
  type JudgedText,
  type JudgeForm,
  judgedTexts,
  requestWith,
} from './form.ts';
import { type Criterion, expectCriteria, workCriteria } from './rubric.ts';

/** The texts of a judge that answers with points for each criterion. */
export type CriteriaText = JudgedText | 'answer' | 'question' | 'reasonedAnswer';

/**
 * Points for each of several criteria: the value is their sum over the most there can be. The sum is kept as the
 * raw score, and the share of each criterion as a part.
 */
export interface CriteriaForm {
  /** The form of an answer: points for each criterion. */
  readonly form: 'criteria';
  /** What points are given for. @defaultValue {@link workCriteria}, seven criteria of 100 points */
  readonly criteria?: readonly Criterion[];
  /**
   * Texts to replace: `state`, `action` with the slot `{step}`, `rubric`, `question` with `{criteria}`, `answer`
   * and `reasonedAnswer`, both with `{scores}`.
   */
  readonly prompts?: Partial<Readonly<Record<CriteriaText, string>>>;
}

const criteriaPrompts: PromptSet<CriteriaText> = {
  name: 'judge-criteria',
  version: 1,
  texts: {
    ...judgedTexts,
    question: [
      'Give points for each criterion by itself, from 0 to the number in brackets. Give all of them only where',
      'nothing is left to wish for.\n\n{criteria}',
    ].join(' '),
    answer: 'Answer in JSON, and write nothing else: {{"scores": {{{scores}}}}}',
    reasonedAnswer: [
      'Answer in JSON, and write nothing else:',
      '{{"reason": "<two sentences at most>", "scores": {{{scores}}}}}',
    ].join(' '),
  },
};

/** Points in the `scores` of a reply, all of them. */
export function criteriaForm(
  { criteria = workCriteria, prompts: own }: CriteriaForm,
  { reason = true, rubric }: FormSettings,
): JudgeForm {
  expectCriteria(criteria);
  const prompts: PromptSet<CriteriaText> = withTexts<CriteriaText>(criteriaPrompts, own);
  const { texts } = prompts;
  const total = criteria.reduce((sum, { weight }) => sum + weight, 0);
  const names = criteria.map(({ name }) => name);
  return {
    prompts,
    readsTokens: false,
    reason,
    maxTokens: 32 + 16 * criteria.length + (reason ? 224 : 0),
    range: [0, total],
    expected: `points for ${names.join(', ')}`,
    schema: schemaOf(criteria, reason),
    request(step) {
      const list = criteria.map(({ name, weight, about }) => `- ${name} (${weight}): ${about}`);
      const scores = names.map((name) => `${JSON.stringify(name)}: <points>`).join(', ');
      const question = fill(texts.question, { criteria: list.join('\n') });
      const answer = fill(reason ? texts.reasonedAnswer : texts.answer, { scores });
      return requestWith(texts, { step, rubric, blocks: [question, answer] });
    },
    read: (completion) => readScores(completion, criteria),
  };
}

function schemaOf(criteria: readonly Criterion[], reason: boolean): JsonValue {
  const points = criteria.map(({ name, weight }): [string, JsonValue] => [
    name,
    { type: 'number', minimum: 0, maximum: weight },
  ]);
  return objectSchema({
    ...(reason && { reason: { type: 'string' } }),
    scores: objectSchema(Object.fromEntries(points)),
  });
}

/** A reply that leaves a criterion out, or gives it more than there is, says nothing of the sum. */
function readScores(completion: Completion, criteria: readonly Criterion[]): Reading | undefined {
  const stated = statedScores(completion, criteria);
  if (stated === undefined) return undefined;
  const parts: Record<string, number> = {};
  let score = 0;
  for (const { name, weight } of criteria) {
    const points = numberIn(stated.scores[fieldName(name)], [0, weight]);
    if (points === undefined) return undefined;
    parts[name] = points / weight;
    score += points;
  }
  return { score, parts, ...(stated.reason !== undefined && { reason: stated.reason }) };
}

/** Points under `scores`, or beside one another. */
function statedScores(
  completion: Completion,
  [first]: readonly Criterion[],
): { readonly scores: Fields; readonly reason: string | undefined } | undefined {
  const wrapped = fieldsIn(completion, 'scores');
  const scores = wrapped?.['scores'];
  if (wrapped !== undefined && isPlainObject(scores)) {
    return { scores: namedFields(scores), reason: reasonIn(wrapped) };
  }
  const bare = fieldsIn(completion, fieldName(first?.name ?? ''));
  return bare === undefined ? undefined : { scores: bare, reason: reasonIn(bare) };
}
