import { describe, test } from 'vitest';
import { abMcts, beam, betaBelief, depthFirst, lats } from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

const runner = { describe, test };

describeAlgorithm('beam()', { create: () => beam({ width: 200 }) }, runner);
describeAlgorithm('lats()', { create: () => lats() }, runner);
describeAlgorithm('abMcts()', { create: () => abMcts() }, runner);
describeAlgorithm(
  'abMcts() with a beta belief',
  { create: () => abMcts({ belief: betaBelief() }) },
  runner,
);
describeAlgorithm(
  'depthFirst()',
  { create: () => depthFirst({ width: 64, climb: 1, answers: Infinity }) },
  runner,
);
