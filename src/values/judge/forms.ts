import { expectArray, expectation } from '../../base/expect.ts';
import { isPlainObject } from '../../base/json.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { answerIn, likelyEnough, probabilitiesOf } from '../../prompting/answer-words.ts';
import { codeTable } from '../../prompting/codes.ts';
import { jsonAnswers, objectSchema } from '../../prompting/object-schema.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { flagIn, numberIn } from '../../prompting/read-field.ts';
import {
  fieldName,
  fieldsIn,
  namedFields,
  type Reading,
  reasonIn,
  replyText,
} from '../../prompting/read-reply.ts';
import { scoreIn } from '../../prompting/stated-score.ts';
import type { JudgeForm, ReadableForm } from './by-form.ts';
import type { JudgeOptions } from './judge-options.ts';
import { type Criterion, expectCriteria, workCriteria } from './rubric.ts';

type JsonOptions = Extract<JudgeOptions, { readonly form: string }>;
type TextName = keyof NonNullable<JsonOptions['prompts']>;
type Slots = Readonly<Record<string, string | number>>;

/** The question of a form, usually answered in JSON. */
interface Question extends Pick<ReadableForm, 'expected' | 'range' | 'read'> {
  readonly prompts: PromptSet<TextName>;
  /** The slots of the question. */
  readonly slots?: Slots;
  /** The slots of the answer format. */
  readonly answerSlots?: Slots;
  /** The fields of an answer. */
  readonly fields: Readonly<Record<string, JsonValue>>;
}

function promptsFor(
  form: string,
  texts: Readonly<Record<'answer' | 'question' | 'reasonedAnswer', string>>,
): PromptSet<TextName> {
  const state = [
    'Do not write a step. Judge the work above as it stands: whether what was done so far is right, and how far',
    'it leads towards the goal.',
  ].join(' ');
  const action = [
    'Proposed step: {step}\n\nDo not write a step. Judge the work above as it will stand once the proposed step is',
    'taken: whether it is right, and how far it leads towards the goal.',
  ].join(' ');
  const rubric = 'Judge by this:\n{rubric}';
  return { name: `judge-${form}`, version: 1, texts: { state, action, rubric, ...texts } };
}

function asked(
  { prompts: set, slots = {}, answerSlots = {}, fields, ...readable }: Question,
  { prompts: own, reason = true, rubric }: JsonOptions,
): JudgeForm {
  const prompts = withTexts(set, own);
  const { texts } = prompts;
  return {
    ...readable,
    prompts,
    readsTokens: false,
    reason,
    maxTokens: reason ? 256 : 32,
    schema: objectSchema(fields, { reason }),
    request: (step) =>
      [
        step === undefined ? texts.state : fill(texts.action, { step }),
        ...(rubric === undefined ? [] : [fill(texts.rubric, { rubric })]),
        fill(texts.question, slots),
        fill(reason ? texts.reasonedAnswer : texts.answer, answerSlots),
      ].join('\n\n'),
  };
}

const codesPrompts = promptsFor('codes', {
  question: 'Which of these describes it best? Where two do, take the worse one.\n\n{codes}',
  ...jsonAnswers('"status": "<{names}>"'),
});

/** Reads a code from the `status` of a reply, or from the entire reply. */
export function codesForm(options: Extract<JsonOptions, { form: 'codes' }>): JudgeForm {
  const { list, names, expected, schema, read } = codeTable(options);
  const prompts = codesPrompts;
  const [slots, answerSlots] = [{ codes: list }, { names }];
  return asked({ prompts, slots, answerSlots, expected, fields: schema, read }, options);
}

const numberPrompts = promptsFor('number', {
  question: [
    'Grade it with a whole number from {least} to {greatest}: {least} if the goal cannot be reached any more,',
    '{greatest} if nothing is wrong and the goal is reached or sure to be. Be severe, and use the whole range.',
  ].join(' '),
  ...jsonAnswers('"score": <number>'),
});

/** Reads a number from the `score` of a reply, or from the entire reply. */
export function numberForm(options: Extract<JsonOptions, { form: 'number' }>): JudgeForm {
  const { range = [1, 10] } = options;
  expectArray('range', range);
  const [least, greatest] = range;
  if (!(Number.isInteger(least) && Number.isInteger(greatest) && least < greatest)) {
    throw expectation('range', 'two whole numbers, the lesser one first', range);
  }
  const question: Question = {
    prompts: numberPrompts,
    slots: { least, greatest },
    range,
    expected: `a number from ${least} to ${greatest}`,
    fields: { score: { type: 'integer', minimum: least, maximum: greatest } },
    read: (completion) => scoreIn(completion, range),
  };
  return asked(question, options);
}

const successPrompts = promptsFor('success', {
  question: [
    'Two questions. Success: is all that was asked for already done, with nothing left to do? On track: if not,',
    'is what was done so far needed and right, so that going on from here leads to the goal?',
  ].join('\n'),
  ...jsonAnswers('"success": <true or false>, "on_track": <true or false>'),
});

