import type { Entry } from '../contracts/entry.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { PreferenceRow, RowRule } from '../data/rows.ts';
import type { SearchMethod, SearchOptions } from '../search/contracts.ts';
import type { WideningRule } from '../tree/selection.ts';

/**
 * A published method: an algorithm, who proposes, who values, and what makes a pair:
 * `search(environment, { method: agentQ({ model }), budget: { calls: 200 } })`. Parts that are given beside it take
 * the place of its own. It needs an environment with a notation.
 */
export interface Method<State = any, Action = any> extends SearchMethod<State, Action> {
  /** What makes preference rows of its finished trees, where the paper trains on some. */
  readonly pairs?: RowRule<PreferenceRow>;
}

/** What every method takes. */
export interface MethodOptions {
  /** The model that proposes, and does all else that nobody else is named for. */
  readonly model: LanguageModel;
  /** The model that judges. @defaultValue `model` */
  readonly judgeModel?: LanguageModel;
  /** The maximum tokens of one proposed action: an integer from 1 up. @defaultValue 256 */
  readonly maxTokens?: number;
}

/** The names of the options that every method takes. */
export const methodOptions = 'model judgeModel maxTokens';

/** What every method takes whose nodes may get further actions later. */
export interface WideningMethodOptions extends MethodOptions {
  /** Whether a node that has its actions may get as many again, such as `valueWidening()`. @defaultValue the paper's: never */
  readonly widening?: WideningRule;
}

/** A method by its name. */
export interface MethodEntry extends Entry<(options: MethodOptions) => Method> {
  /** The paper: authors, title, year, number. */
  readonly paper: string;
  /**
   * What to give beside it where the model can do no more than propose a step and judge a state in a word.
   *
   * @defaultValue nothing: the method asks no more of a model
   */
  readonly plain?: (
    options: MethodOptions,
  ) => Pick<SearchOptions, 'algorithm' | 'evaluator' | 'policy'>;
}
