import { readFileSync } from 'node:fs';
import { EspalierError } from '../base/errors.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { objectionOf } from '../base/with-storage-errors.ts';

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
    if (EspalierError.isInstance(cause)) throw cause;
    throw new EspalierError('usage', `\`${path}\` cannot be read: ${objectionOf(cause)}.`, {
      cause,
    });
  }
}
