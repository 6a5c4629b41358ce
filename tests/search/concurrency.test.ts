import { describe, expect, test } from 'vitest';
import {
  astar,
  bestOfN,
  descend,
  mcts,
  puct,
  type SearchAlgorithm,
  uct,
  unobserved,
  virtualLoss,
} from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf } from '../support/search-of.ts';

const simulations = 400;
const latencyMs = 50;
const concurrency = 16;
const ideal = (simulations * latencyMs) / concurrency;

/** How long a search takes in which nothing takes time but the calls of the policy. */
async function timeOf(algorithm: SearchAlgorithm, workers: number): Promise<number> {
  const clock = manualClock({ auto: true });
  const model = scriptedModel({ answer: hashedAnswer, latencyMs });
  const problem = throughModel(syntheticTree(), { model, asks: 'policy' });
  const { spend } = await searchOf({
    ...problem,
    algorithm,
    budget: { simulations },
    concurrency: workers,
    clock,
  });
  expect(spend.simulations).toBe(simulations);
  expect(model.mostInFlight).toBeLessThanOrEqual(workers);
  return spend.ms;
}

describe('400 simulations over a policy of 50 ms', () => {
  const algorithms: Readonly<Record<string, SearchAlgorithm>> = {
    'mcts()': mcts(),
    'mcts with uct': mcts({ selection: descend(uct()) }),
    'mcts with uct and unobserved samples': mcts({
      selection: descend(uct({ inFlight: unobserved })),
    }),
    'mcts with puct and virtual loss': mcts({
      selection: descend(puct({ inFlight: virtualLoss() })),
    }),
  };
  for (const [name, algorithm] of Object.entries(algorithms)) {
    test(`take ${name} at most 1.15 × ${ideal} ms with 16 in flight`, async () => {
      const ms = await timeOf(algorithm, concurrency);
      expect(ms).toBeLessThanOrEqual(1.15 * ideal);
      // Fewer calls than simulations: those that arrive together share an expansion.
      expect(ms).toBeGreaterThan(0.5 * ideal);
    });
  }

  test('take 20 s one by one, but for those that end at a leaf already known', async () => {
    expect(await timeOf(mcts(), 1)).toBe(simulations * latencyMs);
  });

  test('are spread by A* as well', async () => {
    expect(await timeOf(astar({ heuristic: () => 1 }), concurrency)).toBeLessThanOrEqual(
      1.15 * ideal,
    );
  });
});

test('bestOfN keeps as many trajectories under way as it may', async () => {
  const clock = manualClock({ auto: true });
  const model = scriptedModel({ answer: hashedAnswer, latencyMs });
  const { spend } = await searchOf({
    ...throughModel(syntheticTree({ depth: 10 }), { model, asks: 'policy' }),
    algorithm: bestOfN(),
    budget: { simulations: 32 },
    concurrency,
    clock,
  });
  expect(model.mostInFlight).toBe(concurrency);
  expect(spend.ms).toBeLessThanOrEqual(2 * 10 * latencyMs);
});

test('virtual loss and unobserved samples both come off again', async () => {
  for (const inFlight of [unobserved, virtualLoss()]) {
    const model = scriptedModel({ answer: hashedAnswer, latencyMs });
    const { tree } = await searchOf({
      ...throughModel(syntheticTree(), { model }),
      algorithm: mcts({ selection: descend(puct({ inFlight })) }),
      budget: { calls: 50 },
      concurrency,
      clock: manualClock({ auto: true }),
    });
    for (const node of tree.nodes()) expect(node.inFlight).toBe(0);
  }
});

test('a result lets no more simulations look again than find something to do, and the first that does not', async () => {
  for (const [slots, most] of [
    [16, 60],
    [64, 150],
  ] as const) {
    const model = scriptedModel({ answer: hashedAnswer, latencyMs });
    const { tree } = await searchOf({
      ...throughModel(syntheticTree(), { model }),
      algorithm: mcts({ evaluate: 'all', width: 2 }),
      budget: { simulations: 60 },
      concurrency: slots,
      clock: manualClock({ auto: true }),
    });

    expect(tree.simulations).toBe(60);
    expect(tree.handedBack).toBeLessThanOrEqual(most);
  }
});
