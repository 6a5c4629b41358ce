import type { Notation } from '../contracts/environment.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import type { Policy } from '../contracts/policy.ts';
import type { Verifier } from '../contracts/verifier.ts';
import type { PreferenceRow, RowRule } from '../data/rows.ts';
import { type NotatedEnvironment, withOutcome } from '../environments/with-outcome.ts';
import type { SearchAlgorithm, StopCondition } from '../search/contracts.ts';

/**
 * A published method: an algorithm, who proposes, who values, and what makes a pair. It spreads into `search`:
 * `search({ ...agentQ({ model, environment }), budget: { calls: 200 } })`.
 */
export interface Method<State, Action> {
  /** The name in results and datasets, in kebab-case. */
  readonly name: string;
  /** The dynamics, with what the method adds to them. */
  readonly environment: NotatedEnvironment<State, Action>;
  /** Who proposes. */
  readonly policy: Policy<State, Action>;
  /** Who values. */
  readonly evaluator: Evaluator<State, Action>;
  /** How the tree grows. */
  readonly algorithm: SearchAlgorithm;
  /** When the search is over before its budget is spent. */
  readonly stopWhen?: readonly StopCondition<State, Action>[];
  /** What makes preference rows of its finished trees, where the paper trains on some. */
  readonly pairs?: RowRule<PreferenceRow>;
}

/** What every method takes. */
export interface MethodOptions<State, Action> {
  /** The model that proposes, and does all else that nobody else is named for. */
  readonly model: LanguageModel;
  /** The dynamics, with a notation. */
  readonly environment: NotatedEnvironment<State, Action>;
  /** The model that judges. @defaultValue `model` */
  readonly judge?: LanguageModel;
  /**
   * Says whether an end is right, for the reward: tests, a rule; for training data `goldVerifier(oracle)`.
   *
   * @defaultValue the rewards of the environment; ends without one are judged
   */
  readonly outcome?: Verifier<NoInfer<State>>;
  /** Who proposes, in place of the method's own. */
  readonly policy?: Policy<NoInfer<State>, NoInfer<Action>>;
  /** Who values, in place of the method's own. */
  readonly evaluator?: Evaluator<NoInfer<State>, NoInfer<Action>>;
  /** The limit on the tokens of one proposed action: an integer from 1 up. @defaultValue 256 */
  readonly maxTokens?: number;
}

/** What the parts of every method are made with. */
export interface MethodParts<State, Action> {
  /** Who proposes. */
  readonly model: LanguageModel;
  /** Who judges. */
  readonly judging: LanguageModel;
  /** The dynamics, with the outcome. */
  readonly environment: NotatedEnvironment<State, Action>;
  /** How states and actions look. */
  readonly notation: Notation<State, Action>;
  /** The limit on the tokens of one proposed action. */
  readonly maxTokens: number;
}

/** Options that all methods have, with their defaults. */
export function partsOf<State, Action>({
  model,
  judge = model,
  environment,
  outcome,
  maxTokens = 256,
}: MethodOptions<State, Action>): MethodParts<State, Action> {
  const world = outcome === undefined ? environment : withOutcome(environment, outcome);
  return { model, judging: judge, environment: world, notation: world.notation, maxTokens };
}
