import { describe, test } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { blocksworld } from '../../src/environments/puzzles/blocksworld.ts';
import { countdown } from '../../src/environments/puzzles/countdown.ts';
import { gameOf24 } from '../../src/environments/puzzles/game-of-24.ts';
import type { Puzzle } from '../../src/environments/puzzles/puzzle.ts';
import { slidingTiles } from '../../src/environments/puzzles/sliding-tiles.ts';
import {
  banditTree,
  describeEnvironment,
  type Problem,
  plainContext,
  syntheticTree,
  tableMdp,
  ticTacToe,
} from '../../src/testing/index.ts';
import { noSpend, rootNode } from '../support/nodes.ts';

const runner = { describe, test };

describePuzzle(blocksworld);
describePuzzle(countdown);
describePuzzle(gameOf24);
describePuzzle(slidingTiles);

function describePuzzle<Instance, State, Action>(puzzle: Puzzle<Instance, State, Action>): void {
  for (const seed of [1, 2]) {
    const create = () => puzzle.environment(puzzle.generate(seededRandom(seed)));
    const { actions } = create();
    describeEnvironment(`${puzzle.name} of seed ${seed}`, { create, actions }, runner);
  }
}

const problems = {
  'bandit tree': banditTree(),
  'synthetic tree': syntheticTree({ depth: 5 }),
  'tic-tac-toe': ticTacToe(),
  table: tableMdp({ start: { left: { to: 'end' }, right: { to: 'start', reward: 0.1 } } }),
} as unknown as Readonly<Record<string, Problem<unknown, unknown>>>;
for (const [name, { environment, policy }] of Object.entries(problems)) {
  const actions = (state: unknown) => {
    const request = { environment, context: plainContext(), count: Infinity, offset: 0 };
    const proposals = policy.propose(rootNode(state), { ...request, remaining: noSpend });
    return (proposals as readonly { action: unknown }[]).map(({ action }) => action);
  };
  describeEnvironment(name, { create: () => environment, actions }, runner);
}
