import type { Texts } from '../../prompting/prompts.ts';
import type { JudgingOptions } from '../judging-options.ts';
import type { Criterion } from './rubric.ts';

/** Options of {@link judge}. */
export type JudgeOptions<State = any, Action = any> = JudgingOptions<State, Action> & {
  /**
   * Whether to ask for a reason, which becomes the rationale of the evaluation. The value is then read from the text,
   * even if the model reports log-probabilities.
   *
   * @defaultValue false for a scale and for yes or no, else true: a judge that must first give a reason judges better
   */
  readonly reason?: boolean;
  /** The probability mass to sample from, in (0, 1], for models that take a temperature. @defaultValue the model's default */
  readonly topP?: number;
  /** The criteria of the judgement, in words. @defaultValue none */
  readonly rubric?: string;
  /**
   * Combines the scores of all answers into one, on the range of the form. MCTSr takes `(min + mean) / 2`.
   *
   * @defaultValue the mean
   */
  readonly aggregate?: (scores: readonly number[]) => number;
} & (
    | {
        /** The form of an answer: one word of a few. */
        readonly form?: 'scale';
        /** The words, two or more, and the value in [0, 1] of each. @defaultValue sure 1, likely 0.5, impossible 0 */
        readonly scale?: Readonly<Record<string, number>>;
        /** Texts to replace: `state`, `action` with the slot `{step}`, both with `{words}`; `reason`; `rubric`. */
        readonly prompts?: Texts<'action' | 'reason' | 'rubric' | 'state'>;
      }
    | ({
        /**
         * Texts to replace: `state`, `action` with the slot `{step}`, `rubric`, `question`, `answer` and
         * `reasonedAnswer`. Slots of `question` are `{codes}` of codes, `{criteria}` of criteria, `{least}` and
         * `{greatest}` of a number; of both answers `{names}` of codes and `{scores}` of criteria.
         */
        readonly prompts?: Texts<
          'action' | 'answer' | 'question' | 'reasonedAnswer' | 'rubric' | 'state'
        >;
      } & (
        | {
            /** The form of an answer: one of a few status codes. */
            readonly form: 'codes';
            /** The codes, and the value in [0, 1] of each. @defaultValue A 1, B 0.9, C 0.5, D 0.2, E 0 */
            readonly codes?: Readonly<Record<string, number>>;
            /** The meaning of each code, for the model. @defaultValue meanings of A to E */
            readonly meanings?: Readonly<Record<string, string>>;
          }
        | {
            /** The form of an answer: points for each of several criteria. */
            readonly form: 'criteria';
            /** The criteria that earn points. @defaultValue {@link workCriteria}, seven criteria of 100 points */
            readonly criteria?: readonly Criterion[];
          }
        | {
            /** The form of an answer: an integer. */
            readonly form: 'number';
            /**
             * The least and the greatest number, both integers, such as -100 and 100 in MCTSr. @defaultValue `[1, 10]`
             */
            readonly range?: readonly [number, number];
          }
        | {
            /** The form of an answer: success or, failing that, whether it is on track; or yes or no. */
            readonly form: 'success' | 'yes-no';
          }
      ))
  );
