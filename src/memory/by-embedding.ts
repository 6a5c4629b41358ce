import { LRUCache } from 'lru-cache';
import { expectInteger, expectMethods } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import type { CallContext } from '../contracts/context.ts';
import type { EmbeddingModel } from '../contracts/embedding-model.ts';
import type { PreparedRetriever } from './prepared-retriever.ts';

/** The number of queries that are kept; the texts of a memory are all kept. */
const mostQueries = 1000;

/**
 * A retriever that compares texts by the cosine of their embeddings, from −1 to 1.
 *
 * Texts, and recent queries, are embedded once per process and model, through `CallContext.embed`. A failed embedding
 * fails the recall: there is no fallback.
 *
 * @param model - The model. Its name is part of the name of the retriever.
 */
export function byEmbedding(
  model: EmbeddingModel,
  options: {
    /** Texts per request: an integer from 1 up. @defaultValue 256 */
    readonly batch?: number;
  } = {},
): PreparedRetriever {
  expectOptions('byEmbedding', options, 'batch');
  const { batch = 256 } = options;
  expectMethods('model', model, ['embed']);
  expectInteger('batch', batch, { min: 1 });
  const vectors = vectorsOf(model);
  return {
    name: `embedding:${model.provider}:${model.modelId}`,
    missing: (query, texts) => vectors.missing([query, ...texts]),
    prepare: (texts, context) => vectors.prepare(texts, { model, batch, context }),
    async similarities(query, texts, context) {
      // Called directly, without a memory that prepares it.
      for (;;) {
        const missing = vectors.missing([query, ...texts]);
        if (missing === undefined) return vectors.similarities(query, texts);
        await vectors.prepare(missing, { model, batch, context });
      }
    },
  };
}

/** One per model of the process. */
const known = new WeakMap<EmbeddingModel, Vectors>();

function vectorsOf(model: EmbeddingModel): Vectors {
  const vectors = known.get(model) ?? new Vectors();
  known.set(model, vectors);
  return vectors;
}

interface Purchase {
  readonly model: EmbeddingModel;
  readonly batch: number;
  readonly context: CallContext;
}

/** Known texts and their vectors of length 1. */
class Vectors {
  readonly #vectors = new Map<string, Float64Array>();
  readonly #underway = new Map<string, Promise<unknown>>();
  readonly #queries = new LRUCache<string, true>({
    max: mostQueries,
    dispose: (_value, query, reason) => {
      if (reason === 'evict') this.#vectors.delete(query);
    },
  });

  missing(texts: readonly string[]): readonly string[] | undefined {
    const unknown = new Set(texts.filter((text) => !this.#vectors.has(text)));
    if (unknown.size === 0) return undefined;
    return [...unknown].filter((text) => !this.#underway.has(text));
  }

  async prepare(texts: readonly string[], purchase: Purchase): Promise<void> {
    // If another search is already fetching them, its failure does not fail this one: it looks again.
    const others = [...new Set(this.#underway.values())].map((one) => one.catch(() => {}));
    const own: Promise<void>[] = [];
    for (let start = 0; start < texts.length; start += purchase.batch) {
      own.push(this.#buy(texts.slice(start, start + purchase.batch), purchase));
    }
    await Promise.all([...own, ...others]);
  }

  async #buy(texts: readonly string[], { model, context }: Purchase): Promise<void> {
    const purchase = context.embed(model, texts).then((embeddings) => {
      for (const [place, text] of texts.entries()) {
        this.#vectors.set(text, unit(model, embeddings[place] ?? []));
      }
    });
    for (const text of texts) this.#underway.set(text, purchase);
    try {
      await purchase;
    } finally {
      for (const text of texts) {
        if (this.#underway.get(text) === purchase) this.#underway.delete(text);
      }
    }
  }

  similarities(query: string, texts: readonly string[]): readonly number[] {
    const asked = this.#vectors.get(query) ?? new Float64Array();
    const similarities = texts.map((text) => {
      return dot(asked, this.#vectors.get(text) ?? new Float64Array());
    });
    // Only now, because the query evicted from the cache may be one of these texts.
    this.#queries.set(query, true);
    return similarities;
  }
}

function unit({ provider, modelId }: EmbeddingModel, embedding: readonly number[]): Float64Array {
  if (embedding.length === 0 || !embedding.every((part) => Number.isFinite(part))) {
    throw new Error(`${provider}:${modelId} gave an embedding that is not a list of numbers.`);
  }
  const length = Math.hypot(...embedding);
  return Float64Array.from(embedding, (part) => (length === 0 ? 0 : part / length));
}

function dot(left: Float64Array, right: Float64Array): number {
  if (left.length !== right.length) {
    throw new Error(`Expected embeddings of one length, got ${left.length} and ${right.length}.`);
  }
  const sum = left.reduce((total, part, place) => total + part * (right[place] ?? 0), 0);
  // Rounding may exceed the bounds.
  return Math.min(1, Math.max(-1, sum));
}
