import { existsSync } from 'node:fs';
import { EspalierError } from '../base/errors.ts';
import type { Environment, Notation } from '../contracts/environment.ts';
import type { Evaluator } from '../contracts/evaluator.ts';
import type { Capabilities } from '../contracts/language-model.ts';
import type { Policy } from '../contracts/policy.ts';
import type { Puzzle, PuzzleEnvironment, PuzzleName } from '../environments/index.ts';
import { journaled } from '../policies/journaled.ts';
import { uniform } from '../policies/uniform.ts';
import { heuristic } from '../values/heuristic.ts';
import { readInput } from './input-file.ts';
import { type Task, tasks } from './tasks.ts';

/** An environment that can be shown to a model and to people. */
export type ShownEnvironment = Environment<unknown, unknown> & {
  readonly notation: Notation<unknown, unknown>;
};

/** The policy and the evaluator of a search. */
export interface Guides<State = unknown, Action = unknown> {
  readonly policy: Policy<State, Action>;
  readonly evaluator: Evaluator<State, Action>;
}

/** The guides of a search without a model. */
export interface Unaided<State = unknown, Action = unknown> extends Guides<State, Action> {
  /** A lower bound of the remaining cost, for A*. */
  readonly heuristic: (state: State) => number;
}

/** A problem to search. States and actions are those of its environment. */
export interface Problem {
  /** The kind of problem, in run folders. */
  readonly kind: string;
  /** The problem for people, in one line. */
  readonly title: string;
  /** The problem in its usual form: equal for equal problems. */
  readonly text: string;
  readonly environment: ShownEnvironment;
  /** The notation for a model with these capabilities. @defaultValue the notation of the environment */
  notationFor?(capabilities: Capabilities): Notation<unknown, unknown>;
  /** The longest step, in tokens. */
  readonly maxTokens: number;
  /** Whether the packaged model was trained on such problems. */
  readonly isTaught: boolean;
  /** Whether an end with reward 1 is known to be right; otherwise it is only a judgement of the model. */
  readonly verifies: boolean;
  /** The guides without a model; absent if a model is needed. */
  readonly unaided?: Unaided;
  /** The answer, if the problem is already solved at its start. */
  readonly solvedWith?: string;
  /** A state for people; absent if a plan is easier to follow without its intermediate states. */
  render?(state: unknown): string;
  /** The solution as text, from the last state and the actions that led to it. */
  answer(state: unknown, path: readonly string[]): string;
}

/** The longest step of a puzzle, in tokens. */
const longestStep = 64;

/**
 * Reads a puzzle from a value, or from the file of that name if there is one.
 *
 * @throws EspalierError `usage` in one sentence.
 */
export function readPuzzle(name: PuzzleName, input: string): Problem {
  if (!existsSync(input)) return puzzleProblem(name, input);
  const problem = puzzleProblem(name, readInput(input), input);
  const { title } = tasks[name].puzzle;
  return { ...problem, title: input.includes('\n') ? title : `${title}: ${input}` };
}

/**
 * The puzzle that a text describes.
 *
 * @param file - The file the text was read from.
 * @throws EspalierError `usage` in one sentence.
 */
export function puzzleProblem(name: PuzzleName, source: string, file?: string): Problem {
  const task = tasks[name];
  const instance = parse(task, source, file);
  const { puzzle, isTaught, showsStates, answer } = task;
  const text = puzzle.format(instance);
  const environment = puzzle.environment(instance);
  return {
    kind: name,
    title: text.includes('\n') ? puzzle.title : `${puzzle.title}: ${text}`,
    text,
    environment,
    maxTokens: longestStep,
    isTaught,
    verifies: true,
    unaided: unaidedIn(puzzle, environment),
    ...(puzzle.check(instance, []).correct && {
      solvedWith: answer(environment.reset().state, []),
    }),
    ...(showsStates && { render: (state: unknown) => puzzle.render(state) }),
    answer: (state, path) => answer(state, path),
  };
}

/** The legal moves with equal priors, and a handwritten estimate. */
export function unaidedIn<Instance, State, Action>(
  { estimate, heuristic: least }: Puzzle<Instance, State, Action>,
  { actions, key }: PuzzleEnvironment<State, Action>,
): Unaided<State, Action> {
  return {
    // Journaled, so that each request to the policy counts as a call, like one to a language model.
    policy: journaled(uniform(actions), { name: 'legal-moves', key }),
    evaluator: heuristic((state) => estimate(state)),
    heuristic: (state) => least(state),
  };
}

function parse({ puzzle }: Task, text: string, file: string | undefined): unknown {
  try {
    const instance = puzzle.parse(text);
    // A puzzle that parses may still break a rule.
    puzzle.environment(instance);
    return instance;
  } catch (cause) {
    if (!EspalierError.isInstance(cause)) throw cause;
    if (file !== undefined) {
      throw new EspalierError('usage', `In \`${file}\`: ${cause.message}`, { cause });
    }
    // A text that looks like a file name was most likely meant as one.
    if (!/^\S*\.\w+$/.test(text)) throw cause;
    throw new EspalierError('usage', `There is no file \`${text}\`.`, { cause });
  }
}
