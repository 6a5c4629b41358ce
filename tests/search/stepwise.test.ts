import { expect, test } from 'vitest';
import {
  type Environment,
  gumbel,
  mcts,
  type SearchAlgorithm,
  search,
  stepwise,
} from '../../src/index.ts';
import { heuristic } from '../../src/values/index.ts';

/** Two ways on at each depth, without an end. */
const endless: Environment<string, string> = {
  name: 'endless',
  reset: () => ({ state: '' }),
  step: (state, action) => ({ state: state + action }),
};

/** How many simulations there had been when each step was taken. */
async function stepsOf(algorithm: SearchAlgorithm): Promise<readonly number[]> {
  const taken: number[] = [];
  const { tree } = await search(endless, {
    policy: () => [
      { action: 'a', prior: 0.6 },
      { action: 'b', prior: 0.4 },
    ],
    evaluator: heuristic((state: string) => (state.endsWith('b') ? 0.7 : 0.3)),
    algorithm: stepwise(algorithm, { simulations: 12, maxSteps: 5 }),
    budget: { simulations: 1000 },
    stopWhen: ({ tree: { cursor, simulations } }) => {
      if (cursor.depth > taken.length) taken.push(simulations);
      return false;
    },
  });
  expect(tree.cursor.depth).toBe(5);
  return taken;
}

test.each([
  ['mcts', mcts()],
  ['gumbel, which goes on in rounds', gumbel()],
])(
  '%s gets twelve simulations a step, however many rounds it makes of them',
  async (_, algorithm) => {
    // Looked at after the first simulation of the next step.
    expect(await stepsOf(algorithm)).toEqual([13, 25, 37, 49]);
  },
);
