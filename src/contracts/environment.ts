import type { CallContext } from './context.ts';
import type { Failed } from './failure.ts';
import type { Codec, JsonValue, MaybePromise } from './json.ts';
import type { Completion, Message, ToolCall, ToolDefinition } from './language-model.ts';
import type { Provenance } from './provenance.ts';

/** The dynamics of a problem: where it starts and what an action does. */
export interface Environment<State, Action> extends Pick<Provenance, 'stamps'> {
  /** What the environment is called in trees and journals. */
  readonly name: string;

  /**
   * The start, as a step would return it: a puzzle that comes solved is terminal, with the reward that its last step
   * would have brought.
   */
  reset(context: CallContext): MaybePromise<Transition<State>>;

  /**
   * Takes `action` in `state`. It never changes `state`, because many branches step from it.
   * An error it throws fails this one child.
   */
  step(state: State, action: Action, context: StepContext): MaybePromise<Transition<State>>;

  /** States with equal keys are the same state: siblings of equal state, reward and cost are merged, calls are shared. */
  key?(state: State): string;

  /** The answer that a state gives, where it gives one. Equal answers are equal as JSON: they are what is voted on. */
  answer?(state: State): JsonValue | undefined;

  /** How states and actions look to a model, and back. */
  readonly notation?: Notation<State, Action>;

  /** How states are saved. Without it, a state must be JSON itself. */
  readonly codec?: Codec<State>;
}

/** The door of a step. */
export interface StepContext extends CallContext {
  /** What the action was read from, where a model wrote it. */
  readonly completion?: Completion | undefined;
}

/** What an action led to. */
export interface Transition<State> {
  /** s′, the state after the action. */
  readonly state: State;
  /** r(s, a). A terminal state with a reward is not evaluated again. */
  readonly reward?: number;
  /** c(s, a) ≥ 0, what the step costs, for searches that look for the cheapest path. @defaultValue 1 */
  readonly cost?: number;
  /** Nothing can follow. */
  readonly terminal?: boolean;
  /** A complete answer that may still be refined. */
  readonly answer?: boolean;
}

/** An action that was read from text, or why there is none. */
export type Parsed<Action> =
  | Failed
  | {
      /** The action, a. */
      readonly action: Action;
      /**
       * What is wrong with it, where it can be taken but comes to nothing: a policy that repairs sends it back first.
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
  /** Reads an action from model text. Text is data: it is never executed. */
  parse(text: string, state: State): Parsed<Action>;

  /**
   * The text at which one action ends and another would begin. A model that supports `stop` is told to stop
   * there, and of an answer that was cut off only what stands before the last one is read. Left out:
   * nothing stops a model, and of a cut answer the whole lines are read.
   */
  readonly delimiter?: string;

  /**
   * The JSON schema of an action, an object without references, where `format` writes JSON and `parse` reads
   * it. A model that supports `schema` is bound to it; in the answers of others JSON is looked for.
   */
  readonly schema?: JsonValue;

  /**
   * The tools of which an action is a call. A model that takes tools is offered these, and `called` reads what it asks
   * for; of others JSON is asked for, by `schema`.
   */
  readonly tools?: readonly ToolDefinition[];

  /** Reads an action from the calls of one turn, where there are `tools`. */
  called?(calls: readonly ToolCall[], state: State): Parsed<Action>;

  /**
   * An action as a turn of the conversation, where it is more than text, such as a call of a tool.
   *
   * @defaultValue `format(action)`, said by the assistant
   */
  turn?(action: Action, completion?: Completion): Message;
}
