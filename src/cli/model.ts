import type { Command } from 'commander';
import { type LanguageModelOptions, languageModel } from '../backends/language-model.ts';
import { modelProviders, parseModelSpec } from '../backends/model-spec.ts';
import type { OpenAiCompatibleModel } from '../backends/openai-compatible/server.ts';
import { expectKeyVariable } from '../backends/transport/connection.ts';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import { renamed } from '../base/expect.ts';
import { modelName } from '../base/model-name.ts';
import { nearestName } from '../base/nearest-name.ts';
import { seededRandom } from '../base/random.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import type { Guides, Problem, ShownEnvironment } from '../runs/problem.ts';
import type { AlgorithmEntry } from '../search/algorithms/entry.ts';
import { judge } from '../values/judge/judge.ts';
import { expectWord, integerOption, type WordParser, withWords } from './values.ts';

/** Which model a command uses: `none`, or a model spec such as `openai:gpt-6-luna`. */
export type ModelName = string;

/** Which model a command uses, and how. */
export interface ModelRequest {
  readonly model?: ModelName;
  readonly keyVariable?: string;
  readonly effort?: string;
  readonly judgeEffort?: string;
  readonly thoughtTokens?: number;
  readonly maxTokens?: number;
}

/** The options of all commands that search with a model. */
export function addModelOptions(command: Command): Command {
  const named = command.option(
    '--model <name>',
    'tiny (default for puzzles), none, or a model spec, such as openai:gpt-6-luna or groq:MODEL',
    modelOption,
  );
  return addKeyVariableOption(named)
    .option(
      '--effort <level>',
      'how hard the model thinks, such as low; levels depend on the provider',
    )
    .option('--judge-effort <level>', 'the same for judgements (default: as --effort)')
    .option(
      '--thought-tokens <n>',
      'maximum tokens for thinking, in addition to those of a step',
      integerOption('thought-tokens', 0),
    )
    .option(
      '--max-tokens <n>',
      'maximum tokens of a step (64 for puzzles, 512 for questions)',
      integerOption('max-tokens'),
    );
}

/** Who proposes, and who judges, where that is another one. */
export interface Models {
  readonly model: LanguageModel | undefined;
  readonly judgeModel?: LanguageModel;
}

