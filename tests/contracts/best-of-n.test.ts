import { describe, test } from 'vitest';
import { bestOfN } from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

describeAlgorithm('bestOfN', { create: () => bestOfN() }, { describe, test });
