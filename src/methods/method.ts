import type { Entry } from '../contracts/entry.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { PreferenceRow, RowRule } from '../data/rows.ts';
import type { SearchMethod, SearchOptions } from '../search/contracts.ts';
import type { WideningRule } from '../tree/selection.ts';

/**
 * A published method: an algorithm, a policy, an evaluator and a rule for pairs:
 * `search(environment, { method: agentQ({ model }), budget: { calls: 200 } })`. Explicit options replace its parts. It
 * needs an environment with a notation.
 */
export interface Method<State = any, Action = any> extends SearchMethod<State, Action> {
  /** Makes preference rows from its finished trees, if the paper trains on some. */
  readonly pairs?: RowRule<PreferenceRow>;
}

/** Options common to all methods. */
export interface MethodOptions {
  /** The model that proposes actions and makes all other calls, unless an option names another model. */
  readonly model: LanguageModel;
  /** The model that judges. @defaultValue `model` */
  readonly judgeModel?: LanguageModel;
  /** The maximum tokens of one proposed action: an integer from 1 up. @defaultValue 256 */
  readonly maxTokens?: number;
}

/** The names of the options that every method takes. */
export const methodOptions = 'model judgeModel maxTokens';

/** Options common to methods whose nodes may get further actions later. */
export interface WideningMethodOptions extends MethodOptions {
  /**
   * Whether an expanded node may get that many actions again, such as `valueWidening()`. @defaultValue never, as in the
   * papers
   */
  readonly widening?: WideningRule;
}

/** A method by its name. */
export interface MethodEntry extends Entry<(options: MethodOptions) => Method> {
  /** The paper: authors, title, year, number. */
  readonly paper: string;
  /**
   * Options to add for models that can only propose a step and judge a state in one word.
   *
   * @defaultValue none: the method needs no more than that
   */
  readonly plain?: (
    options: MethodOptions,
  ) => Pick<SearchOptions, 'algorithm' | 'evaluator' | 'policy'>;
}
