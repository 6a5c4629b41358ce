import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EspalierError } from '../../base/errors.ts';
import { isCode } from '../../base/with-storage-errors.ts';
import type { BenchTask } from '../task.ts';

/**
 * The task that a module exports, as its default or as `task`. The module is run: it is the user's own code.
 *
 * @throws EspalierError `usage` where it cannot be loaded, or exports no task.
 */
export async function moduleTask(path: string): Promise<BenchTask> {
  if (!existsSync(path)) throw new EspalierError('usage', `There is no file \`${path}\`.`);
  const exported = await load(path);
  const task = exported['default'] ?? exported['task'];
  if (isTask(task)) return task;
  throw new EspalierError(
    'usage',
    `Expected \`${path}\` to export a task, as its default or as \`task\`: an object with \`name\`, \`title\` and \`instances\`.`,
  );
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (cause) {
    if (isCode(cause, 'ERR_UNKNOWN_FILE_EXTENSION') && /\.[cm]?ts$/.test(path)) {
      const message = `\`${path}\` is TypeScript, which Node ${process.versions.node} does not read: take Node 22.18 or later, run it with \`node --import tsx\`, or compile it to JavaScript.`;
      throw new EspalierError('usage', message, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EspalierError(
      'usage',
      `\`${path}\` cannot be loaded: ${reason.replace(/\.$/, '')}.`,
      {
        cause,
      },
    );
  }
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
