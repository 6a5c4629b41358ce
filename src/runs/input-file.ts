import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { EspalierError } from '../base/errors.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { objectionOf } from '../base/with-storage-errors.ts';

/**
 * The text of a file that a command was given, which may be compressed by gzip.
 *
 * @throws EspalierError `usage` where it cannot be read: the argument is wrong then.
 */
export function readInput(path: string): string {
  return reading(path, () => {
    const bytes = readFileSync(path);
    // By its first bytes, as a name may not tell.
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  });
}

/**
 * The bytes of a file that a command was given.
 *
 * @throws EspalierError as {@link readInput}.
 */
export function inputBytes(path: string): Buffer {
  return reading(path, () => readFileSync(path));
}

function reading<Value>(path: string, read: () => Value): Value {
  try {
    expectRegularFile(path);
    return read();
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    throw new EspalierError('usage', `\`${path}\` cannot be read: ${objectionOf(cause)}.`, {
      cause,
    });
  }
}
