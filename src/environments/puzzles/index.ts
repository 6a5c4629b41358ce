import { blocksworld } from './blocksworld.ts';
import { countdown } from './countdown.ts';
import { gameOf24 } from './game-of-24.ts';
import type { Puzzle } from './puzzle.ts';
import { slidingTiles } from './sliding-tiles.ts';

export type { ArithmeticState, ArithmeticStep, Operand, Operator } from './arithmetic.ts';
export type { ArithmeticInstance } from './arithmetic-instance.ts';
export { type BlocksworldOptions, blocksworld } from './blocksworld.ts';
export type { BlocksworldAction } from './blocksworld-move.ts';
export type { BlocksworldInstance } from './blocksworld-problem.ts';
export {
  type BlocksworldGoal,
  type BlocksworldState,
  HAND,
  type Place,
  TABLE,
} from './blocksworld-state.ts';
export {
  type CountdownAction,
  type CountdownInstance,
  type CountdownOptions,
  type CountdownState,
  countdown,
} from './countdown.ts';
export {
  type GameOf24Action,
  type GameOf24Instance,
  type GameOf24Options,
  type GameOf24State,
  gameOf24,
} from './game-of-24.ts';
export { type SolvablePuzzle, solutions, solvablePuzzles } from './game-of-24-solutions.ts';
export type { Puzzle, PuzzleEnvironment } from './puzzle.ts';
export { formatRational, parseRational, type Rational, rational } from './rational.ts';
export { slidingTiles, type TilesInstance, type TilesOptions } from './sliding-tiles.ts';
export type { TilesState } from './sliding-tiles-board.ts';
export { linearConflict, manhattanDistance } from './sliding-tiles-heuristic.ts';
export type { TilesAction } from './sliding-tiles-move.ts';

/** The name of a puzzle in commands and files. */
export type PuzzleName = 'blocksworld' | 'countdown' | 'game24' | 'tiles';

/**
 * All puzzles by name, for callers that work with any of them.
 *
 * What one of them returns is `unknown` to such a caller, and is meant for the same puzzle only: hand the
 * instance from `parse` to `environment`, and the states of that environment to `render`.
 */
export const puzzles: Readonly<Record<PuzzleName, Puzzle<unknown, unknown, unknown>>> = {
  blocksworld,
  countdown,
  game24: gameOf24,
  tiles: slidingTiles,
};
