import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import { describeValue, expectFunction, expectObject, expectText } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import { messageOf } from '../base/failure.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { MaybePromise } from '../contracts/json.ts';
import type { LanguageModel } from '../contracts/language-model.ts';
import { fromModel } from '../policies/from-model/from-model.ts';
import { algorithmEntry, algorithmNames } from '../runs/algorithms.ts';
import { methodFor, methodNames } from '../runs/methods.ts';
import type { SearchOptions } from '../search/contracts.ts';
import { checkOptions } from '../search/options.ts';
import { solved } from '../search/stop-conditions.ts';
import { judge } from '../values/judge/judge.ts';
import type { BenchInstance, BenchTask } from './task.ts';

/** How one method searches one instance. */
export type BenchPlan<State = any, Action = any> = Pick<
  SearchOptions<State, Action>,
  'algorithm' | 'discount' | 'evaluator' | 'fill' | 'method' | 'outcome' | 'policy' | 'stopWhen'
>;

/** The models of a search. */
export interface BenchModels {
  /** The model that proposes; absent without a model. */
  readonly model: LanguageModel | undefined;
  /** The model that judges. */
  readonly judgeModel: LanguageModel | undefined;
}

/** A method to compare. */
export interface BenchMethod<State = any, Action = any> {
  /** The name in reports. */
  readonly name: string;
  /**
   * A revision that changes when the method changes under the same name: its searches are made again, and buy only what
   * they ask anew. @defaultValue none
   */
  readonly revision?: string;
  /** The search options for an instance, whose environment has the model's notation. */
  plan(
    instance: BenchInstance<State, Action>,
    models: BenchModels,
  ): MaybePromise<BenchPlan<State, Action>>;
}

/**
 * An instance as a plan may see it: in the notation of the model, without the oracle, and without the revision, by which
 * the answer could be guessed.
 */
export function shownTo(
  asked: LanguageModel | undefined,
  { id, environment, cluster, guides, model, notationFor, maxTokens: usual }: BenchInstance,
  maxTokens: number | undefined = usual,
): BenchInstance {
  const notation = asked && notationFor?.(asked.capabilities);
  return {
    id,
    environment: notation === undefined ? environment : { ...environment, notation },
    ...defined({ cluster, guides, model, maxTokens }),
  };
}

/**
 * What a method plans for an instance.
 *
 * @throws EspalierError `usage`, naming the method, for a plan that throws or that no search can take.
 */
export async function planOf(
  method: BenchMethod,
  instance: BenchInstance,
  models: BenchModels,
): Promise<BenchPlan> {
  try {
    const plan = await method.plan(instance, models);
    expectObject('plan', plan);
    expectOptions('plan', plan, planOptions);
    checkOptions(instance.environment, plan);
    return plan;
  } catch (cause) {
    if (EspalierError.isInstance(cause) && cause.scope === 'run') throw cause;
    const message = `The plan of \`${method.name}\` failed: ${messageOf(cause)}`;
    throw new EspalierError('usage', message, { cause });
  }
}

/** The names of {@link BenchPlan}, with spaces between them. */
const planOptions = 'algorithm discount evaluator fill method outcome policy stopWhen';

/** Settings of methods that are given by name. */
export interface Sampling {
  /** The temperature of algorithms without their own. @defaultValue that of the policy */
  readonly temperature?: number;
  /** What replaces their policy, their evaluator or both. @defaultValue nothing */
  readonly guides?: (
    instance: BenchInstance,
    models: BenchModels,
  ) => MaybePromise<Pick<BenchPlan, 'evaluator' | 'policy'>>;
}

/** What every search is compared with: one path, votes where there are answers to vote on, best-of-N. */
export function baselinesFor(instances: readonly BenchInstance[]): readonly string[] {
  const hasAnswers = instances.every(({ environment }) => environment.answer !== undefined);
  return ['greedy', ...(hasAnswers ? ['self-consistency'] : []), 'best-of-n'];
}

