import type { CallContext } from './context.ts';
import type { Failure } from './failure.ts';
import type { MaybePromise } from './json.ts';
import type { SearchNode } from './node.ts';
import type { Spend } from './spend.ts';

/** v(s): says how good nodes are. */
export interface Evaluator<State, Action> {
  /** `proposed`: ranks actions before they are taken. `realised`: looks at the states they led to. */
  readonly needs: 'proposed' | 'realised';

  /** Evaluates a batch: one result a node, in the order of the nodes. */
  evaluate(
    nodes: readonly SearchNode<State, Action>[],
    request: EvaluateRequest,
  ): MaybePromise<readonly (Evaluation | Failure)[]>;
}

/** What an evaluator is given besides the nodes. */
export interface EvaluateRequest {
  readonly context: CallContext;
  /** What the budget still holds. */
  readonly remaining: Spend;
}

/** How good a node is. */
export interface Evaluation {
  /** v(s) in [0, 1]. */
  readonly value: number;
  /** The score before it was mapped to [0, 1], and the range it came from. */
  readonly raw?: { readonly score: number; readonly range: readonly [number, number] };
  /** The values from which this one was blended. */
  readonly parts?: Readonly<Record<string, number>>;
  readonly rationale?: string;
}

/** h(s): an estimate of the cost still to come. Not bound to [0, 1]. */
export type Heuristic<State> = (state: State) => number;
