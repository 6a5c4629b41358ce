import { describe, test } from 'vitest';
import { bestOfN } from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

describeAlgorithm('bestOfN', { create: () => bestOfN() }, { describe, test });

describeAlgorithm(
  'bestOfN by majority',
  {
    create: () => bestOfN({ choose: 'majority' }),
    findsBest: false,
    exempt: {
      'it goes by how often an answer is drawn, and not by its reward': [
        'is not held up by siblings that lead to the same state',
      ],
    },
  },
  { describe, test },
);
