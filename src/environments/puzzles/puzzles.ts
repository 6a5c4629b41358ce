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
 * Their values have the type `unknown`, and belong to one puzzle: pass the instance from `parse` to `environment`, and
 * the states of that environment to `render`.
 */
export const puzzles: Readonly<Record<PuzzleName, Puzzle<unknown, unknown, unknown>>> = {
  blocksworld,
  countdown,
  game24: gameOf24,
  tiles: slidingTiles,
};
