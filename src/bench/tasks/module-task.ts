import { defined } from '../../backends/transport/json.ts';
import { EspalierError } from '../../base/errors.ts';
import { messageOf } from '../../base/failure.ts';
import { exportOf, moduleRevision } from '../../base/user-module.ts';
import { expectInstances } from '../compare-options.ts';
import type { BenchTask } from '../task.ts';

/**
 * The task that a module exports, as its default or as `task`. The module is run: it is the user's own code.
 *
 * @throws EspalierError `usage` if it cannot be loaded, or exports no task.
 */
export async function moduleTask(path: string): Promise<BenchTask> {
  const task = await exportOf(path, 'task');
  if (isTask(task)) {
    const { name, title, spec, source, licence, splits, revision = moduleRevision(path) } = task;
    return {
      ...{ name, title, revision },
      ...defined({ spec, source, licence, splits }),
      instances: async (request) => {
        try {
          return expectInstances(await task.instances(request));
        } catch (cause) {
          throw new EspalierError('usage', `\`${path}\`: ${messageOf(cause)}`, { cause });
        }
      },
      close: () => task.close?.(),
    };
  }
  throw new EspalierError(
    'usage',
    `Expected \`${path}\` to export a task, as its default or as \`task\`: an object with \`name\`, \`title\` and \`instances\`.`,
  );
}

function isTask(value: unknown): value is BenchTask {
  if (typeof value !== 'object' || value === null) return false;
  const { name, title, instances } = value as Readonly<Record<string, unknown>>;
  return (
    typeof name === 'string' &&
    /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) &&
    typeof title === 'string' &&
    typeof instances === 'function'
  );
}
