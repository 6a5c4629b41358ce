import type { CallContext } from './context.ts';
import type { Environment } from './environment.ts';
import type { MaybePromise } from './json.ts';
import type { SearchNode } from './node.ts';
import type { Provenance } from './provenance.ts';

/**
 * Something that a model is told beside the state: lessons that apply, what siblings came to. Policies and
 * judges put it behind the bare state.
 */
export interface PromptPart<State = any, Action = any> extends Provenance {
  /** What is to be told at a node; nothing where it is empty or `undefined`. */
  text(
    node: SearchNode<State, Action>,
    request: PromptPartRequest<State, Action>,
  ): MaybePromise<string | undefined>;
}

/** What a {@link PromptPart} is given besides the node. */
export interface PromptPartRequest<State = any, Action = any> {
  /** The dynamics that are searched, and how states and actions look to a model. */
  readonly environment: Environment<State, Action>;
  /** The door to models and tools. */
  readonly context: CallContext;
}
