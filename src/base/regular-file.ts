import { statSync } from 'node:fs';
import { EspalierError } from './errors.ts';

/**
 * Refuses pipes, devices and sockets, because reading them may wait forever. A missing file is left to the code that
 * opens it.
 *
 * @throws EspalierError `storage`, naming the file.
 */
export function expectRegularFile(path: string): void {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined || status.isFile() || status.isDirectory()) return;
  throw new EspalierError(
    'storage',
    `\`${path}\` is a pipe or a device, which cannot be read: write its output to a file first.`,
  );
}
