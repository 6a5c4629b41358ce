import type { CallContext } from '../contracts/context.ts';
import type { Retriever } from '../contracts/memory.ts';

/**
 * A retriever that must make calls before it can compare texts. A `memory` ranks inside an effect, where a call would
 * deadlock with the effect, so the calls are made before.
 */
export interface PreparedRetriever extends Retriever {
  /**
   * The texts, among the query and the others, of which nothing is known and nobody is finding it out; `undefined`
   * once all are known.
   */
  missing(query: string, texts: readonly string[]): readonly string[] | undefined;
  /** Finds out what is needed of these texts, and waits for what others are finding out. */
  prepare(texts: readonly string[], context: CallContext): Promise<void>;
}

/** Whether a retriever makes calls before it compares. */
export function isPrepared(retriever: Retriever): retriever is PreparedRetriever {
  const { missing, prepare } = retriever as Partial<PreparedRetriever>;
  return typeof missing === 'function' && typeof prepare === 'function';
}
