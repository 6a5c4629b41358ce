import { describe, test } from 'vitest';
import { astar } from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

const runner = { describe, test };

describeAlgorithm(
  'astar on 1 − v(s)',
  { create: () => astar(), findsBest: false, costSearch: (rules) => astar(rules) },
  runner,
);
