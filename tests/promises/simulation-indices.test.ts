import { describe, expect, test } from 'vitest';
import { memoryJournal, replayed } from '../../src/calls/index.ts';
import {
  mcts,
  type Random,
  type SearchAlgorithm,
  treeFromJson,
  treeToJson,
} from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf, streamSearchOf } from '../support/search-of.ts';

/** Hands back every other simulation while one is under way; each draws one number. */
function handingBack(drawn: number[]): SearchAlgorithm {
  return {
    name: 'handing back',
    concurrency: 'any',
    laws: [],
    async run(tree, context) {
      let running = 0;
      let turn = 0;
      await context.simulate(async ({ random }: { readonly random: Random }) => {
        drawn.push(random.next());
        if (running > 0 && turn++ % 2 === 0) return 'waiting';
        running++;
        const [child] = await context.expand(tree.root, { count: 1, independent: true });
        if (child !== undefined) await context.evaluate([child]);
        running--;
        return 'continue';
      });
    },
  };
}

const problem = () => ({
  ...throughModel(syntheticTree({ depth: 4 }), {
    model: scriptedModel({ answer: hashedAnswer, latencyMs: (_, call) => 1 + (call % 5) }),
  }),
  concurrency: 8,
  clock: manualClock({ auto: true }),
  budget: { simulations: 40 },
});

describe('simulations of which some were handed back', () => {
  test('have an index and random numbers of their own', async () => {
    const drawn: number[] = [];
    const started: number[] = [];
    for await (const event of streamSearchOf({ ...problem(), algorithm: handingBack(drawn) })) {
      if (event.type === 'simulation-start') started.push(event.simulation);
    }
    expect(started.length).toBeGreaterThan(40);
    expect(new Set(started).size).toBe(started.length);
    expect(new Set(drawn).size).toBe(drawn.length);
  });

  test('leave fresh ones to a tree that is continued, saved or not', async () => {
    for (const isSaved of [false, true]) {
      const drawn: number[] = [];
      const algorithm = handingBack(drawn);
      const { tree } = await searchOf({ ...problem(), algorithm });
      expect(tree.simulations).toBe(40);
      const text = JSON.stringify(treeToJson(tree));
      const continued = isSaved ? treeFromJson<never, never>(text) : tree.fork();
      expect(JSON.stringify(treeToJson(continued))).toBe(text);
      await searchOf({ ...problem(), algorithm, tree: continued });
      expect(drawn.length).toBeGreaterThan(80);
      expect(new Set(drawn).size).toBe(drawn.length);
    }
  });

  test('are repeated by a replay', async () => {
    const journal = memoryJournal();
    const algorithm = mcts({ evaluate: 'leaf' });
    const live = await searchOf({ ...problem(), algorithm, journal });
    const again = await searchOf({ ...problem(), algorithm, journal: replayed(journal) });
    expect(live.tree.handedBack).toBeGreaterThan(0);
    expect(treeToJson(again.tree)).toEqual(treeToJson(live.tree));
  });
});
