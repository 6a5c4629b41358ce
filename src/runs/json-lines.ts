import { fstatSync, statSync } from 'node:fs';
import type { z } from 'zod';
import { mendEnd, nameOf, withOpened, writeLine, writtenLines } from '../base/file-lines.ts';
import { isIntact, seal, stateOfRest } from '../base/seal.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { damaged, parseSealed } from './sealed-json.ts';

/**
 * The lines of a file with their byte offsets, read incrementally; none if there is no file. An incomplete last line is
 * left out. Lines without a seal, as written by earlier versions, come before those with one.
 *
 * @param isReplaced - Whether the file is written in one piece, so that a kill never leaves an incomplete line.
 * @throws EspalierError `storage`, naming the line, if one was changed or has an invalid structure.
 */
export function* readLines<Value>(
  path: string,
  schema: z.ZodType<Value>,
  { isReplaced = false }: { readonly isReplaced?: boolean } = {},
): Generator<{ readonly value: Value; readonly place: number }, void, undefined> {
  if (!isThere(path)) return;
  let number = 0;
  let isSealed = false;
  for (const line of writtenLines(path, (use) => withOpened(path, 'r', use))) {
    const { bytes, place } = line;
    number += 1;
    const subject = `Line ${number} of \`${path}\``;
    if (!line.isWhole && isReplaced) throw damaged(subject, 'its end is missing');
    if (!line.isWhole && stateOfRest(bytes) === 'torn') return;
    const hasSeal = isIntact(bytes) !== undefined;
    if (isSealed && !hasSeal) throw damaged(subject, 'it is damaged');
    isSealed = hasSeal;
    yield { value: parseSealed(bytes, { subject, schema }), place };
  }
}

/** The line at an offset returned by `readLines`. */
export function readLineAt<Value>(path: string, place: number, schema: z.ZodType<Value>): Value {
  return withOpened(path, 'r', (file) => {
    const [line] = writtenLines(path, (use) => use(file), place);
    const subject = `The line at byte ${place} of \`${path}\``;
    return parseSealed(line?.bytes ?? Buffer.alloc(0), { subject, schema });
  });
}

/** Adds a line to a file. */
export function appendLine(path: string, content: object): void {
  withOpened(path, 'a+', (file) =>
    withStorageErrors(nameOf(path), () => {
      writeLine(file, seal(JSON.stringify(content)), { end: fstatSync(file).size });
    }),
  );
}

/**
 * Removes an incomplete last line left by a killed process, so that the next line is not appended to it.
 *
 * @throws EspalierError `storage`.
 */
export function dropTornLine(path: string): void {
  if (isThere(path)) withOpened(path, 'a+', (file) => mendEnd(path, file));
}

/** Whether a path exists. Not `existsSync`, which reports a file without access rights as missing. */
export function isThere(path: string): boolean {
  return withStorageErrors(
    nameOf(path),
    () => statSync(path, { throwIfNoEntry: false }) !== undefined,
  );
}