/** @throws EspalierError `usage` for methods that let answers vote, where the task has none. */
export function expectVotes(
  methods: readonly (BenchMethod | string)[],
  { task, instances }: { readonly task: BenchTask; readonly instances: readonly BenchInstance[] },
): void {
  if (instances.every(({ environment }) => environment.answer !== undefined)) return;
  const voting = methods.find(
    (name) =>
      typeof name === 'string' &&
      algorithmNames.includes(name) &&
      algorithmEntry(name).votes === true,
  );
  if (voting === undefined) return;
  throw new EspalierError(
    'usage',
    `\`${voting}\` lets answers vote, and the problems of \`${task.name}\` have no answers to vote on. Leave it out of the methods.`,
  );
}

/**
 * A method as it is given: an algorithm or a published method by its name, or a plan of your own. Published methods have
 * temperatures of their own.
 *
 * @throws EspalierError `usage` where there is none of that name.
 */
export function benchMethod(method: BenchMethod | string, sampling: Sampling = {}): BenchMethod {
  if (typeof method !== 'string') {
    expectObject('methods[]', method);
    expectText('methods[].name', method.name);
    expectFunction('methods[].plan', method.plan);
    return method;
  }
  if (algorithmNames.includes(method)) return algorithmMethod(method, sampling);
  if (methodNames.includes(method)) return publishedMethod(method, sampling);
  const names = [...algorithmNames, ...methodNames];
  const meant = nearestName(method, names);
  const hint =
    meant === undefined ? `There are ${names.join(', ')}.` : `Did you mean \`${meant}\`?`;
  throw new EspalierError('usage', `There is no method ${describeValue(method)}. ${hint}`);
}

function algorithmMethod(name: string, sampling: Sampling): BenchMethod {
  const { create, temperature = sampling.temperature, votes = false } = algorithmEntry(name);
  return {
    name,
    async plan(instance, models) {
      const own = await sampling.guides?.(instance, models);
      const guided = own?.policy && { guides: { ...instance.guides, policy: own.policy } };
      const { heuristic, ...guides } = guidesOf({ ...instance, ...guided }, models, temperature);
      const asksModel = models.model !== undefined;
      const algorithm = create({ asksModel, ...(heuristic !== undefined && { heuristic }) });
      // Votes are for answers that nobody can check: they are counted even where the environment can.
      return { ...guides, ...own, algorithm, ...(!votes && endOf(instance)) };
    },
  };
}

function publishedMethod(name: string, { guides }: Sampling): BenchMethod {
  return {
    name,
    async plan(instance, models) {
      const { oracle, maxTokens = longestStep } = instance;
      const { model, judgeModel } = models;
      if (model === undefined) throw needsModel(name);
      const options = { model, maxTokens, ...(judgeModel !== undefined && { judgeModel }) };
      const plan = methodFor(name, options, { ends: oracle === undefined });
      return { ...plan, ...(await guides?.(instance, models)) };
    },
  };
}

/** No step is longer, in tokens. */
const longestStep = 512;

function guidesOf(
  { id, guides, maxTokens = longestStep }: BenchInstance,
  { model, judgeModel = model }: BenchModels,
  temperature: number | undefined,
): NonNullable<BenchInstance['guides']> {
  if (model !== undefined && judgeModel !== undefined) {
    const sampling = { model, maxTokens, ...(temperature !== undefined && { temperature }) };
    return { policy: fromModel(sampling), evaluator: judge({ model: judgeModel }) };
  }
  if (guides === undefined) throw needsModel(`\`${id}\``);
  return guides;
}

/** Where the environment verifies, a right end is what was looked for; else no search knows that it has one. */
function endOf({ oracle }: BenchInstance): Pick<BenchPlan, 'stopWhen'> {
  return oracle === undefined ? { stopWhen: solved() } : {};
}

function needsModel(what: string): EspalierError {
  return new EspalierError('usage', `Expected \`model\` (\`--model\`): ${what} needs one.`, {
    scope: 'run',
  });
}
