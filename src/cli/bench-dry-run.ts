import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { languageModel } from '../backends/language-model.ts';
import { parseModelSpec } from '../backends/model-spec.ts';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import type { CompareOptions } from '../bench/compare-options.ts';
import { expectRoom } from '../bench/first-call.ts';
import { tryFolders } from '../bench/folders.ts';
import type { BenchMethod } from '../bench/methods.ts';
import type { BenchInstance } from '../bench/task.ts';
import { foreign } from '../runs/own-files.ts';
import { plainContext } from '../testing/plain-context.ts';
import type { BenchRequest } from './bench-request.ts';

/**
 * Refuses what the benchmark would refuse before it buys anything. Nothing is sent, and nothing stays in a folder.
 *
 * @returns what to know before it begins: which budgets hold no call on some problems, and why the model could not be asked
 * as things are, such as without its key.
 * @throws EspalierError as the benchmark would.
 */
export async function tryBench(
  request: BenchRequest,
  {
    options,
    methods,
    instances,
  }: {
    readonly options: CompareOptions;
    readonly methods: readonly BenchMethod[];
    readonly instances: readonly BenchInstance[];
  },
): Promise<readonly string[]> {
  const { inspect } = request;
  expectOwnReports(request);
  tryFolders(options, instances, inspect === undefined ? [] : [inspect]);
  const { model: given, judgeModel } = options;
  for (const instance of instances.slice(0, 1)) {
    for (const method of methods) {
      const models = { model: instance.model ?? given, judgeModel };
      const refusal = await refusalOf(async () => method.plan(instance, models));
      if (refusal !== undefined) throw refusal;
    }
  }
  const notes = (await expectRoom(options, { methods, instances })).map((each) => `Note: ${each}`);
  const obstacle = await obstacleOf(request);
  return obstacle === undefined
    ? notes
    : [...notes, `The benchmark itself could not begin: ${obstacle.message}`];
}

/**
 * Refuses a folder with reports that are none of a benchmark: they would be written over.
 *
 * @throws EspalierError `usage`.
 */
export function expectOwnReports({ out }: Pick<BenchRequest, 'out'>): void {
  if (existsSync(join(out, 'run.json'))) return;
  for (const name of ['report.md', 'report.html']) {
    if (existsSync(join(out, name))) throw foreign(join(out, name));
  }
}

/**
 * Refuses a new benchmark whose model has no key or no package. What was bought before may be all that another one takes.
 *
 * @throws EspalierError `usage`.
 */
export async function expectModel(request: BenchRequest): Promise<void> {
  if (existsSync(request.out) || request.cache !== undefined) return;
  const obstacle = await obstacleOf(request);
  if (obstacle !== undefined) throw obstacle;
}

/** Why the model could not be asked as things are, such as without its key. Nothing is sent. */
async function obstacleOf({
  model: spec,
  keyVariable,
}: Pick<BenchRequest, 'keyVariable' | 'model'>): Promise<EspalierError | undefined> {
  if (spec === undefined || spec === 'none' || !isRemote(spec)) return undefined;
  // Whatever a request needs is looked for before it is sent, and this sends none.
  const fetch = () => Promise.reject(new TypeError('Nothing is sent.'));
  const connection = { fetch, retry: false, ...defined({ keyVariable }) } as const;
  await using mute = await languageModel(spec, connection);
  const messages = [{ role: 'user', content: 'Are you there?' }] as const;
  const asking = () => plainContext().generate(mute, { messages, maxTokens: 1 });
  return await refusalOf(asking);
}

function isRemote(spec: string): boolean {
  return ['anthropic', 'openai', 'server'].includes(parseModelSpec(spec).kind);
}

/** The error that would end the benchmark. What else goes wrong ends one search. */
async function refusalOf(work: () => Promise<unknown>): Promise<EspalierError | undefined> {
  try {
    await work();
  } catch (error) {
    if (EspalierError.isInstance(error) && error.scope === 'run') return error;
  }
  return undefined;
}
