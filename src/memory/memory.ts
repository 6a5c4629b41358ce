import { EspalierError } from '../base/errors.ts';
import {
  expectation,
  expectInteger,
  expectMethods,
  expectNumber,
  wrongValue,
} from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { contextFrom } from '../calls/door.ts';
import type { CallContext } from '../contracts/context.ts';
import type { JsonValue } from '../contracts/json.ts';
import type {
  Memory,
  MemoryQuery,
  Recollection,
  Reflection,
  ReflectionStore,
  Retriever,
} from '../contracts/memory.ts';
import { bm25 } from './bm25.ts';
import { isPrepared } from './prepared-retriever.ts';

/** Options of {@link memory}. */
export interface MemoryOptions {
  /** The store of reflections. */
  readonly store: ReflectionStore;
  /** Ranks reflections. If it fails, the recall fails; there is no fallback. @defaultValue `bm25()` */
  readonly retriever?: Retriever;
  /** k: the maximum number recalled, by kind; integers from 0 up. @defaultValue 2 for policies, 1 for judges */
  readonly k?: Partial<Readonly<Record<Reflection['kind'], number>>>;
  /** The least similarity, on the scale of the retriever, in [−1, 1]. @defaultValue 0.25 */
  readonly minSimilarity?: number;
  /** A name that distinguishes several memories of one search. @defaultValue `'memory'` */
  readonly name?: string;
}

/**
 * Reflections across problems and processes. A query recalls those with the most similar task and situation.
 *
 * A recall is a free effect, `recall:<retriever>`: it costs no call and is journaled, so a replay recalls the same
 * reflections, whatever the store contains by then. Embeddings are separate calls, made before. Within one search,
 * equal queries share one recall until something new is remembered. `remember` is a free effect too: a replay does not
 * change the store. Ties in similarity go to the newest.
 *
 * The defaults of k and of the least similarity are those of R-MCTS's code, which measures the cosine of embeddings;
 * using the same number on the scale of {@link bm25} is our choice.
 *
 * @throws EspalierError `usage` for options out of range.
 * @see Yu et al., "ExACT: Teaching AI Agents to Explore with Reflective-MCTS and Exploratory Learning", 2024,
 * contrastive self-reflection, and its code.
 */
export function memory(options: MemoryOptions): Memory {
  expectOptions('memory', options, 'store retriever k minSimilarity name');
  const { store, retriever = bm25(), k = {}, minSimilarity = 0.25, name = 'memory' } = options;
  expectMethods('store', store, ['all', 'add']);
  expectMethods('retriever', retriever, ['similarities']);
  if (typeof retriever.name !== 'string')
    throw expectation('retriever.name', 'a text', retriever.name);
  expectOptions('k', k, 'policy value');
  const { policy = 2, value = 1 } = k;
  expectInteger('k.policy', policy, { min: 0 });
  expectInteger('k.value', value, { min: 0 });
  expectNumber('minSimilarity', minSimilarity, { min: -1, max: 1 });
  const rules = { store, retriever, k: { policy, value }, minSimilarity, name };
  const searches = new WeakMap<AbortSignal, LearntInSearch>();
  const learntIn = ({ signal }: CallContext): LearntInSearch => {
    const learnt = searches.get(signal) ?? { ids: new Set(), count: 0 };
    searches.set(signal, learnt);
    return learnt;
  };
  return {
    recall: (query, context) => recall(rules, { query, learnt: learntIn(context).count }, context),
    remember: (reflections, context) =>
      remember(rules, { reflections, learnt: learntIn(context) }, context),
  };
}

interface Rules {
  readonly store: ReflectionStore;
  readonly retriever: Retriever;
  readonly k: Required<NonNullable<MemoryOptions['k']>>;
  readonly minSimilarity: number;
  readonly name: string;
}

/** The number of reflections stored during one search. All calls of a search share their signal. */
interface LearntInSearch {
  readonly ids: Set<string>;
  /** The number that were new. */
  count: number;
}

/** The result of a look into the store: the matches, or the texts that must be prepared first. */
type Look = { readonly found: readonly Recollection[] } | { readonly missing: readonly string[] };

/** Usually one preparation is enough; more are needed if a process died in between, or the store grows meanwhile. */
const mostLooks = 16;

