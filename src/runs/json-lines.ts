import { fstatSync, statSync } from 'node:fs';
import type { z } from 'zod';
import { mendEnd, nameOf, withOpened, writeLine, writtenLines } from '../base/file-lines.ts';
import { isIntact, seal, stateOfRest } from '../base/seal.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { damaged, parseSealed } from './sealed-json.ts';

/**
 * The lines of a file, each with the byte at which it begins, read bit by bit; none where there is no file. A last line that was cut off while it was
 * written is left out. Lines without a seal, as earlier versions wrote them, stand before those that have one.
 *
 * @param isReplaced - Whether it is written all at once, so that no kill leaves half a line.
 * @throws EspalierError `storage`, naming the line, where one is not as it was written or has another shape.
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
    if (isSealed && !hasSeal) throw damaged(subject, 'it is not as it was written');
    isSealed = hasSeal;
    yield { value: parseSealed(bytes, { subject, schema }), place };
  }
}

/** The line that begins at a place, which `readLines` has told. */
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
 * A line that a killed process left unfinished must not swallow the next one.
 *
 * @throws EspalierError `storage`.
 */
export function dropTornLine(path: string): void {
  if (isThere(path)) withOpened(path, 'a+', (file) => mendEnd(path, file));
}

/** Not `existsSync`, which takes a file that may not be looked at for none. */
export function isThere(path: string): boolean {
  return withStorageErrors(
    nameOf(path),
    () => statSync(path, { throwIfNoEntry: false }) !== undefined,
  );
}
