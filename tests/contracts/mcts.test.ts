import { describe, test } from 'vitest';
import {
  descend,
  flat,
  knownValue,
  maxBackup,
  mcts,
  progressiveWidening,
  puct,
  type SearchAlgorithm,
  stepwise,
  thompson,
  uct,
  virtualLoss,
  visitWeighted,
} from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

const runner = { describe, test };

function discounted(algorithm: SearchAlgorithm): SearchAlgorithm {
  return {
    ...algorithm,
    run(tree, context) {
      tree.discount = 0.9;
      return algorithm.run(tree, context);
    },
  };
}

describeAlgorithm('mcts()', { create: () => mcts() }, runner);

describeAlgorithm(
  'mcts with uct that visits ends again',
  {
    create: () => mcts({ selection: descend(uct(), { revisit: true }) }),
    visitCounts: 'uct',
    converges: true,
  },
  runner,
);

describeAlgorithm(
  'mcts with puct that visits ends again',
  {
    create: () => mcts({ selection: descend(puct(), { revisit: true }) }),
    visitCounts: 'puct',
    converges: true,
  },
  runner,
);

describeAlgorithm(
  'mcts with virtual loss',
  { create: () => mcts({ selection: descend(uct({ inFlight: virtualLoss() })) }) },
  runner,
);

describeAlgorithm(
  'mcts with thompson',
  { create: () => mcts({ selection: descend(thompson()) }) },
  runner,
);

describeAlgorithm(
  'mcts with progressive widening',
  { create: () => mcts({ width: 1, widening: progressiveWidening({ k: 2, alpha: 0.5 }) }) },
  runner,
);

describeAlgorithm('mcts with maxBackup', { create: () => mcts({ backup: maxBackup }) }, runner);

describeAlgorithm(
  'mcts with visitWeighted and a discount',
  { create: () => discounted(mcts({ backup: visitWeighted() })) },
  runner,
);

describeAlgorithm(
  'mcts that plays on inside the tree',
  {
    create: () =>
      mcts({
        rollout: true,
        evaluate: 'all',
        backup: visitWeighted({ unvisited: knownValue }),
      }),
  },
  runner,
);

describeAlgorithm(
  'mcts that evaluates leaves',
  { create: () => mcts({ evaluate: 'leaf' }) },
  runner,
);

describeAlgorithm(
  'mcts with a flat selection',
  {
    create: () =>
      mcts({ evaluate: 'all', selection: flat(({ visits, value }) => value / (1 + visits)) }),
  },
  runner,
);

describeAlgorithm(
  'mcts one committed action at a time',
  {
    create: () => stepwise(mcts({ horizon: 3 }), { simulations: 24 }),
    exempt: {
      'Two dozen simulations a step are too few for these problems.': [
        'finds the best end of a bandit tree',
        'plays tic-tac-toe: a row can be completed',
        'plays tic-tac-toe: a fork must be prepared',
      ],
    },
  },
  runner,
);
