import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { EspalierError } from '../base/errors.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { objectionOf } from '../base/with-storage-errors.ts';

/**
 * The text of a file given to a command, which may be compressed by gzip.
 *
 * @throws EspalierError `usage` if it cannot be read or is not UTF-8, because then the argument is wrong.
 */
export function readInput(path: string): string {
  return reading(path, () => {
    const bytes = readFileSync(path);
    // Recognised by its first bytes, because its name may not show it.
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const text = isGzip ? gunzipSync(bytes) : bytes;
    if (!isUtf8(text)) throw notUtf8(path, text);
    // Some editors begin a file with a byte order mark.
    return text.toString('utf8').replace(/^\uFEFF/, '');
  });
}

/** Invalid bytes would appear in every row as U+FFFD. */
function notUtf8(path: string, bytes: Buffer): EspalierError {
  let [line, from] = [1, 0];
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
    if (!isUtf8(bytes.subarray(from, end))) break;
    [line, from] = [line + 1, end + 1];
  }
  const message = `Expected \`${path}\` to be UTF-8, got other bytes in line ${line}.`;
  return new EspalierError('usage', message);
}

/**
 * The bytes of a file given to a command.
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
