import { blocksworld } from './blocksworld.ts';
import { countdown } from './countdown.ts';
import { gameOf24 } from './game-of-24.ts';
import type { Puzzle } from './puzzle.ts';
import { slidingTiles } from './sliding-tiles.ts';

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
