import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { EspalierError } from './errors.ts';
import { expectRegularFile } from './regular-file.ts';
import { stateOfRest } from './seal.ts';
import { withStorageErrors } from './with-storage-errors.ts';

/** The bytes of a line, without its line break. */
export interface WrittenLine {
  readonly bytes: Buffer;
  /** The byte at which it begins. */
  readonly place: number;
  /** Whether its line break has been written. */
  readonly isWhole: boolean;
}

/** Passes an open file to a function. */
export type WithFile = <Value>(use: (file: number) => Value) => Value;

const chunkSize = 1 << 18;
const newline = 0x0a;

/** A file as the subject of a sentence. */
export function nameOf(path: string): string {
  return `The file \`${path}\``;
}

/** Opens a file, and closes it when it has been used. */
export function withOpened<Value>(
  path: string,
  flags: 'a+' | 'r',
  use: (file: number) => Value,
): Value {
  const file = withStorageErrors(nameOf(path), () => {
    expectRegularFile(path);
    return openSync(path, flags);
  });
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

/** The lines of a file from an offset on; none is kept in memory. */
export function* writtenLines(
  path: string,
  withFile: WithFile,
  from = 0,
): Generator<WrittenLine, void, undefined> {
  let rest: Buffer[] = [];
  let place = from;
  for (let offset = from; ; ) {
    // A single line often needs only one small read.
    const isLook = from > 0 && offset === from;
    const chunk = read(path, withFile, { offset, size: isLook ? 1 << 12 : chunkSize });
    if (chunk.length === 0) break;
    offset += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const part = chunk.subarray(start, end);
      const bytes = rest.length === 0 ? part : Buffer.concat([...rest, part]);
      rest = [];
      yield { bytes, place, isWhole: true };
      place += bytes.length + 1;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), place, isWhole: false };
}

function read(
  path: string,
  withFile: WithFile,
  { offset, size }: { readonly offset: number; readonly size: number },
): Buffer {
  return withStorageErrors(nameOf(path), () =>
    withFile((file) => {
      const buffer = Buffer.allocUnsafe(size);
      return buffer.subarray(0, readSync(file, buffer, 0, size, offset));
    }),
  );
}

/**
 * Writes a line at the end of a file opened for appending. Returns the new end of the file.
 *
 * @param end - The end of the file.
 */
export function writeLine(
  file: number,
  line: string,
  { end, fsync = false }: { readonly end: number; readonly fsync?: boolean },
): number {
  const bytes = Buffer.from(`${line}\n`);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    if (fsync) fsyncSync(file);
  } catch (error) {
    // No partial line may remain, because a later line would be appended to it.
    ftruncateSync(file, end);
    throw error;
  }
  return end + bytes.length;
}

/**
 * Makes sure that appended text begins a new line. Returns the end of the file. Only the last line is checked; earlier
 * lines are checked when they are read.
 *
 * @throws EspalierError `storage` if the last line was changed after it was written: cutting it off would lose it.
 */
export function mendEnd(path: string, file: number): number {
  const { size } = withStorageErrors(nameOf(path), () => fstatSync(file));
  const place = lastLine(path, file, size);
  const [last] = writtenLines(path, (use) => use(file), place);
  if (last === undefined) return size;
  const state = stateOfRest(last.bytes);
  if (state === 'damaged') {
    throw new EspalierError(
      'storage',
      `The last line of \`${path}\` is damaged. Restore the file from a copy, or delete the line.`,
    );
  }
  return withStorageErrors(nameOf(path), () => {
    if (state === 'torn') {
      ftruncateSync(file, place);
      return place;
    }
    writeSync(file, '\n');
    return size + 1;
  });
}

/** The offset after the last line break. */
function lastLine(path: string, file: number, size: number): number {
  for (let end = size; end > 0; end -= chunkSize) {
    const start = Math.max(0, end - chunkSize);
    const chunk = read(path, (use) => use(file), { offset: start, size: end - start });
    const found = chunk.lastIndexOf(newline);
    if (found >= 0) return start + found + 1;
  }
  return 0;
}
