/**
 * Environments: reasoning in text, tools, and puzzles that a program can make, check and solve exactly.
 *
 * @module espalier/environments
 */

export type { StandardSchema } from '../base/standard-schema.ts';
export type { ArithmeticState, ArithmeticStep } from './puzzles/arithmetic.ts';
export type { ArithmeticInstance } from './puzzles/arithmetic-instance.ts';
export { blocksworld } from './puzzles/blocksworld.ts';
export type { BlocksworldAction } from './puzzles/blocksworld-move.ts';
export type { BlocksworldState } from './puzzles/blocksworld-state.ts';
export { countdown } from './puzzles/countdown.ts';
export { gameOf24 } from './puzzles/game-of-24.ts';
export { solvablePuzzles } from './puzzles/game-of-24-solutions.ts';
export type { Puzzle, PuzzleEnvironment } from './puzzles/puzzle.ts';
export { type PuzzleName, puzzles } from './puzzles/puzzles.ts';
export type { Rational } from './puzzles/rational.ts';
export { slidingTiles, type TilesInstance } from './puzzles/sliding-tiles.ts';
export type { TilesState } from './puzzles/sliding-tiles-board.ts';
export type { TilesAction } from './puzzles/sliding-tiles-move.ts';
export { answerOracle } from './text/answer-oracle.ts';
export { extractAnswer } from './text/extract-answer.ts';
export { isSameAnswer } from './text/is-same-answer.ts';
export {
  notationFor,
  type ReasoningEnvironment,
  type ReasoningOptions,
  reasoning,
} from './text/reasoning.ts';
export type { ReasoningState } from './text/reasoning-state.ts';
export type {
  CallOfTool,
  CommitCall,
  CommitOptions,
  CommitPlan,
  Committed,
  MadeCall,
} from './tools/plan.ts';
export type { ToolAction, ToolState } from './tools/state.ts';
export type { Effect, ListedTools, Tool, ToolSpec } from './tools/tool.ts';
export {
  type ActionOf,
  type StateOf,
  type ToolEnvironment,
  type ToolOptions,
  toolEnvironment,
} from './tools/tool-environment.ts';
export { type FileSystemOptions, fileSystem } from './worlds/file-system.ts';
export type { Folder } from './worlds/folder.ts';
export { fromWorld, type WorldOptions } from './worlds/from-world.ts';
export { type GitWorktreeOptions, gitWorktree } from './worlds/git-worktree.ts';
export type { Live, Recovery } from './worlds/live.ts';
export { type RemoteOptions, remoteEnvironment } from './worlds/remote.ts';
export type { Ran, RunOptions } from './worlds/run-program.ts';
export type { Sight, WorldState } from './worlds/world-state.ts';
