import { oneOf } from '../../prompting/answer-words.ts';
import {
  codeIn,
  codeSchema,
  codeTable,
  listedCodes,
  type StatusCodes,
} from '../../prompting/codes.ts';
import { fill, type PromptSet, withTexts } from '../../prompting/prompts.ts';
import {
  type FormSettings,
  type JudgedText,
  type JudgeForm,
  judgedTexts,
  requestWith,
} from './form.ts';

/** The texts of a judge that answers with a code. */
export type CodesText = JudgedText | 'answer' | 'question' | 'reasonedAnswer';

/**
 * One of a few codes for how things stand. R-MCTS takes the mean of 20 samples.
 *
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024.
 */
export interface CodesForm {
  /** The form of an answer: a code. */
  readonly form: 'codes';
  /** The codes, and the value of each. @defaultValue {@link statusCodes}: A 1, B 0.9, C 0.5, D 0.2, E 0 */
  readonly codes?: StatusCodes;
  /** What each code means to the model. @defaultValue {@link statusMeanings} for A to E */
  readonly meanings?: Readonly<Record<string, string>>;
  /**
   * Texts to replace: `state`, `action` with the slot `{step}`, `rubric`, `question` with `{codes}`, `answer` and
   * `reasonedAnswer`, both with `{names}`.
   */
  readonly prompts?: Partial<Readonly<Record<CodesText, string>>>;
}

const codesPrompts: PromptSet<CodesText> = {
  name: 'judge-codes',
  version: 1,
  texts: {
    ...judgedTexts,
    question: 'Which of these describes it best? Where two do, take the worse one.\n\n{codes}',
    answer: 'Answer in JSON, and write nothing else: {{"status": "<{names}>"}}',
    reasonedAnswer: [
      'Answer in JSON, and write nothing else:',
      '{{"reason": "<two sentences at most>", "status": "<{names}>"}}',
    ].join(' '),
  },
};

/** A code in the `status` of a reply, or the whole of it. */
export function codesForm(
  { codes, meanings, prompts: own }: CodesForm,
  { reason = true, rubric }: FormSettings,
): JudgeForm {
  const table = codeTable(codes, meanings);
  const names = oneOf(Object.keys(table.codes));
  const prompts: PromptSet<CodesText> = withTexts<CodesText>(codesPrompts, own);
  const { texts } = prompts;
  return {
    prompts,
    readsTokens: false,
    reason,
    maxTokens: reason ? 256 : 32,
    expected: `one of the codes ${Object.keys(table.codes).join(', ')}`,
    schema: codeSchema(table, { reason }),
    request(step) {
      const question = fill(texts.question, { codes: listedCodes(table) });
      const answer = fill(reason ? texts.reasonedAnswer : texts.answer, { names });
      return requestWith(texts, { step, rubric, blocks: [question, answer] });
    },
    read: (completion) => codeIn(table, completion),
  };
}
