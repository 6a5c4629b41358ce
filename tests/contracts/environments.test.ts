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
  syntheticTree,
  tableMdp,
  ticTacToe,
} from '../../src/testing/index.ts';

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
for (const [name, { environment, actions }] of Object.entries(problems)) {
  describeEnvironment(name, { create: () => environment, actions }, runner);
}
