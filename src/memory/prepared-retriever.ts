import type { CallContext } from '../contracts/context.ts';
import type { Retriever } from '../contracts/memory.ts';

/**
 * A retriever that must make calls before it can compare texts. A `memory` ranks inside an effect, where a call would
 * deadlock with the effect, so the calls are made before.
 */
export interface PreparedRetriever extends Retriever {
  /** The texts, including the query, that are neither known nor being fetched; `undefined` if all are known. */
  missing(query: string, texts: readonly string[]): readonly string[] | undefined;
  /** Fetches what is needed for these texts, and waits for what others are fetching. */
  prepare(texts: readonly string[], context: CallContext): Promise<void>;
}

/** Whether a retriever makes calls before it compares. */
export function isPrepared(retriever: Retriever): retriever is PreparedRetriever {
  const { missing, prepare } = retriever as Partial<PreparedRetriever>;
  return typeof missing === 'function' && typeof prepare === 'function';
}
