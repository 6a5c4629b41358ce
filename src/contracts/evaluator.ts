import type { CallContext } from './context.ts';
import type { Environment } from './environment.ts';
import type { Evaluation } from './evaluation.ts';
import type { Failed } from './failure.ts';
import type { MaybePromise } from './json.ts';
import type { NodeWithState, SearchNode } from './node.ts';
import type { Provenance } from './provenance.ts';
import type { Spend } from './spend.ts';

/** v(s): says how good nodes are. */
export interface Evaluator<State = any, Action = any> extends Provenance {
  /** `proposed`: ranks actions before they are taken. `realised`: looks at the states they led to. */
  readonly needs: 'proposed' | 'realised';

  /** Evaluates a batch: one result a node, in the order of the nodes. */
  evaluate(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest<State, Action>,
  ): MaybePromise<readonly (Evaluation | Failed)[]>;

  /**
   * The return of a simulation from nodes that the search goes on from, where that is more than their value:
   * what was played on, tried out or looked up. The value stays as it was. Each node has a state, and none was
   * rewarded at its end. Left out: the return is the value.
   */
  simulate?(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest<State, Action>,
  ): MaybePromise<readonly (Evaluation | Failed)[]>;
}

/** An evaluator where one is asked for: a bare function will do, which tells v(s) of one node that has a state. */
export type EvaluatorLike<State = any, Action = any> =
  | Evaluator<State, Action>
  | ((
      node: NodeWithState<State, Action>,
      request: EvaluateRequest<State, Action>,
    ) => MaybePromise<number>);

/** What an evaluator is given besides the nodes. */
export interface EvaluateRequest<State = any, Action = any> {
  /** The dynamics that are searched, and how states and actions look to a model. */
  readonly environment: Environment<State, Action>;
  /** The door to models and tools. */
  readonly context: CallContext;
  /**
   * How often these nodes have been evaluated before. Samples that models draw and random numbers of the context are
   * others each time.
   *
   * @defaultValue 0
   */
  readonly offset?: number;
  /** What the budget still holds. */
  readonly remaining: Spend;
}

/** h(s): an estimate of the cost still to come. Not bound to [0, 1]. */
export type Heuristic<State> = (state: State) => number;
