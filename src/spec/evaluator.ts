import type { CallContext } from './context.ts';
import type { Failure } from './failure.ts';
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
  ): MaybePromise<readonly (Evaluation | Failure)[]>;

  /**
   * The return of a simulation from nodes that the search goes on from, where that is more than their value:
   * what was played on, tried out or looked up. The value stays as it was. Each node has a state, and none was
   * rewarded at its end. Left out: the return is the value.
   */
  simulate?(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest,
  ): MaybePromise<readonly (Evaluation | Failure)[]>;
}

/** What an evaluator is given besides the nodes. */
export interface EvaluateRequest {
  /** The door to models and tools. */
  readonly context: CallContext;
  /** What the budget still holds. */
  readonly remaining: Spend;
}

/** How good a node is. */
export interface Evaluation {
  /** v(s) in [0, 1]. */
  readonly value: number;
  /** The score before it was mapped to [0, 1], and the range it came from. */
  readonly raw?: RawScore;
  /** The values from which this one was blended. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Why, in words. */
  readonly rationale?: string;
  /** How many answers could not be read, and do not count. @defaultValue 0 */
  readonly unscored?: number;
}

/** A score on a scale of its own. */
export interface RawScore {
  /** The score. */
  readonly score: number;
  /** The least and the greatest score there is. */
  readonly range: readonly [number, number];
}

/** h(s): an estimate of the cost still to come. Not bound to [0, 1]. */
export type Heuristic<State> = (state: State) => number;
