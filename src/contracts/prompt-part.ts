import type { CallContext } from './context.ts';
import type { Environment } from './environment.ts';
import type { MaybePromise } from './json.ts';
import type { SearchNode } from './node.ts';
import type { Provenance } from './provenance.ts';

/**
 * Text added to a model's prompt after the state, by policies and judges: relevant lessons, results of siblings.
 */
export interface PromptPart<State = any, Action = any> extends Provenance {
  /** The text for a node; nothing is added if it is empty or `undefined`. */
  text(
    node: SearchNode<State, Action>,
    request: PromptPartRequest<State, Action>,
  ): MaybePromise<string | undefined>;
}

/** The arguments of a {@link PromptPart} besides the node. */
export interface PromptPartRequest<State = any, Action = any> {
  /** The environment, with its dynamics and notation. */
  readonly environment: Environment<State, Action>;
  /** Access to models and tools. */
  readonly context: CallContext;
}
