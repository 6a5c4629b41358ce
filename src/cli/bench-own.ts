import { parse } from 'node:path';
import { defined } from '../backends/transport/json.ts';
import { EspalierError } from '../base/errors.ts';
import { isModule, moduleRevision } from '../base/user-module.ts';
import type { CompareOptions } from '../bench/compare-options.ts';
import { type BenchMethod, type BenchModels, benchMethod } from '../bench/methods.ts';
import type { BenchInstance, BenchTask } from '../bench/task.ts';
import { algorithmNames } from '../runs/algorithms.ts';
import { methodNames } from '../runs/methods.ts';
import type { PartRequest } from '../runs/part-request.ts';
import type { BenchRequest } from './bench-request.ts';
import { loadParts } from './own-parts.ts';

/** What the user's own modules decide of a benchmark. */
export type OwnOptions = Pick<CompareOptions, 'guides' | 'methods' | 'task'>;

/**
 * The methods of a request with its own algorithms, what guides all of them, and the task: a policy or an evaluator that
 * has changed makes all of its searches others, and an algorithm its own.
 *
 * @throws EspalierError `usage`, naming the file and what it should export.
 */
export async function ownOptions(request: BenchRequest, task: BenchTask): Promise<OwnOptions> {
  const { policy, value, methods, temperature } = request;
  const parts = await loadParts(defined({ policy, value }));
  const guides: CompareOptions['guides'] = async (instance, models) => {
    const made = await parts.make(partRequest(task, instance, models));
    return defined({ policy: made.policy, evaluator: made.value });
  };
  const files = [policy, value].filter((path) => path !== undefined);
  const guided = files.length === 0 ? {} : { guides };
  const usual = benchMethod('mcts', { ...defined({ temperature }), ...guided });
  const revision = [task.revision ?? '', ...files.map(moduleRevision)].join(' ');
  return {
    ...guided,
    task: files.length === 0 ? task : { ...task, revision },
    methods: await Promise.all(
      methods.map(async (name) =>
        isModule(name) ? ownMethod(name, { request, task, usual }) : name,
      ),
    ),
  };
}

/** A method that searches as another one does, but by an algorithm of the user's own. */
async function ownMethod(
  path: string,
  {
    request: { methods },
    task,
    usual,
  }: { readonly request: BenchRequest; readonly task: BenchTask; readonly usual: BenchMethod },
): Promise<BenchMethod> {
  const { name } = parse(path);
  const others = methods.filter((each) => isModule(each) && parse(each).name === name);
  if (others.length > 1 || [...algorithmNames, ...methodNames].includes(name)) {
    const message = `Expected \`${path}\` to have a name of its own, got \`${name}\`, which is that of another method: rename the file.`;
    throw new EspalierError('usage', message);
  }
  const parts = await loadParts({ algorithm: path });
  return {
    name,
    revision: moduleRevision(path),
    async plan(instance, models) {
      const { algorithm } = await parts.make(partRequest(task, instance, models));
      return { ...(await usual.plan(instance, models)), ...defined({ algorithm }) };
    },
  };
}

function partRequest(
  { name: task }: BenchTask,
  { id }: BenchInstance,
  { model, judgeModel = model }: BenchModels,
): PartRequest {
  return { problem: { id, task }, ...defined({ model, judgeModel }) };
}
