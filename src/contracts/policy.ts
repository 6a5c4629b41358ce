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
   * Proposes up to `request.count` actions for a node with a state. If it throws, the expansion fails, not the search;
   * proposing nothing ends the branch.
   */
  propose(
    node: SearchNode<State, Action>,
    request: ProposeRequest<State, Action>,
  ): MaybePromise<readonly Proposal<Action>[]>;
}

/** A policy, or its `propose` function alone. */
export type PolicyLike<State = any, Action = any> =
  | Policy<State, Action>
  | ((
      node: NodeWithState<State, Action>,
      request: ProposeRequest<State, Action>,
    ) => MaybePromise<readonly Proposal<Action>[]>);

/** A request to a policy. */
export interface ProposeRequest<State = any, Action = any> {
  /** The environment, with its dynamics and notation. */
  readonly environment: Environment<State, Action>;
  /** Access to models and tools. */
  readonly context: CallContext;
  /** The number of actions wanted, and the maximum; `Infinity` asks for all. */
  readonly count: number;
  /** The number of samples already requested for this node: the index of the first new one. */
  readonly offset: number;
  /**
   * Whether samples must be independent of existing children, so that actions may repeat. Otherwise a policy should, if
   * it can, propose new actions.
   *
   * @defaultValue false
   */
  readonly independent?: boolean;
  /** The arm to draw from, if an algorithm chooses between several policies. */
  readonly arm?: string;
  /** What the budget still holds. */
  readonly remaining: Spend;
}

/** A proposed action, or the reason why a sample yielded none. */
export type Proposal<Action> = Failed | ValidProposal<Action>;

/** A proposed action. */
export interface ValidProposal<Action> {
  /** The action, a. */
  readonly action: Action;
  /** P(s, a) ≥ 0. If all siblings leave it out, they share equally. */
  readonly prior?: number;
  /** The model output that the action was parsed from. */
  readonly completion?: Completion;
}