/** The model of a command, if any, and how it is described to users. */
export interface ChosenModel extends AsyncDisposable, Models {
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
export const modelOption: WordParser<(text: string) => ModelName> = withWords(readModel, [
  'none',
  ...modelProviders.map((name) => (name === 'tiny' ? name : `${name}:`)),
]);

function readModel(text: string): ModelName {
  if (text === 'none') return text;
  const isFile = text.endsWith('.gguf') && !/^[a-z-]+:/.test(text);
  const spec = isFile ? `tiny:${text}` : text;
  try {
    parseModelSpec(spec);
  } catch (error) {
    const near = nearestName(text, ['none', ...modelProviders], Math.floor(text.length / 3));
    if (near === 'none') expectWord('--model', text, [near]);
    throw renamed(error, { model: '--model' });
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
  request: ModelRequest,
  {
    unaided,
    isTaught,
    own,
  }: {
    readonly isTaught: boolean;
    readonly unaided?: object | undefined;
    readonly own?: { has(kind: 'environment' | 'policy'): boolean };
  },
): Promise<ChosenModel> {
  const { model: name } = request;
  const bringsPolicy = own?.has('policy') === true;
  const isAlone = name === 'none' || (name === undefined && (bringsPolicy || !isTaught));
  if (!bringsPolicy && unaided === undefined) {
    // Neither none nor the one in the package can do what it was not taught.
    const isLost = isAlone || (name === 'tiny' && !isTaught);
    if (isLost) throw needsModel(name, own?.has('environment') === true);
  }
  expectHeeded(request, isAlone ? 'none' : (name ?? 'tiny'));
  if (!isAlone) return openModel(request);
  const line = bringsPolicy ? 'Model: none; a policy of your own.' : unaidedLine(name);
  return { model: undefined, line, [Symbol.asyncDispose]: async () => {} };
}

async function openModel(request: ModelRequest): Promise<ChosenModel> {
  const { model: name, keyVariable, effort, judgeEffort, thoughtTokens } = request;
  // Those that run in this process can be loaded before their first request.
  const spec = await namedSpec(name ?? 'tiny', request);
  const given = { thoughtTokens, keyVariable };
  const model: LanguageModel & AsyncDisposable & { load?(): Promise<void> } = await modelWithEffort(
    spec,
    defined({ ...given, effort }),
  );
  const judgeModel =
    judgeEffort === undefined
      ? undefined
      : await modelWithEffort(spec, defined({ ...given, effort: judgeEffort }), '--judge-effort');
  // Before a run folder is made: a model that cannot be read is a mistake in the request.
  await model.load?.();
  const isPackaged = name === undefined || name === 'tiny';
  const hint = name === undefined ? ' Another one: --model.' : '';
  const origin = isPackaged ? ', the toy that comes with the package, in this process' : '';
  return {
    model,
    ...(judgeModel !== undefined && { judgeModel }),
    line: `Model: ${isPackaged ? model.modelId : modelName(model)}${origin}.${hint}`,
    [Symbol.asyncDispose]: async () => {
      await judgeModel?.[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** Opens a model. An effort that its provider does not know is told by the option that gave it. */
export async function modelWithEffort(
  spec: string,
  options: LanguageModelOptions,
  option = '--effort',
): Promise<LanguageModel & AsyncDisposable> {
  try {
    return await languageModel(spec, options);
  } catch (error) {
    throw renamed(error, { effort: option, reasoningEffort: option });
  }
}

/**
 * The spec of a server with the model that it serves, where it names none: a run is known by its model, and the server may
 * serve another one later. One that cannot be asked says so when it is searched with.
 */
async function namedSpec(
  spec: string,
  { keyVariable }: Pick<ModelRequest, 'keyVariable'>,
): Promise<string> {
  const parsed = parseModelSpec(spec);
  if (parsed.kind !== 'server' || parsed.model !== undefined) return spec;
  await using model = await languageModel(spec, defined({ keyVariable }));
  try {
    const { models } = await (model as unknown as OpenAiCompatibleModel).server();
    const [served] = models;
    return served === undefined ? spec : `${spec}${spec.includes('://') ? '#' : ':'}${served.id}`;
  } catch {
    return spec;
  }
}

/** @throws EspalierError `usage` for an option that changes nothing of a model in this process, or of none. */
function expectHeeded(request: ModelRequest, name: ModelName): void {
  const isHere = name === 'none' || ['llama', 'replay', 'tiny'].includes(parseModelSpec(name).kind);
  const { keyVariable, effort, judgeEffort, thoughtTokens } = request;
  const given = {
    '--key-variable': keyVariable,
    '--effort': effort,
    '--judge-effort': judgeEffort,
    '--thought-tokens': thoughtTokens,
  };
  const [option] = Object.keys(defined(given));
  if (!isHere || option === undefined) return;
  const message = `\`${option}\` changes nothing with \`--model ${name}\`: leave it out, or name a model of a provider or a server.`;
  throw new EspalierError('usage', message);
}

function needsModel(name: ModelName | undefined, isOwn: boolean): EspalierError {
  const who = isOwn
    ? 'an environment of your own needs a model, or `--policy`'
    : 'a question needs a model';
  const why =
    name === 'none'
      ? '`--model` to name a model, got `none`: what is asked can only be searched with one'
      : `\`--model\`: ${who}, and the model in the package knows only its puzzles`;
  const example = '--model openai:gpt-6-luna or --model ollama:qwen3';
  const message = `Expected ${why}. For example ${example}.`;
  return new EspalierError('usage', message);
}

function unaidedLine(name: ModelName | undefined): string {
  const reason =
    name === undefined ? ', for the one in the package was not taught this puzzle' : '';
  return `Model: none${reason}; the legal moves and an estimate instead.`;
}

/**
 * The models of one search. The one in this process gives equal requests equal samples, and the requests of a search bring
 * no seed: drawn by the seed of the search, another one grows another tree.
 */
export function drawnBy<Chosen extends Models>(models: Chosen, seed: number | string): Chosen {
  const { model, judgeModel } = models;
  if (seed === 0 || model?.provider !== 'tiny') return models;
  const own = seededRandom(seed)
    .split('model')
    .integer(2 ** 31);
  const drawn = (each: LanguageModel): LanguageModel => ({
    ...each,
    generate: (request, call) => each.generate({ ...request, seed: request.seed ?? own }, call),
  });
  return {
    ...models,
    model: drawn(model),
    ...(judgeModel !== undefined && { judgeModel: drawn(judgeModel) }),
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

/** The model as policy and judge; without one what the problem has instead, where it has anything. */
export function guidesOf(
  { model, judgeModel = model }: Models,
  { unaided, maxTokens }: Pick<Problem, 'maxTokens' | 'unaided'>,
  { temperature }: Pick<AlgorithmEntry, 'temperature'>,
): Partial<Guides> {
  if (model !== undefined && judgeModel !== undefined) {
    const sampling = { model, maxTokens, ...(temperature !== undefined && { temperature }) };
    return { policy: fromModel(sampling), evaluator: judge({ model: judgeModel }) };
  }
  return unaided === undefined ? {} : { policy: unaided.policy, evaluator: unaided.evaluator };
}
