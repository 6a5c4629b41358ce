import type { Completion } from '../../contracts/language-model.ts';
import { answerIn, likelyEnough, probabilitiesOf } from '../../prompting/answer-words.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { flagIn } from '../../prompting/read-field.ts';
import { fieldsIn, type Reading, reasonIn, replyText } from '../../prompting/read-reply.ts';
import {
  type FormSettings,
  type JudgedText,
  type JudgeForm,
  judgedTexts,
  requestWith,
} from './form.ts';

/** The texts of a judge that answers yes or no. */
export type YesNoText = JudgedText | 'answer' | 'question' | 'reasonedAnswer';

/**
 * Yes or no: the value is the probability of *yes* where the model tells log-probabilities and no reason is
 * wanted, else the share of *yes* among the samples.
 */
export interface YesNoForm {
  /** The form of an answer: yes or no. */
  readonly form: 'yes-no';
  /** Texts to replace: `state`, `action` with the slot `{step}`, `rubric`, `question`, `answer`, `reasonedAnswer`. */
  readonly prompts?: Partial<Readonly<Record<YesNoText, string>>>;
}

const yesNoPrompts: PromptSet<YesNoText> = {
  name: 'judge-yes-no',
  version: 1,
  texts: {
    ...judgedTexts,
    question: 'Is it free of mistakes, and will it lead to the goal?',
    answer: 'Answer with one word: yes or no.',
    reasonedAnswer: [
      'Answer in JSON, and write nothing else:',
      '{{"reason": "<two sentences at most>", "answer": "<yes or no>"}}',
    ].join(' '),
  },
};

/** P(yes) from log-probabilities, or a yes or no in the `answer` of a reply or at its beginning. */
export function yesNoForm(
  { prompts: own }: YesNoForm,
  { logprobs, reason = false, rubric }: FormSettings,
): JudgeForm {
  const prompts: PromptSet<YesNoText> = withTexts<YesNoText>(yesNoPrompts, own);
  const { texts } = prompts;
  const readsTokens = logprobs && !reason;
  return {
    prompts,
    readsTokens,
    reason,
    maxTokens: readsTokens ? 4 : reason ? 256 : 8,
    expected: readsTokens ? `yes or no ${likelyEnough}` : 'yes or no',
    ...(reason && {
      schema: objectSchema({
        reason: { type: 'string' },
        answer: { type: 'string', enum: ['yes', 'no'] },
      }),
    }),
    request(step) {
      const answer = fill(reason ? texts.reasonedAnswer : texts.answer, {});
      return requestWith(texts, { step, rubric, blocks: [fill(texts.question, {}), answer] });
    },
    read: (completion) =>
      readsTokens && completion.logprobs !== undefined
        ? readTokens(completion)
        : readText(completion),
  };
}

function readTokens(completion: Completion): Reading | undefined {
  const shares = probabilitiesOf(completion, ['yes', 'no']);
  return typeof shares === 'object' ? { score: shares['yes'] ?? 0 } : undefined;
}

function readText(completion: Completion): Reading | undefined {
  const fields = fieldsIn(completion, 'answer');
  const isRefusal = completion.finishReason === 'refusal';
  const bare = isRefusal ? undefined : answerIn(replyText(completion), ['yes', 'no']);
  const isYes = fields === undefined ? flagIn(bare) : flagIn(fields['answer']);
  if (isYes === undefined) return undefined;
  const reason = fields === undefined ? undefined : reasonIn(fields);
  return { score: isYes ? 1 : 0, ...(reason !== undefined && { reason }) };
}
