import type { CallContext } from './context.ts';
import type { Evaluation } from './evaluation.ts';
import type { Failed } from './failure.ts';
import type { MaybePromise } from './json.ts';
import type { SearchNode } from './node.ts';
import type { Provenance } from './provenance.ts';
import type { Spend } from './spend.ts';

/** v(s): says how good nodes are. */
export interface Evaluator<State, Action> extends Provenance {
  /** `proposed`: ranks actions before they are taken. `realised`: looks at the states they led to. */
  readonly needs: 'proposed' | 'realised';

  /** Evaluates a batch: one result a node, in the order of the nodes. */
  evaluate(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest,
  ): MaybePromise<readonly (Evaluation | Failed)[]>;

  /**
   * The return of a simulation from nodes that the search goes on from, where that is more than their value:
   * what was played on, tried out or looked up. The value stays as it was. Each node has a state, and none was
   * rewarded at its end. Left out: the return is the value.
   */
  simulate?(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest,
  ): MaybePromise<readonly (Evaluation | Failed)[]>;
}

/** What an evaluator is given besides the nodes. */
export interface EvaluateRequest {
  /** The door to models and tools. */
  readonly context: CallContext;
  /** What the budget still holds. */
  readonly remaining: Spend;
}

/** h(s): an estimate of the cost still to come. Not bound to [0, 1]. */
export type Heuristic<State> = (state: State) => number;
