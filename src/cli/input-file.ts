import { readFileSync } from 'node:fs';
import { EspalierError } from '../base/errors.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { objectionOf } from '../base/with-storage-errors.ts';
import { readRun, type SavedRun } from '../runs/index.ts';

/**
 * The text of a file that a command was given.
 *
 * @throws EspalierError `usage` where it cannot be read: the argument is wrong then.
 */
export function readInput(path: string): string {
  try {
    expectRegularFile(path);
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (EspalierError.isInstance(cause)) {
      throw new EspalierError('usage', cause.message, { cause });
    }
    throw new EspalierError('usage', `\`${path}\` cannot be read: ${objectionOf(cause)}.`, {
      cause,
    });
  }
}

/**
 * The run folder that a command was given.
 *
 * @throws EspalierError `usage` where there is none or it cannot be read.
 */
export function readRunInput(path: string): SavedRun {
  try {
    // With its trees, which are else read when asked for.
    return { ...readRun(path) };
  } catch (cause) {
    if (!EspalierError.isInstance(cause) || cause.code !== 'storage') throw cause;
    throw new EspalierError('usage', cause.message, { cause });
  }
}
