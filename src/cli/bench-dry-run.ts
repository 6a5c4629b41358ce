import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EspalierError } from '../base/errors.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import type { CompareOptions } from '../bench/compare-options.ts';
import { expectRoom } from '../bench/first-call.ts';
import { tryFolders } from '../bench/folders.ts';
import type { BenchMethod } from '../bench/methods.ts';
import { obstacleOf, refusalOf } from '../bench/obstacle.ts';
import { titleBeginning } from '../bench/sections.ts';
import type { BenchInstance } from '../bench/task.ts';
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
  const obstacle = await obstacleOf(options, instances);
  return obstacle === undefined
    ? notes
    : [...notes, `The benchmark itself could not begin: ${obstacle.message}`];
}

/**
 * Refuses a folder with reports that no benchmark wrote: they would be written over.
 *
 * @throws EspalierError `usage`.
 */
export function expectOwnReports({ out }: Pick<BenchRequest, 'out'>): void {
  for (const name of ['report.md', 'report.html']) {
    const path = join(out, name);
    if (!existsSync(path) || (existsSync(join(out, 'run.json')) && isReport(path))) continue;
    throw new EspalierError(
      'usage',
      `\`${path}\` was not written by this benchmark, which would overwrite it: move it, or choose another \`--out\`.`,
    );
  }
}

function isReport(path: string): boolean {
  const text = withStorageErrors(`\`${path}\``, () => readFileSync(path, 'utf8'));
  return text.startsWith(`# ${titleBeginning}`) || text.includes(`<title>${titleBeginning}`);
}
