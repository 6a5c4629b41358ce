import type { CompareOptions } from '../bench/compare-options.ts';
import { expectRoom } from '../bench/first-call.ts';
import { tryFolders } from '../bench/folders.ts';
import type { BenchMethod } from '../bench/methods.ts';
import { obstacleOf, refusalOf } from '../bench/obstacle.ts';
import type { BenchInstance } from '../bench/task.ts';
import type { BenchRequest } from './bench-request.ts';

/**
 * Refuses what the benchmark would refuse before it buys anything. Nothing is sent, and nothing stays in a folder.
 *
 * @returns why the model could not be asked as things are, such as without its key; nothing where it could.
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
): Promise<string | undefined> {
  const { inspect } = request;
  tryFolders(options, instances, inspect === undefined ? [] : [inspect]);
  const { model: given, judgeModel } = options;
  for (const instance of instances.slice(0, 1)) {
    for (const method of methods) {
      const models = { model: instance.model ?? given, judgeModel };
      const refusal = await refusalOf(async () => method.plan(instance, models));
      if (refusal !== undefined) throw refusal;
    }
  }
  const [instance] = instances;
  if (instance !== undefined) await expectRoom(options, { methods, instance });
  return (await obstacleOf(options, instances))?.message;
}
