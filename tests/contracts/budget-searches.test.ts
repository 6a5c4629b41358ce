import { describe, test } from 'vitest';
import { budgeted, gumbel } from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

const runner = { describe, test };
const exempt = {
  'how simulations are shared out depends on how many there are': [
    'reaches with 50 + 50 simulations what it reaches with 100',
  ],
};

describeAlgorithm('gumbel()', { create: () => gumbel(), exempt }, runner);

describeAlgorithm(
  'gumbel() as in the reference code',
  { create: () => gumbel({ evaluate: 'leaf', noise: 1, leastRange: 1e-8 }), exempt },
  runner,
);

describeAlgorithm('budgeted()', { create: () => budgeted() }, runner);

describeAlgorithm('budgeted() by share', { create: () => budgeted({ by: 'share' }) }, runner);
