import type { LanguageModel } from '../contracts/language-model.ts';
import type { PromptPart } from '../contracts/prompt-part.ts';

/** Options common to all evaluators that ask a language model. */
export interface JudgingOptions<State = any, Action = any> {
  /** The model that judges. */
  readonly model: LanguageModel;
  /** What is judged: the state that an action led to, or the action before it is taken. @defaultValue `'state'` */
  readonly about?: 'action' | 'state';
  /** The number of answers to average: an integer from 1 up. @defaultValue 1 with log-probabilities, else 3 */
  readonly samples?: number;
  /**
   * The maximum tokens of one answer, from 1 up: more for a reasoning model. @defaultValue enough for the form: 1 to
   * 32, with a reason 64 or 256
   */
  readonly maxTokens?: number;
  /** The sampling temperature: from 0 up, for models that support one. @defaultValue 0 for one sample, else 1 */
  readonly temperature?: number;
  /** Text added to the prompt after the state, such as lessons. @defaultValue none */
  readonly promptParts?: readonly PromptPart<State, Action>[];
}
