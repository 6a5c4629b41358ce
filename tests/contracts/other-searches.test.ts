import { describe, test } from 'vitest';
import { abMcts, algorithms, beam, bestFirst, betaBelief, depthFirst } from '../../src/index.ts';
import { describeAlgorithm } from '../../src/testing/index.ts';

const runner = { describe, test };

describeAlgorithm('beam()', { create: () => beam({ width: 200 }) }, runner);
describeAlgorithm(
  'beam() that samples, and evaluates by the level',
  { create: () => beam({ width: 200, select: 'sample', batch: 'level' }) },
  runner,
);
describeAlgorithm('bestFirst() by depth', { create: () => bestFirst({ order: 'depth' }) }, runner);

/** Those that are tried elsewhere with all that they claim, or below with options that the suite needs. */
const tried = ['astar', 'best-of-n', 'mcts', 'beam', 'depth-first', 'gumbel'];
/** They draw a path or two, or vote, as `bestOfN` does with its options. */
const baselines = ['adaptive-consistency', 'chain-of-thought', 'esc', 'greedy', 'self-consistency'];
for (const { name, create } of algorithms) {
  if (tried.includes(name) || baselines.includes(name)) continue;
  describeAlgorithm(
    `${name}, as it is listed`,
    { create: () => create({ asksModel: false }) },
    runner,
  );
}

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
