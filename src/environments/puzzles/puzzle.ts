import type { Random } from '../../contracts/context.ts';
import type { Environment, Notation, Transition } from '../../contracts/environment.ts';
import type { Verdict } from '../../contracts/verifier.ts';

/**
 * A puzzle's dynamics plus its legal actions: exact, pure and synchronous.
 *
 * Every action costs one step. A step that solves the puzzle ends it with reward 1, a step into a state
 * without legal actions ends it with reward 0, and any other step has no reward. States and actions are
 * JSON. No function here uses `this`, so `uniform(environment.actions)` works.
 */
export interface PuzzleEnvironment<State, Action> extends Environment<State, Action> {
  /** The start state of the instance. */
  reset(): Transition<State>;

  /**
   * Takes a legal action.
   *
   * @throws EspalierError `usage` if the action is not legal in `state`; the message says why.
   */
  step(state: State, action: Action): Transition<State>;

  /**
   * The actions that may be taken in `state`, always in the same order and leading to different states.
   * None in a solved state and in a dead end.
   */
  actions(state: State): readonly Action[];

  /** A short name of `state`, unique among the states of this instance. */
  key(state: State): string;

  /** Converts states and actions to model text, and back. Parsing takes the first action in the text. */
  readonly notation: Notation<State, Action>;

  /** Absent: the states of puzzles are JSON. */
  readonly codec?: never;
}

/**
 * A family of problems that a program can make, check and solve exactly.
 *
 * Its states are complete: the goal is part of each state, so that a saved state can be printed and valued without its
 * instance. No function here uses `this`.
 *
 * All functions are declared as methods, which TypeScript compares bivariantly: this allows different puzzles in one
 * table as `Puzzle<unknown, unknown, unknown>`.
 */
export interface Puzzle<Instance, State, Action, Options = object> {
  /** The name in commands and files. */
  readonly name: string;

  /** The name for people. */
  readonly title: string;

  /**
   * The environment of one instance.
   *
   * @throws EspalierError `usage` if the instance breaks the rules of the puzzle.
   */
  environment(instance: Instance): PuzzleEnvironment<State, Action>;

  /**
   * A random instance that can be solved and is not solved yet.
   *
   * @throws EspalierError `usage` if an option is out of range.
   */
  generate(random: Random, options?: Options): Instance;

  /**
   * Reads an instance as typed by a person or stored in a file.
   *
   * @throws EspalierError `usage` in the form *Expected …, got `…`.*
   */
  parse(text: string): Instance;

  /** An instance as text; `parse(format(instance))` equals `instance`. */
  format(instance: Instance): string;

  /**
   * Replays actions from the start. The verdict is correct if all of them are legal and the last one solves the puzzle;
   * otherwise its rationale names the first mistake.
   */
  check(instance: Instance, actions: readonly Action[]): Verdict;

  /** A state for a terminal, without colours. */
  render(state: State): string;

  /** A rough value of a state in [0, 1]: 1 if solved, 0 if recognised as hopeless. */
  estimate(state: State): number;

  /** An admissible h(s): never more than the steps still needed; `Infinity` only in dead ends. */
  heuristic(state: State): number;
}
