/** Memory through the context of a search: journals, replays, budgets, orders. */
import { describe, expect, test } from 'vitest';
import { type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import type { CallContext } from '../../src/contracts/context.ts';
import type { Memory, ReflectionStore } from '../../src/contracts/memory.ts';
import { byEmbedding, inMemoryStore, memory } from '../../src/memory/index.ts';
import { mcts } from '../../src/search/algorithms/mcts.ts';
import { manualClock } from '../../src/testing/index.ts';
import { treeToJson } from '../../src/tree/serialize.ts';
import { type SearchOf, searchOf } from '../support/search-of.ts';
import { type LetterModel, letterModel } from './embedding-models.ts';
import { reflection, reflections } from './reflections.ts';

const task = 'spell';
const about = (situation: string, lesson = `of ${situation}`) =>
  reflection({ task, situation, lesson });

/** What recalls told, by situation, in order. */
type Told = (readonly [string, readonly string[]])[];

/** Spells words of three letters; each expansion recalls, and what it was told becomes part of the tree. */
function spelling(
  remembering: Memory,
  told: Told,
  after?: (context: CallContext, state: string) => Promise<void>,
) {
  const options: SearchOf<string, string> = {
    environment: {
      name: 'spelling',
      reset: () => ({ state: '' }),
      step: (state, letter) => ({
        state: state + letter.slice(0, 1),
        ...(state.length === 2 && { terminal: true, reward: 0.5 }),
      }),
    },
    policy: {
      async propose({ state = '' }, { context }) {
        const found = await remembering.recall({ kind: 'policy', task, situation: state }, context);
        const lessons = found.map((one) => one.reflection.lesson);
        told.push([state, lessons]);
        await after?.(context, state);
        return ['a', 'b', 'c'].map((letter) => ({ action: `${letter} ${lessons.join(' ')}` }));
      },
    },
    evaluator: { needs: 'realised', evaluate: (nodes) => nodes.map(() => ({ value: 0.5 })) },
    algorithm: mcts(),
    budget: { simulations: 12 },
    clock: manualClock({ auto: true }),
  };
  return options;
}

const filled = async (): Promise<ReflectionStore> => {
  const store = inMemoryStore();
  await store.add([about('a'), about('ab'), about('ccc')]);
  return store;
};

interface Run {
  readonly journal: Journal;
  readonly told: Told;
  readonly tree: string;
  readonly calls: number;
}

async function run(
  remembering: Memory,
  changes: Partial<SearchOf<string, string>> = {},
): Promise<Run> {
  const journal = changes.journal ?? memoryJournal();
  const told: Told = [];
  const result = await searchOf({ ...spelling(remembering, told), journal, ...changes });
  const tree = JSON.stringify(treeToJson(result.tree));
  return { journal, told, tree, calls: result.spend.calls };
}

const intents = ({ lines }: Journal, kind: string) =>
  [...lines].flatMap((line) => (line.type === 'intent' && line.kind === kind ? [line] : []));
const byLetters = (store: ReflectionStore, model: LetterModel = letterModel()) =>
  memory({ store, retriever: byEmbedding(model) });

describe('by words', () => {
  test('a recall costs no call, and is in the journal once a situation', async () => {
    const { journal, told, calls } = await run(
      memory({ store: await filled(), minSimilarity: 0.01 }),
    );
    expect(calls).toBe(0);
    expect(new Set(intents(journal, 'effect').map(({ name }) => name))).toEqual(
      new Set(['recall:bm25']),
    );
    expect(intents(journal, 'effect')).toHaveLength(new Set(told.map(([state]) => state)).size);
    expect(told.find(([state]) => state === 'a')?.[1][0]).toBe('of a');
  });

  test('a replay recalls what the run recalled, though the memory has grown since', async () => {
    const store = await filled();
    const first = await run(memory({ store }));
    await store.add([about('a', 'new'), about('', 'newest'), about('b', 'newer')]);
    const again = await run(memory({ store }), { journal: replayed(first.journal) });
    expect(again).toMatchObject({ told: first.told, tree: first.tree });
    const emptied = await run(memory({ store: inMemoryStore() }), {
      journal: replayed(first.journal),
    });
    expect(emptied.tree).toBe(first.tree);
    expect((await run(memory({ store }))).tree).not.toBe(first.tree);
  });
});

describe('by embedding', () => {
  test.each(['arrival', 'issued'] as const)(
    'in order %s, four at once, embeds each text once and comes to an end',
    async (order) => {
      const model = letterModel();
      const { journal, told, calls } = await run(byLetters(await filled(), model), {
        concurrency: 4,
        order,
      });
      const asked = model.asked.flat();
      expect(new Set(asked).size).toBe(asked.length);
      expect(calls).toBe(intents(journal, 'embed').length);
      expect(calls).toBe(model.asked.length);
      // (1, 1, 0) is as near to (1, 0, 0) as a letter of two can be.
      expect(told.find(([state]) => state === 'a')?.[1]).toEqual(['of a', 'of ab']);
    },
  );

  test.each(['arrival', 'issued'] as const)(
    'in order %s, a replay in another process makes the same calls, and no new one',
    async (order) => {
      const store = await filled();
      const model = letterModel();
      // What this process knows from an earlier search is not in the journal of this one.
      await run(byLetters(store, model), { budget: { simulations: 3 } });
      const first = await run(byLetters(store, model), { concurrency: 3, order });
      await store.add([about('a', 'new'), about('b', 'newer')]);
      const other = letterModel();
      const again = await run(byLetters(store, other), {
        ...{ journal: replayed(first.journal), concurrency: 3, order },
      });
      expect(again).toMatchObject({ told: first.told, tree: first.tree, calls: first.calls });
      expect(other.asked).toEqual([]);
    },
  );

  test('goes on with a journal that ends anywhere', async () => {
    const store = await filled();
    const { journal, tree } = await run(byLetters(store));
    const lines = [...journal.lines];
    for (let length = 2; length < lines.length; length += 3) {
      const cut = memoryJournal(lines.slice(0, length));
      const resumed = await run(byLetters(store), { journal: cut });
      expect(resumed.tree, `cut after ${length} lines`).toBe(tree);
    }
  });

  test('ends with the budget where it is spent on embeddings', async () => {
    const told: Told = [];
    const model = letterModel();
    const result = await searchOf({
      ...spelling(byLetters(await filled(), model), told),
      ...{ budget: { calls: 3, simulations: 50 }, concurrency: 3 },
    });
    expect(result.stopReason).toBe('budget');
    expect(result.spend.calls).toBe(3);
    expect(model.asked).toHaveLength(3);
  });

  test('fails the recall where it fails, and never asks by words instead', async () => {
    const store = inMemoryStore();
    await store.add([about('a!')]);
    const { tree, journal } = await run(byLetters(store));
    expect(tree).toContain('The model choked.');
    expect([...journal.lines].some((line) => JSON.stringify(line).includes('bm25'))).toBe(false);
  });
});

describe('what is remembered in a search', () => {
  test('is recalled in the same search, and a replay leaves the store alone', async () => {
    const learning = (store: ReflectionStore, journal: Journal) => {
      const remembering = memory({ store, minSimilarity: 0.01 });
      const told: Told = [];
      const recallAgain = async (context: CallContext, state: string) => {
        const learnt = about(state, `learnt at ${state}`);
        const fresh = await remembering.remember([learnt], context);
        const query = { kind: 'policy', task, situation: state } as const;
        const [best] = await remembering.recall(query, context);
        told.push([`after ${fresh.length}`, [best?.reflection.lesson ?? '']]);
      };
      const options = spelling(remembering, told, recallAgain);
      return searchOf({ ...options, journal, budget: { simulations: 4 } }).then(() => told);
    };
    const [store, journal] = [inMemoryStore(), memoryJournal()];
    const told = await learning(store, journal);
    expect(told.slice(0, 3)).toEqual([
      ['', []],
      ['after 1', ['learnt at ']],
      ['a', ['learnt at ']],
    ]);
    const count = (await store.all()).length;
    expect(count).toBeGreaterThan(2);

    const empty = inMemoryStore();
    expect(await learning(empty, replayed(journal))).toEqual(told);
    expect(await empty.all()).toEqual([]);
  });

  test('is not bought again, and costs no call', async () => {
    const store = inMemoryStore();
    const remembering = memory({ store });
    const options = spelling(remembering, [], async (context) => {
      await remembering.remember(reflections('x', 'y'), context);
    });
    const result = await searchOf({ ...options, budget: { simulations: 3, calls: 1 } });
    expect(result.spend.calls).toBe(0);
    expect(await store.all()).toHaveLength(2);
  });
});
