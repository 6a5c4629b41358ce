import type { CallContext } from './context.ts';
import type { Failed } from './failure.ts';
import type { Codec, JsonValue, MaybePromise } from './json.ts';
import type { Completion, Message, ToolCall, ToolDefinition } from './language-model.ts';
import type { Provenance } from './provenance.ts';

/** The dynamics of a problem: where it starts and what an action does. */
export interface Environment<State, Action> extends Pick<Provenance, 'stamps'> {
  /** The name in trees and journals. */
  readonly name: string;

  /**
   * The start state, as a step would return it: a puzzle that starts solved is terminal, with the reward of a solving
   * step.
   */
  reset(context: CallContext): MaybePromise<Transition<State>>;

  /**
   * Takes `action` in `state`. It never changes `state`, because many branches step from it.
   * An error it throws fails this one child.
   */
  step(state: State, action: Action, context: StepContext): MaybePromise<Transition<State>>;

  /** States with equal keys are the same state: siblings of equal state, reward and cost are merged, calls are shared. */
  key?(state: State): string;

  /**
   * The answer in a state, if it has one: what votes count, comparing answers as JSON, and the `answer` of a result. Leave it
   * out where there is nothing to vote on because many solutions are right, as in a puzzle.
   */
  answer?(state: State): JsonValue | undefined;

  /** Converts states and actions to model text, and back. */
  readonly notation?: Notation<State, Action>;

  /** How states are saved. Without it, a state must be JSON itself. */
  readonly codec?: Codec<State>;
}

/** The context of a step. */
export interface StepContext extends CallContext {
  /** The completion that the action was parsed from, if a model wrote it. */
  readonly completion?: Completion | undefined;
}

/** What an action led to. */
export interface Transition<State> {
  /** s′, the state after the action. */
  readonly state: State;
  /** r(s, a). A terminal state with a reward is not evaluated again. */
  readonly reward?: number;
  /** c(s, a) ≥ 0, the cost of the step, for cheapest-path search. @defaultValue 1 */
  readonly cost?: number;
  /** Whether the state ends the episode. */
  readonly terminal?: boolean;
  /** Whether the state is a complete answer that may still be refined. */
  readonly answer?: boolean;
}

/** An action parsed from text, or the reason why there is none. */
export type Parsed<Action> =
  | Failed
  | {
      /** The action, a. */
      readonly action: Action;
      /**
       * What is wrong with an action that can be taken but is known to fail: a policy with repair asks the model to fix
       * it first.
       *
       * @defaultValue nothing
       */
      readonly problem?: string;
    };

/** One notation for policies, judges and training rows, so that they all see the same text. */
export interface Notation<State, Action> {
  /** The bare state as a conversation: no lessons, no siblings, no known answer. */
  prompt(state: State): readonly Message[];
  /** An action as a model would write it. `parse(format(a), s)` equals `a`. */
  format(action: Action): string;
  /** Parses an action from model text. Text is data: it is never executed. */
  parse(text: string, state: State): Parsed<Action>;

  /**
   * The text that ends an action. A model that supports `stop` stops there; in an answer that was cut off, only the
   * text before the last delimiter is read. Without it, models get no stop text, and only the complete lines of a cut
   * answer are read.
   */
  readonly delimiter?: string;

  /**
   * The JSON schema of an action, an object without references, where `format` writes JSON and `parse` reads
   * it. A model that supports `schema` is constrained to it; in other models' answers, JSON is searched for.
   */
  readonly schema?: JsonValue;

  /**
   * The tools, if an action is a tool call. A model that supports tools is offered these, and `called` parses its
   * calls; other models are asked for JSON matching `schema`.
   */
  readonly tools?: readonly ToolDefinition[];

  /** Parses an action from the calls of one turn. Required with `tools`. */
  called?(calls: readonly ToolCall[], state: State): Parsed<Action>;

  /**
   * An action as a conversation turn, for actions that are more than text, such as a tool call.
   *
   * @defaultValue `format(action)` as an assistant message
   */
  turn?(action: Action, completion?: Completion): Message;
}
