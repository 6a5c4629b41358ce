/** A real sentence-embedding model in this process, through memory and search. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { type Journal, memoryJournal, replayed } from '../../../src/calls/journal.ts';
import type { Reflection } from '../../../src/contracts/memory.ts';
import type { Environment } from '../../../src/index.ts';
import {
  bm25,
  byEmbedding,
  inMemoryStore,
  memory,
  sentenceEmbeddings,
} from '../../../src/memory/index.ts';
import { makeReflection } from '../../../src/memory/reflection.ts';
import { search } from '../../../src/search/search.ts';
import { plainContext } from '../../../src/testing/index.ts';
import { treeToJson } from '../../../src/tree/serialize.ts';

const model = sentenceEmbeddings();
const context = plainContext({ clock: systemClock });

const cosine = (left: readonly number[] = [], right: readonly number[] = []) => {
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, one, place) => sum + one * (b[place] ?? 0), 0);
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
};

describe('all-MiniLM-L6-v2', () => {
  test('gives 384 numbers a text, of length 1, the same each time and in any company', async () => {
    const texts = ['A cat sits on the mat.', 'Interest rates rise.', '', 'word '.repeat(2000)];
    const together = await context.embed(model, texts);
    const [alone] = await context.embed(model, texts.slice(0, 1));
    expect(together).toHaveLength(4);
    for (const embedding of together) {
      expect(embedding).toHaveLength(384);
      expect(Math.hypot(...embedding)).toBeCloseTo(1, 3);
    }
    expect(cosine(alone, together[0])).toBeGreaterThan(0.9999);
    expect(await context.embed(model, texts)).toEqual(together);
  });

  test('puts sentences of like meaning together, where no word is the same', async () => {
    const [asked, alike, other] = await context.embed(model, [
      'How do I fix a flat tyre on my bicycle?',
      'Repairing a punctured bike wheel',
      'The central bank lowered its forecast',
    ]);
    const near = cosine(asked, alike);
    const far = cosine(asked, other);
    process.stdout.write(`cosine: ${near.toFixed(3)} alike, ${far.toFixed(3)} unlike\n`);
    expect(near).toBeGreaterThan(0.4);
    expect(far).toBeLessThan(0.25);
  });

  test('reads many texts in a time that is told', async () => {
    const texts = Array.from(
      { length: 40 },
      (_, number) => `Lesson ${number}: look before you leap.`,
    );
    const start = performance.now();
    expect(await context.embed(model, texts)).toHaveLength(40);
    process.stdout.write(`${((performance.now() - start) / 40).toFixed(1)} ms a text\n`);
  });
});

const lesson = (situation: string, text: string): Reflection =>
  makeReflection({
    ...{
      kind: 'policy',
      task: 'shop',
      situation,
      action: 'click',
      outcome: 'nothing',
      lesson: text,
    },
    source: { environment: 'shop', node: 1, expected: 1, realised: 0, model: 'test:writer' },
  });
const known = [
  lesson('The basket shows an item out of stock.', 'Filter by availability first.'),
  lesson('A form asks for a postal code.', 'Read the format beside the field.'),
  lesson('The login page refuses the password.', 'Reset it instead of guessing.'),
];
const situation = 'The article in the cart is sold out.';

describe('a memory', () => {
  test('finds by meaning what is not found by words', async () => {
    const store = inMemoryStore();
    await store.add(known);
    const query = { kind: 'policy', task: 'shop', situation } as const;
    const byMeaning = memory({ store, retriever: byEmbedding(model) });
    const [best] = await byMeaning.recall(query, context);
    expect(best?.reflection).toEqual(known[0]);
    // Too few words in common for the least similarity; and nothing else is asked in its place.
    expect(await memory({ store }).recall(query, context)).toEqual([]);
    const words = await bm25().similarities(
      `shop\n\n${situation}`,
      known.map((one) => `shop\n\n${one.situation}`),
      context,
    );
    const meanings = await byEmbedding(model).similarities(
      `shop\n\n${situation}`,
      known.map((one) => `shop\n\n${one.situation}`),
      context,
    );
    process.stdout.write(
      `by words ${words.join(' ')}; by meaning ${meanings.map((one) => one.toFixed(3)).join(' ')}\n`,
    );
    expect(best?.similarity).toBe(Math.max(...meanings));
  });

  test('in a search: paid, journaled, and replayed without the model', async () => {
    const run = async (journal: Journal = memoryJournal(), embeddings = sentenceEmbeddings()) => {
      const store = inMemoryStore();
      await store.add(known);
      const remembering = memory({ store, retriever: byEmbedding(embeddings) });
      const shop: Environment<string, string> = {
        name: 'shop',
        reset: () => ({ state: situation }),
        step: (state, action) => ({ state: `${state} ${action}`, terminal: true, reward: 1 }),
      };
      return search(shop, {
        policy: {
          async propose({ state = '' }, { context: door }) {
            const query = { kind: 'policy', task: 'shop', situation: state } as const;
            const found = await remembering.recall(query, door);
            return found.map(({ reflection }) => ({ action: reflection.lesson }));
          },
        },
        evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0 })) },
        budget: { simulations: 3 },
        journal,
      });
    };
    const journal = memoryJournal();
    const first = await run(journal);
    expect(first.spend.calls).toBe(1);
    expect(first.tree.root.children[0]?.action).toBe('Filter by availability first.');
    const absent = sentenceEmbeddings({ load: () => Promise.reject(new Error('not here')) });
    const again = await run(replayed(journal), absent);
    expect(treeToJson(again.tree)).toEqual(treeToJson(first.tree));
  });
});
