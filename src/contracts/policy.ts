import type { CallContext } from './context.ts';
import type { Environment } from './environment.ts';
import type { Failed } from './failure.ts';
import type { MaybePromise } from './json.ts';
import type { Completion } from './language-model.ts';
import type { NodeWithState, SearchNode } from './node.ts';
import type { Provenance } from './provenance.ts';
import type { Spend } from './spend.ts';

/** π(a | s): proposes actions. */
export interface Policy<State = any, Action = any> extends Provenance {
  /**
   * Proposes up to `request.count` actions for a node that has a state. A policy that throws fails the
   * expansion, not the search; one that proposes nothing ends the branch.
   */
  propose(
    node: SearchNode<State, Action>,
    request: ProposeRequest<State, Action>,
  ): MaybePromise<readonly Proposal<Action>[]>;
}

/** A policy where one is asked for: a bare function will do. */
export type PolicyLike<State = any, Action = any> =
  | Policy<State, Action>
  | ((
      node: NodeWithState<State, Action>,
      request: ProposeRequest<State, Action>,
    ) => MaybePromise<readonly Proposal<Action>[]>);

/** What a policy is asked for. */
export interface ProposeRequest<State = any, Action = any> {
  /** The dynamics that are searched, and how states and actions look to a model. */
  readonly environment: Environment<State, Action>;
  /** The door to models and tools. */
  readonly context: CallContext;
  /** How many actions are wanted, and the most that may be proposed; `Infinity` asks for all of them. */
  readonly count: number;
  /** How many samples this node has been asked for before: the index of the first new one. */
  readonly offset: number;
  /**
   * Whether the samples are to be independent of the children that are there: then an action may come
   * again. Otherwise a policy that can should offer what is not there yet.
   *
   * @defaultValue false
   */
  readonly independent?: boolean;
  /** The arm to draw from, where an algorithm chooses between several policies. */
  readonly arm?: string;
  /** What the budget still holds. */
  readonly remaining: Spend;
}

/** A proposed action, or why a sample came to none. */
export type Proposal<Action> = Failed | ValidProposal<Action>;

/** A proposed action. */
export interface ValidProposal<Action> {
  /** The action, a. */
  readonly action: Action;
  /** P(s, a) ≥ 0. Left out by all siblings: they share equally. */
  readonly prior?: number;
  /** The model output from which the action was read. */
  readonly completion?: Completion;
}
