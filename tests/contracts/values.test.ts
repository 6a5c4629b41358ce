import { describe, test } from 'vitest';
import { gameOf24 } from '../../src/environments/puzzles/game-of-24.ts';
import { uniform } from '../../src/policies/index.ts';
import { banditTree, describeEvaluator, scriptedModel } from '../../src/testing/index.ts';
import { hashedAnswer, throughModel } from '../../src/testing/through-model.ts';
import { heuristic, judge, rollout, verifier } from '../../src/values/index.ts';

const runner = { describe, test };
const environment = gameOf24.environment(gameOf24.parse('4 9 10 13'));
const policy = uniform(environment.actions);
const problem = { environment, policy };

const unfit = environment.reset().state;
function expectFit(state: unknown): void {
  if (state === unfit) throw new Error('this state has no value');
}

describeEvaluator(
  'heuristic',
  {
    ...problem,
    create: () =>
      heuristic<typeof unfit>((state) => {
        expectFit(state);
        return gameOf24.estimate(state);
      }),
    unfit,
  },
  runner,
);

describeEvaluator(
  'verifier',
  {
    ...problem,
    create: () =>
      verifier<typeof unfit>({
        verify(state) {
          expectFit(state);
          return { correct: gameOf24.heuristic(state) === 0, rationale: 'counted' };
        },
      }),
    unfit,
  },
  runner,
);

for (const aggregate of ['mean', 'max'] as const) {
  describeEvaluator(
    `rollout with the ${aggregate}`,
    { ...problem, create: () => rollout({ policy: problem.policy, rollouts: 4, aggregate }) },
    runner,
  );
}

const bandit = banditTree();
describeEvaluator('that of a bandit tree', { ...bandit, create: () => bandit.evaluator }, runner);

const model = scriptedModel({ answer: hashedAnswer, latencyMs: 20 });
describeEvaluator(
  'an evaluator behind a model',
  { ...bandit, create: () => throughModel(bandit, { model }).evaluator },
  runner,
);

for (const about of ['state', 'action'] as const) {
  const model = scriptedModel({
    answer: ({ messages }) => {
      return ['sure', 'likely', 'impossible'][(messages[0]?.content.length ?? 0) % 3] ?? '';
    },
  });
  describeEvaluator(
    `judge of each ${about}`,
    { ...problem, create: () => judge({ model, about }) },
    runner,
  );
}
