import { describe, test } from 'vitest';
import { blocksworld } from '../../src/environments/puzzles/blocksworld.ts';
import { slidingTiles } from '../../src/environments/puzzles/sliding-tiles.ts';
import { greedy, journaled, uniform } from '../../src/policies/index.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { banditTree, describePolicy } from '../../src/testing/index.ts';

const runner = { describe, test };
const environment = blocksworld.environment(blocksworld.generate(seededRandom(3)));
const { actions } = environment;

describePolicy('uniform', { create: () => uniform(actions), environment }, runner);

for (const temperature of [0, 0.5]) {
  const tiles = slidingTiles.environment(slidingTiles.generate(seededRandom(4)));
  const score = (
    state: Parameters<typeof tiles.actions>[0],
    action: ReturnType<typeof tiles.actions>[number],
  ) => -slidingTiles.heuristic(tiles.step(state, action).state);
  describePolicy(
    `greedy at temperature ${temperature}`,
    {
      create: () => greedy({ actions: tiles.actions, score, temperature }),
      environment: tiles,
      ...(temperature === 0 && {
        exempt: [
          {
            reason: 'at temperature 0 it takes the best action each time',
            tests: ['gives other samples at other offsets'],
          },
        ],
      }),
    },
    runner,
  );
}

describePolicy(
  'journaled',
  {
    create: () => journaled(uniform(actions), { name: 'uniform', key: environment.key }),
    environment,
  },
  runner,
);

const bandit = banditTree();
describePolicy(
  'listPolicy',
  { create: () => bandit.policy, environment: bandit.environment },
  runner,
);
