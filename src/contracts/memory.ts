import type { CallContext } from './context.ts';
import type { MaybePromise } from './json.ts';
import type { NodeId } from './node.ts';

/** A lesson, and what it was learnt from. */
export interface Reflection {
  /** Names it: the content address of kind, task, situation, action and outcome. Equal ones are one. */
  readonly id: string;
  /** Whom it teaches: who proposes steps, or who judges states. */
  readonly kind: 'policy' | 'value';
  /** The problem. */
  readonly task: string;
  /** The state in which the action was taken, as text. */
  readonly situation: string;
  /** The action. */
  readonly action: string;
  /** What it led to, as text. */
  readonly outcome: string;
  /** What is to be learnt from it. */
  readonly lesson: string;
  /** Where it comes from. */
  readonly source: {
    /** The environment of the search. */
    readonly environment: string;
    /** The node that caused it. */
    readonly node: NodeId;
    /** The value that was expected there. */
    readonly expected: number;
    /** The value that came of it. */
    readonly realised: number;
    /** Who wrote the lesson, as `provider:modelId`. */
    readonly model: string;
  };
}

/** Where reflections are kept. */
export interface ReflectionStore {
  /** All of them, the oldest first. */
  all(): MaybePromise<readonly Reflection[]>;
  /** Adds reflections. Those whose `id` is there already are left out. */
  add(reflections: readonly Reflection[]): MaybePromise<void>;
}

/** Finds texts that resemble another one. */
export interface Retriever {
  /** What it is, in journals: texts that were ranked by another one are ranked anew. */
  readonly name: string;
  /** The similarity of each text to the query, in the order of the texts. The higher, the more alike. */
  similarities(
    query: string,
    texts: readonly string[],
    context: CallContext,
  ): MaybePromise<readonly number[]>;
}

/** What is looked for in a {@link Memory}. */
export interface MemoryQuery {
  /** Whom the reflections are to teach. */
  readonly kind: Reflection['kind'];
  /** The problem. */
  readonly task: string;
  /** The state, as text. */
  readonly situation: string;
}

/** A reflection that was found, and how well it fits. */
export interface Recollection {
  /** The reflection. */
  readonly reflection: Reflection;
  /** How much it resembles the query, on the scale of the retriever. */
  readonly similarity: number;
}

/** Reflections across problems and processes. */
export interface Memory {
  /** Those that fit best, the best first. Journaled: a replay recalls what the run recalled. */
  recall(query: MemoryQuery, context: CallContext): Promise<readonly Recollection[]>;
  /** Keeps reflections; those that are known already are left out. Resolves to those that were new. */
  remember(
    reflections: readonly Reflection[],
    context: CallContext,
  ): Promise<readonly Reflection[]>;
}
