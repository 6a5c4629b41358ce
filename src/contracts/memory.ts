import type { CallContext } from './context.ts';
import type { MaybePromise } from './json.ts';
import type { NodeId } from './node.ts';

/** A lesson and its source. */
export interface Reflection {
  /** Its id: the content address of kind, task, situation, action and outcome. Duplicates share one id. */
  readonly id: string;
  /** What it is for: the policy, which proposes steps, or the value, which judges states. */
  readonly kind: 'policy' | 'value';
  /** The problem. */
  readonly task: string;
  /** The state in which the action was taken, as text. */
  readonly situation: string;
  /** The action taken. */
  readonly action: string;
  /** What it led to, as text. */
  readonly outcome: string;
  /** The lesson, in words. */
  readonly lesson: string;
  /** Where it comes from. */
  readonly source: {
    /** The environment of the search. */
    readonly environment: string;
    /** The node that it came from. */
    readonly node: NodeId;
    /** The value that was expected there. */
    readonly expected: number;
    /** The value that was realised. */
    readonly realised: number;
    /** The model that wrote the lesson, as `provider:modelId`. */
    readonly model: string;
  };
}

/** A store of reflections. */
export interface ReflectionStore {
  /** All reflections, the oldest first. */
  all(): MaybePromise<readonly Reflection[]>;
  /** Adds reflections, skipping those whose `id` is already stored. */
  add(reflections: readonly Reflection[]): MaybePromise<void>;
}

/** Ranks texts by similarity to a query. */
export interface Retriever {
  /** Its name in journals: a retriever with another name ranks texts anew. */
  readonly name: string;
  /** The similarity of each text to the query, in the order of the texts. Higher is more similar. */
  similarities(
    query: string,
    texts: readonly string[],
    context: CallContext,
  ): MaybePromise<readonly number[]>;
}

/** A query to a {@link Memory}. */
export interface MemoryQuery {
  /** What the reflections are for. */
  readonly kind: Reflection['kind'];
  /** The problem. */
  readonly task: string;
  /** The state, as text. */
  readonly situation: string;
}

/** A reflection that was found, and its similarity to the query. */
export interface Recollection {
  /** The reflection. */
  readonly reflection: Reflection;
  /** Its similarity to the query, on the retriever's scale. */
  readonly similarity: number;
}

/** Reflections across problems and processes. */
export interface Memory {
  /** The most relevant reflections, best first. Journaled: a replay recalls what the run recalled. */
  recall(query: MemoryQuery, context: CallContext): Promise<readonly Recollection[]>;
  /** Stores reflections, skipping known ones. Resolves to the new ones. */
  remember(
    reflections: readonly Reflection[],
    context: CallContext,
  ): Promise<readonly Reflection[]>;
}
