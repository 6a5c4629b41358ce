import { type Puzzle, type PuzzleName, puzzles } from '../environments/index.ts';
import type { ArithmeticState } from '../environments/puzzles/arithmetic.ts';

/** A puzzle that the command line can search. */
export interface Task {
  readonly puzzle: Puzzle<unknown, unknown, unknown>;
  /** Whether a plan is easier to follow with its intermediate states. */
  readonly showsStates: boolean;
  /** Whether the packaged model was trained on this puzzle. */
  readonly isTaught: boolean;
  /** The solution as text, from the last state and the actions that led to it. */
  answer(state: unknown, path: readonly string[]): string;
}

/** The tasks by name. */
export const tasks: Readonly<Record<PuzzleName, Task>> = {
  blocksworld: {
    puzzle: puzzles.blocksworld,
    showsStates: true,
    isTaught: true,
    answer: (_state, path) => path.join('\n'),
  },
  countdown: {
    puzzle: puzzles.countdown,
    showsStates: false,
    isTaught: true,
    answer: expressionOf,
  },
  game24: { puzzle: puzzles.game24, showsStates: false, isTaught: true, answer: expressionOf },
  tiles: {
    puzzle: puzzles.tiles,
    showsStates: true,
    isTaught: false,
    answer: (state) => puzzles.tiles.render(state),
  },
};

/** The names of the tasks, sorted. */
export const taskNames = Object.keys(tasks).toSorted() as readonly PuzzleName[];

/** The expression that makes the target: that of the one number equal to it. */
function expressionOf(state: unknown): string {
  const { numbers, target } = state as ArithmeticState<unknown>;
  const made = numbers.find(({ value }) => equals(value, target));
  return made?.expression.replace(/^\((.*)\)$/, '$1') ?? '';
}

/** Whether a number of Countdown, or an exact fraction of the Game of 24, equals the target. */
function equals(value: unknown, target: number): boolean {
  if (typeof value === 'number') return value === target;
  const { numerator, denominator } = value as { numerator: number; denominator: number };
  return numerator === target && denominator === 1;
}
