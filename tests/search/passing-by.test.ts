import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Journal, memoryJournal, replayed } from '../../src/calls/journal.ts';
import {
  gumbel,
  lats,
  mcts,
  type SearchAlgorithm,
  search,
  seededRandom,
  stepwise,
} from '../../src/index.ts';
import { Crowd } from '../../src/search/crowd.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { treeToJson } from '../../src/tree/serialize.ts';

const algorithms: Readonly<Record<string, SearchAlgorithm>> = {
  'mcts()': mcts(),
  "mcts({ evaluate: 'all' })": mcts({ evaluate: 'all' }),
  'mcts({ rollout: true })': mcts({ rollout: true, maxDepth: 8 }),
  'gumbel()': gumbel(),
  'lats()': lats({ maxDepth: 8 }),
  'stepwise(mcts())': stepwise(mcts(), { simulations: 8 }),
};

/** A search whose calls take 5 to 95 ms, every tenth twenty times that, so that some are passed by. */
async function run(
  journal: Journal,
  { algorithm, slots, seed }: { algorithm: SearchAlgorithm; slots: number; seed: number },
) {
  const latency = seededRandom(`latency ${seed}`);
  const latencyMs = () => (5 + latency.integer(90)) * (latency.integer(10) === 0 ? 20 : 1);
  const model = scriptedModel({ answer: hashedAnswer, latencyMs });
  const { environment, ...guides } = throughModel(syntheticTree({ branching: 3 }), {
    model,
    asks: 'policy',
  });
  const passes = vi.spyOn(Crowd.prototype, 'passes');
  const { tree, coverage, spend } = await search(environment, {
    ...{ ...guides, algorithm, journal, seed, concurrency: slots },
    ...{ budget: { simulations: 80 }, clock: manualClock({ auto: true }) },
  });
  const passedBy = passes.mock.results.filter(({ value }) => value === true).length;
  passes.mockRestore();
  return { tree: treeToJson(tree), coverage, calls: spend.calls, passedBy };
}

afterEach(() => void vi.restoreAllMocks());

describe.each(Object.entries(algorithms))('%s passes slow expansions by', (_, algorithm) => {
  test.each([4, 16])('as its journal tells, with %i slots', async (slots) => {
    let passedBy = 0;
    for (let seed = 0; seed < 4; seed++) {
      const journal = memoryJournal();
      const live = await run(journal, { algorithm, slots, seed });
      // Its calls take no time now.
      const again = await run(replayed(journal), { algorithm, slots, seed });

      expect(again.coverage).toMatchObject({ unrecorded: 0, differsAt: undefined });
      expect(again.tree).toEqual(live.tree);
      expect(again.passedBy).toBe(live.passedBy);
      passedBy += live.passedBy;
    }
    expect(passedBy).toBeGreaterThan(0);
  });
});
