import { describe, test } from 'vitest';
import {
  descend,
  maxBackup,
  mcts,
  progressiveWidening,
  puct,
  thompson,
  uct,
  virtualLoss,
  visitWeightedBackup,
} from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

const runner = { describe, test };

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
  'mcts with visitWeightedBackup and a discount',
  { create: () => mcts({ backup: visitWeightedBackup, discount: 0.9 }) },
  runner,
);
