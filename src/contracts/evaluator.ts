import type { CallContext } from './context.ts';
import type { Environment } from './environment.ts';
import type { Evaluation } from './evaluation.ts';
import type { Failed } from './failure.ts';
import type { MaybePromise } from './json.ts';
import type { NodeWithState, SearchNode } from './node.ts';
import type { Provenance } from './provenance.ts';
import type { Spend } from './spend.ts';

/** v(s): estimates how good nodes are. */
export interface Evaluator<State = any, Action = any> extends Provenance {
  /** `proposed`: ranks actions before they are taken. `realised`: evaluates the states they led to. */
  readonly needs: 'proposed' | 'realised';

  /** Evaluates a batch: one result per node, in order. */
  evaluate(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest<State, Action>,
  ): MaybePromise<readonly (Evaluation | Failed)[]>;

  /**
   * The return of a simulation from each node, if it differs from the value: from a rollout, a trial or a lookup. The
   * value is unchanged. Each node has a state, and none is a rewarded end. If left out, the return is the value.
   */
  simulate?(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest<State, Action>,
  ): MaybePromise<readonly (Evaluation | Failed)[]>;
}

/** An evaluator, or a function that returns v(s) for one node with a state. */
export type EvaluatorLike<State = any, Action = any> =
  | Evaluator<State, Action>
  | ((
      node: NodeWithState<State, Action>,
      request: EvaluateRequest<State, Action>,
    ) => MaybePromise<number>);

/** The arguments of an evaluator besides the nodes. */
export interface EvaluateRequest<State = any, Action = any> {
  /** The environment, with its dynamics and notation. */
  readonly environment: Environment<State, Action>;
  /** Access to models and tools. */
  readonly context: CallContext;
  /**
   * How often these nodes have been evaluated before. Each time gets new model samples and new random numbers.
   *
   * @defaultValue 0
   */
  readonly offset?: number;
  /** What the budget still holds. */
  readonly remaining: Spend;
}

/** h(s): an estimate of the remaining cost. Not limited to [0, 1]. */
export type Heuristic<State> = (state: State) => number;