/** Reads the `success` and `on_track` of a reply. */
export function successForm(options: JsonOptions): JudgeForm {
  const question: Question = {
    prompts: successPrompts,
    expected: '`success` and `on_track`, each yes or no',
    fields: { success: { type: 'boolean' }, on_track: { type: 'boolean' } },
    read(completion) {
      const fields = fieldsIn(completion, 'success');
      const success = flagIn(fields?.['success']);
      const onTrack = flagIn(fields?.['ontrack']);
      // After a success, `on_track` may be missing.
      if (success === undefined || (!success && onTrack === undefined)) return undefined;
      return { score: success ? 1 : onTrack === true ? 0.5 : 0, reason: reasonIn(fields) };
    },
  };
  return asked(question, options);
}

const yesNoPrompts = promptsFor('yes-no', {
  question: 'Is it free of mistakes, and will it lead to the goal?',
  ...jsonAnswers('"answer": "<yes or no>"'),
  answer: 'Answer with one word: yes or no.',
});

/** P(yes) from log-probabilities, or a yes or no from the `answer` of a reply or its beginning. */
export function yesNoForm(options: JsonOptions, logprobs: boolean): JudgeForm {
  const { reason = false } = options;
  const readsTokens = logprobs && !reason;
  const question: Question = {
    prompts: yesNoPrompts,
    expected: readsTokens ? `yes or no ${likelyEnough}` : 'yes or no',
    fields: { answer: { type: 'string', enum: ['yes', 'no'] } },
    read: (completion) =>
      readsTokens && completion.logprobs !== undefined
        ? shareOf('yes', ['yes', 'no'], completion)
        : readYesNo(completion),
  };
  const { schema, ...form } = asked(question, { ...options, reason });
  return {
    ...form,
    readsTokens,
    maxTokens: readsTokens ? 4 : reason ? 256 : 8,
    ...(reason && schema !== undefined && { schema }),
  };
}

/** The probability of one answer, relative to all expected answers. */
export function shareOf(
  answer: string,
  answers: readonly string[],
  completion: Completion,
): Reading | undefined {
  const shares = probabilitiesOf(completion, answers);
  return typeof shares === 'object' ? { score: shares[answer] ?? 0 } : undefined;
}

function readYesNo(completion: Completion): Reading | undefined {
  const fields = fieldsIn(completion, 'answer');
  const bare = answerIn(replyText(completion), ['yes', 'no']);
  const isYes = flagIn(fields === undefined ? bare : fields['answer']);
  return isYes === undefined ? undefined : { score: isYes ? 1 : 0, reason: reasonIn(fields) };
}

const criteriaPrompts = promptsFor('criteria', {
  question: [
    'Give points for each criterion by itself, from 0 to the number in brackets. Give all of them only where',
    'nothing is left to wish for.\n\n{criteria}',
  ].join(' '),
  ...jsonAnswers('"scores": {{{scores}}}'),
});

/** Reads all points in the `scores` of a reply: the score is their sum, and the share of each becomes a part. */
export function criteriaForm(options: Extract<JsonOptions, { form: 'criteria' }>): JudgeForm {
  const { criteria = workCriteria, reason = true } = options;
  expectCriteria(criteria);
  const list = criteria.map(({ name, weight, about }) => `- ${name} (${weight}): ${about}`);
  const names = criteria.map(({ name }) => name);
  const points = criteria.map(({ name, weight }): [string, JsonValue] => [
    name,
    { type: 'number', minimum: 0, maximum: weight },
  ]);
  const question: Question = {
    prompts: criteriaPrompts,
    slots: { criteria: list.join('\n') },
    answerSlots: { scores: names.map((name) => `${JSON.stringify(name)}: <points>`).join(', ') },
    range: [0, criteria.reduce((sum, { weight }) => sum + weight, 0)],
    expected: `points for ${names.join(', ')}`,
    fields: { scores: objectSchema(Object.fromEntries(points)) },
    read: (completion) => readScores(completion, criteria),
  };
  const maxTokens = 32 + 16 * criteria.length + (reason ? 224 : 0);
  return { ...asked(question, options), maxTokens };
}

/** Reads all scores. A reply that misses a criterion, or exceeds its maximum, is unreadable. */
function readScores(completion: Completion, criteria: readonly Criterion[]): Reading | undefined {
  // The points may be under `scores`, or at the top level.
  const wrapped = fieldsIn(completion, 'scores');
  const inner = wrapped?.['scores'];
  const stated = isPlainObject(inner)
    ? { ...namedFields(inner), reason: wrapped?.['reason'] ?? null }
    : fieldsIn(completion, fieldName(criteria[0]?.name ?? ''));
  if (stated === undefined) return undefined;
  const parts: Record<string, number> = {};
  let score = 0;
  for (const { name, weight } of criteria) {
    const points = numberIn(stated[fieldName(name)], [0, weight]);
    if (points === undefined) return undefined;
    parts[name] = points / weight;
    score += points;
  }
  return { score, parts, reason: reasonIn(stated) };
}
