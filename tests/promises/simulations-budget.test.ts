import { describe, expect, test } from 'vitest';
import { astar, mcts, stepwise } from '../../src/index.ts';
import { manualClock, scriptedModel, syntheticTree } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { searchOf } from '../support/search-of.ts';

const algorithms = {
  mcts: mcts(),
  'mcts of leaves': mcts({ evaluate: 'leaf' }),
  'mcts to the end of a path': mcts({ rollout: true, evaluate: 'all' }),
  'A*': astar(),
};

describe('a budget of simulations is spent in full, however many are under way', () => {
  for (const [name, algorithm] of Object.entries(algorithms)) {
    test.each([1, 4, 32])(`by ${name}, %i at once`, async (concurrency) => {
      for (const simulations of [1, 20, 50]) {
        const model = scriptedModel({ answer: hashedAnswer, latencyMs: 10 });
        const { spend, tree, stopReason, exceeded } = await searchOf({
          ...throughModel(syntheticTree({ depth: 30 }), { model }),
          algorithm,
          concurrency,
          clock: manualClock({ auto: true }),
          budget: { simulations },
        });
        expect({ stopReason, exceeded }).toEqual({ stopReason: 'budget', exceeded: 'simulations' });
        expect(spend.simulations).toBe(simulations);
        expect(tree.simulations).toBe(simulations);
      }
    });
  }

  test('by rounds of simulations that find nothing left', async () => {
    const { stopReason, tree } = await searchOf({
      ...syntheticTree({ branching: 2, depth: 3 }),
      algorithm: stepwise(mcts({ evaluate: 'leaf' }), { simulations: 10 }),
      concurrency: 32,
      budget: { simulations: 200 },
    });
    expect(stopReason).toBe('exhausted');
    expect(tree.cursor.terminal).toBe(true);
  });
});