async function recall(
  rules: Rules,
  { query, learnt }: { readonly query: MemoryQuery; readonly learnt: number },
  context: CallContext,
): Promise<readonly Recollection[]> {
  const { retriever, name, minSimilarity } = rules;
  const { kind, task, situation } = query;
  const k = rules.k[kind];
  if (k === 0) return [];
  const effect = { name: `recall:${retriever.name}`, repeatable: true, free: true, pure: true };
  const asked = { memory: name, kind, task, situation, k, minSimilarity, learnt };
  for (let look = 0; look < mostLooks; look++) {
    // No calls are made inside the effect, because the effect would wait for them and they for the effect.
    const seen = await context.effect<Look>(effect, { ...asked, look }, () =>
      lookUp(rules, query, context),
    );
    if ('found' in seen) return seen.found;
    if (isPrepared(retriever)) await retriever.prepare(seen.missing, context);
  }
  throw new EspalierError(
    'usage',
    `Expected the retriever ${retriever.name} to know all texts once they are prepared, but it does not.`,
  );
}

async function lookUp(rules: Rules, query: MemoryQuery, context: CallContext): Promise<Look> {
  const { store, retriever, k, minSimilarity } = rules;
  const stored = (await store.all()).filter(({ kind }) => kind === query.kind);
  if (stored.length === 0) return { found: [] };
  const texts = stored.map(textOf);
  const asked = textOf(query);
  const missing = isPrepared(retriever) ? retriever.missing(asked, texts) : undefined;
  if (missing !== undefined) return { missing };
  const similarities = await retriever.similarities(asked, texts, closed(context, retriever));
  expectSimilarities(retriever, similarities, texts.length);
  const found = stored
    .map((reflection, place) => ({ reflection, similarity: similarities[place] ?? 0 }))
    .filter(({ similarity }) => similarity >= minSimilarity)
    .reverse()
    .toSorted((left, right) => right.similarity - left.similarity)
    .slice(0, k[query.kind]);
  return { found };
}

/** The text that is compared. */
function textOf({ task, situation }: Pick<MemoryQuery, 'situation' | 'task'>): string {
  return `${task}\n\n${situation}`;
}

function expectSimilarities({ name }: Retriever, similarities: unknown, count: number): void {
  const isSound =
    Array.isArray(similarities) &&
    similarities.length === count &&
    similarities.every((one) => Number.isFinite(one));
  if (isSound) return;
  throw wrongValue(`similarities of ${name}`, `${count} numbers`, similarities);
}

/** A context for use inside an effect. A call made here would wait for the effect, and the effect for the call. */
function closed({ signal, random, clock }: CallContext, { name }: Retriever): CallContext {
  const refuse = () =>
    Promise.reject(
      new EspalierError(
        'usage',
        `Expected the retriever ${name} to make its calls in \`prepare\`: \`similarities\` runs inside an effect, where none can be made.`,
      ),
    );
  return contextFrom({ signal, random, clock, call: refuse });
}

async function remember(
  { store, name }: Rules,
  {
    reflections,
    learnt,
  }: { readonly reflections: readonly Reflection[]; readonly learnt: LearntInSearch },
  context: CallContext,
): Promise<readonly Reflection[]> {
  const fresh = new Map(
    reflections.filter(({ id }) => !learnt.ids.has(id)).map((one) => [one.id, one]),
  );
  if (fresh.size === 0) return [];
  for (const id of fresh.keys()) learnt.ids.add(id);
  const offered = [...fresh.values()];
  try {
    const effect = { name: 'remember', repeatable: true, free: true, pure: true };
    const input = { memory: name, reflections: offered } as unknown as JsonValue;
    const ids = await context.effect(effect, input, () => keep(store, offered));
    learnt.count += ids.length;
    return offered.filter(({ id }) => ids.includes(id));
  } catch (error) {
    for (const id of fresh.keys()) learnt.ids.delete(id);
    throw error;
  }
}

/** Adds new reflections, and returns them. */
async function keep(
  store: ReflectionStore,
  offered: readonly Reflection[],
): Promise<readonly string[]> {
  const known = new Set((await store.all()).map(({ id }) => id));
  const fresh = offered.filter(({ id }) => !known.has(id));
  if (fresh.length > 0) await store.add(fresh);
  return fresh.map(({ id }) => id);
}
