import type { Command } from 'commander';
import { languageModel } from '../backends/language-model.ts';
import { parseModelSpec } from '../backends/model-spec.ts';
import { expectKeyVariable } from '../backends/transport/connection.ts';
import { EspalierError } from '../base/errors.ts';
import { modelName } from '../base/model-name.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import type { Guides, Problem, ShownEnvironment } from '../runs/problem.ts';
import type { AlgorithmEntry } from '../search/algorithms/entry.ts';
import { judge } from '../values/judge/judge.ts';

/** Which model a command uses: `none`, or a model spec such as `openai:gpt-6-luna`. */
export type ModelName = string;

/** Which model was asked for, and where its key is. */
export interface ModelRequest {
  readonly model?: ModelName;
  readonly keyVariable?: string;
}

/** A model for a command, or none, and what people are told of it. */
export interface ChosenModel extends AsyncDisposable {
  readonly model: LanguageModel | undefined;
  /** One line. */
  readonly line: string;
}

/** The options of all commands that use a model, besides its name. */
export function addKeyVariableOption(command: Command): Command {
  return command.option(
    '--key-variable <name>',
    'the environment variable that holds the key, for --model https://HOST/v1#MODEL',
    (text: string) => {
      expectKeyVariable('--key-variable', text);
      return text;
    },
  );
}

/** Reads `--model`. The path of a GGUF file stands for `tiny:` and that file. */
export function modelOption(text: string): ModelName {
  if (text === 'none') return text;
  const isFile = text.endsWith('.gguf') && !/^[a-z-]+:/.test(text);
  const spec = isFile ? `tiny:${text}` : text;
  try {
    parseModelSpec(spec);
  } catch (error) {
    if (!EspalierError.isInstance(error)) throw error;
    const message = error.message.replace('`model` to be ', '`--model` to be none, ');
    throw new EspalierError('usage', message, { cause: error });
  }
  return spec;
}

/**
 * The model that was asked for, ready to answer. Where none was named it is `tiny`, for problems that `tiny`
 * knows, and none where a problem can do without.
 *
 * @throws EspalierError `usage` where a model is needed, or the named one cannot be used.
 */
export async function chooseModel(
  { model: name, keyVariable }: ModelRequest,
  { unaided, isTaught }: Pick<Problem, 'isTaught' | 'unaided'>,
): Promise<ChosenModel> {
  if (name === 'none' || (name === undefined && !isTaught)) {
    if (unaided === undefined) {
      const example = '--model openai:gpt-6-luna or --model ollama:qwen3';
      const message = `Expected \`--model\`: a question needs a model, and the one in the package only knows its puzzles. For example ${example}.`;
      throw new EspalierError('usage', message);
    }
    const reason =
      name === undefined ? ', for the one in the package was not taught this puzzle' : '';
    return {
      model: undefined,
      line: `Model: none${reason}; the legal moves and an estimate instead.`,
      [Symbol.asyncDispose]: async () => {},
    };
  }
  // Those that run in this process can be loaded before their first request.
  const model: LanguageModel & AsyncDisposable & { load?(): Promise<void> } = await languageModel(
    name ?? 'tiny',
    keyVariable === undefined ? {} : { keyVariable },
  );
  // Before a run folder is made: a model that cannot be read is a mistake in the request.
  await model.load?.();
  const isPackaged = name === undefined || name === 'tiny';
  const hint = name === undefined ? ' Another one: --model.' : '';
  const origin = isPackaged ? ', the toy that comes with the package, in this process' : '';
  return {
    model,
    line: `Model: ${isPackaged ? model.modelId : modelName(model)}${origin}.${hint}`,
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}

/** The environment of a problem, as it looks to a model. */
export function environmentFor(
  model: LanguageModel | undefined,
  { notationFor, environment }: Problem,
): ShownEnvironment {
  if (model === undefined) return environment;
  return { ...environment, notation: notationFor?.(model.capabilities) ?? environment.notation };
}

/** The model as policy and judge; without one what the problem has instead. */
export function guidesOf(
  model: LanguageModel | undefined,
  { unaided, maxTokens }: Problem,
  { temperature }: Pick<AlgorithmEntry, 'temperature'>,
): Guides {
  if (model !== undefined) {
    const sampling = { model, maxTokens, ...(temperature !== undefined && { temperature }) };
    return { policy: fromModel(sampling), evaluator: judge({ model }) };
  }
  if (unaided === undefined) throw new Error('Expected a problem that can do without a model.');
  const { policy, evaluator } = unaided;
  return { policy, evaluator };
}
