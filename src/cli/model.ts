import { type TinyModel, tiny } from '../backends/tiny/index.ts';
import type { PuzzleEnvironment } from '../environments/puzzles/index.ts';
import { fromModel } from '../policies/from-model.ts';
import { journaled } from '../policies/journaled.ts';
import { uniform } from '../policies/uniform.ts';
import { EspalierError } from '../spec/errors.ts';
import type { Evaluator } from '../spec/evaluator.ts';
import type { Policy } from '../spec/policy.ts';
import { heuristic } from '../values/heuristic.ts';
import { judge } from '../values/judge.ts';
import type { Task } from './tasks.ts';

/** Which model a command uses: `tiny`, `none`, or the path of a GGUF file. */
export type ModelName = string;

/** A model for a command, or none, and what people are told of it. */
export interface ChosenModel extends AsyncDisposable {
  readonly model: TinyModel | undefined;
  /** One line. */
  readonly line: string;
}

/** Reads `--model`. */
export function modelOption(text: string): ModelName {
  if (text === 'tiny' || text === 'none' || text.endsWith('.gguf')) return text;
  throw new EspalierError(
    'usage',
    `Expected \`--model\` to be tiny, none or the path of a GGUF file, got \`${text}\`.`,
  );
}

/** The model that was asked for. Where none was named it is `tiny`, for puzzles that `tiny` knows. */
export function chooseModel(name: ModelName | undefined, task: Task): ChosenModel {
  if (name === 'none' || (name === undefined && !task.isTaught)) {
    const reason =
      name === undefined ? ', for the one in the package was not taught this puzzle' : '';
    return {
      model: undefined,
      line: `Model: none${reason}; the legal moves and an estimate instead.`,
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const isPackaged = name === undefined || name === 'tiny';
  const model = isPackaged ? tiny() : tiny({ model: name });
  const hint = name === undefined ? ' Another one: --model.' : '';
  const origin = isPackaged ? ', the toy that comes with the package, in this process' : '';
  return {
    model,
    line: `Model: ${model.modelId}${origin}.${hint}`,
    [Symbol.asyncDispose]: () => model.close(),
  };
}

/** Who proposes steps and who values them. */
export interface Guides<State, Action> {
  readonly policy: Policy<State, Action>;
  readonly evaluator: Evaluator<State, Action>;
}

/** The model as policy and judge; without one the legal moves, all alike, and the estimate of the puzzle. */
export function guidesOf(
  model: TinyModel | undefined,
  task: Task,
  environment: PuzzleEnvironment<unknown, unknown>,
): Guides<unknown, unknown> {
  const { notation, actions, key } = environment;
  if (model === undefined) {
    return {
      // Journaled, each question to the policy counts as a call, like one to a language model.
      policy: journaled(uniform(actions), { name: 'legal-moves', key }),
      evaluator: heuristic((state) => task.puzzle.estimate(state)),
    };
  }
  return {
    policy: fromModel({ model, notation, maxTokens: longestStep }),
    evaluator: judge({ model, notation }),
  };
}

/** No step of a puzzle is longer, in tokens. */
const longestStep = 64;
