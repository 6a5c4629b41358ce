import { expectation } from '../../base/expect.ts';
import type { Completion } from '../../contracts/language-model.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { numberIn } from '../../prompting/read-field.ts';
import { fieldsIn, type Reading, reasonIn, replyText } from '../../prompting/read-reply.ts';
import {
  type FormSettings,
  type JudgedText,
  type JudgeForm,
  judgedTexts,
  requestWith,
} from './form.ts';

/** The texts of a judge that answers with a number. */
export type NumberText = JudgedText | 'answer' | 'question' | 'reasonedAnswer';

/** A whole number on a range: the value is its place there, and the number is kept as the raw score. */
export interface NumberForm {
  /** The form of an answer: a number. */
  readonly form: 'number';
  /** The least and the greatest number, both whole, as -100 and 100 in MCTSr. @defaultValue `[1, 10]` */
  readonly range?: readonly [number, number];
  /**
   * Texts to replace: `state`, `action` with the slot `{step}`, `rubric`, `question` with `{least}` and
   * `{greatest}`, `answer` and `reasonedAnswer`.
   */
  readonly prompts?: Partial<Readonly<Record<NumberText, string>>>;
}

const numberPrompts: PromptSet<NumberText> = {
  name: 'judge-number',
  version: 1,
  texts: {
    ...judgedTexts,
    question: [
      'Grade it with a whole number from {least} to {greatest}: {least} if the goal cannot be reached any more,',
      '{greatest} if nothing is wrong and the goal is reached or sure to be. Be severe, and use the whole range.',
    ].join(' '),
    answer: 'Answer in JSON, and write nothing else: {{"score": <number>}}',
    reasonedAnswer:
      'Answer in JSON, and write nothing else: {{"reason": "<two sentences at most>", "score": <number>}}',
  },
};

/** A number in the `score` of a reply, or the whole of it. */
export function numberForm(
  { range = [1, 10], prompts: own }: NumberForm,
  { reason = true, rubric }: FormSettings,
): JudgeForm {
  const [least, greatest] = range;
  if (!(Number.isInteger(least) && Number.isInteger(greatest) && least < greatest)) {
    throw expectation('range', 'two whole numbers, the lesser one first', range);
  }
  const prompts: PromptSet<NumberText> = withTexts<NumberText>(numberPrompts, own);
  const { texts } = prompts;
  return {
    prompts,
    readsTokens: false,
    reason,
    maxTokens: reason ? 256 : 32,
    range,
    expected: `a number from ${least} to ${greatest}`,
    schema: objectSchema({
      ...(reason && { reason: { type: 'string' } }),
      score: { type: 'integer', minimum: least, maximum: greatest },
    }),
    request(step) {
      const question = fill(texts.question, { least, greatest });
      const answer = fill(reason ? texts.reasonedAnswer : texts.answer, {});
      return requestWith(texts, { step, rubric, blocks: [question, answer] });
    },
    read: (completion) => readNumber(completion, range),
  };
}

function readNumber(completion: Completion, range: readonly [number, number]): Reading | undefined {
  const fields = fieldsIn(completion, 'score');
  const isWhole = completion.finishReason !== 'length' && completion.finishReason !== 'refusal';
  const bare = isWhole ? replyText(completion) : undefined;
  const score = numberIn(fields === undefined ? bare : fields['score'], range);
  if (score === undefined) return undefined;
  const reason = fields === undefined ? undefined : reasonIn(fields);
  return { score, ...(reason !== undefined && { reason }) };
}
