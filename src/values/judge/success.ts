import type { Completion } from '../../contracts/language-model.ts';
import { objectSchema } from '../../prompting/object-schema.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import { flagIn } from '../../prompting/read-field.ts';
import { fieldsIn, type Reading, reasonIn } from '../../prompting/read-reply.ts';
import {
  type FormSettings,
  type JudgedText,
  type JudgeForm,
  judgedTexts,
  requestWith,
} from './form.ts';

/** The texts of a judge that says whether the goal is reached, and else whether the way is right. */
export type SuccessText = JudgedText | 'answer' | 'question' | 'reasonedAnswer';

/**
 * Success, and else whether it is on track: 1 for success, 0.5 for not yet but on track, 0 for neither. The paper
 * takes the mean of 20 samples at temperature 1.
 *
 * @see Koh et al., "Tree Search for Language Model Agents", 2024.
 */
export interface SuccessForm {
  /** The form of an answer: success, and else whether it is on track. */
  readonly form: 'success';
  /** Texts to replace: `state`, `action` with the slot `{step}`, `rubric`, `question`, `answer`, `reasonedAnswer`. */
  readonly prompts?: Partial<Readonly<Record<SuccessText, string>>>;
}

const successPrompts: PromptSet<SuccessText> = {
  name: 'judge-success',
  version: 1,
  texts: {
    ...judgedTexts,
    question: [
      'Two questions. Success: is all that was asked for already done, with nothing left to do? On track: if not,',
      'is what was done so far needed and right, so that going on from here leads to the goal?',
    ].join('\n'),
    answer:
      'Answer in JSON, and write nothing else: {{"success": <true or false>, "on_track": <true or false>}}',
    reasonedAnswer: [
      'Answer in JSON, and write nothing else:',
      '{{"reason": "<two sentences at most>", "success": <true or false>, "on_track": <true or false>}}',
    ].join(' '),
  },
};

/** The `success` and `on_track` of a reply. */
export function successForm(
  { prompts: own }: SuccessForm,
  { reason = true, rubric }: FormSettings,
): JudgeForm {
  const prompts: PromptSet<SuccessText> = withTexts<SuccessText>(successPrompts, own);
  const { texts } = prompts;
  return {
    prompts,
    readsTokens: false,
    reason,
    maxTokens: reason ? 256 : 32,
    expected: '`success` and `on_track`, each yes or no',
    schema: objectSchema({
      ...(reason && { reason: { type: 'string' } }),
      success: { type: 'boolean' },
      on_track: { type: 'boolean' },
    }),
    request(step) {
      const answer = fill(reason ? texts.reasonedAnswer : texts.answer, {});
      return requestWith(texts, { step, rubric, blocks: [fill(texts.question, {}), answer] });
    },
    read: readSuccess,
  };
}

function readSuccess(completion: Completion): Reading | undefined {
  const fields = fieldsIn(completion, 'success');
  if (fields === undefined) return undefined;
  const success = flagIn(fields['success']);
  const onTrack = flagIn(fields['ontrack']);
  // Who has succeeded need not be told to be on the way.
  if (success === undefined || (!success && onTrack === undefined)) return undefined;
  const reason = reasonIn(fields);
  return {
    score: success ? 1 : onTrack === true ? 0.5 : 0,
    ...(reason !== undefined && { reason }),
  };
}
