import { describe, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { type ArithmeticState, gameOf24, type Rational } from '../../src/environments/index.ts';
import { blocksworld } from '../../src/environments/puzzles/blocksworld.ts';
import { parseRational } from '../../src/environments/puzzles/rational.ts';
import { slidingTiles } from '../../src/environments/puzzles/sliding-tiles.ts';
import { fromModel, greedy, journaled, uniform } from '../../src/policies/index.ts';
import { banditTree, describePolicy, scriptedModel } from '../../src/testing/index.ts';

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
        exempt: {
          'at temperature 0 it takes the best action each time': [
            'gives other samples at other offsets',
          ],
        },
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
  'that of a bandit tree',
  { create: () => bandit.policy, environment: bandit.environment },
  runner,
);

const game = gameOf24.environment({ numbers: [4, 9, 10, 13] });

/** A model that lists the legal steps of whatever state it is shown, one a sample. */
function knowing() {
  return scriptedModel({
    answer: ({ messages }, index) => {
      const numbers = /^Numbers: (.*)$/m.exec(messages[0]?.content ?? '')?.[1] ?? '';
      const values = numbers
        .split(' ')
        .map((text) => ({ value: parseRational(text), expression: '' }));
      const steps = game.actions({
        numbers: values as ArithmeticState<Rational>['numbers'],
        target: 24,
      });
      const step = steps[index % steps.length];
      return step === undefined ? 'I do not know.' : game.notation.format(step);
    },
  });
}

describePolicy(
  'fromModel',
  { create: () => fromModel({ model: knowing() }), environment: game },
  runner,
);
