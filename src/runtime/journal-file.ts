import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import type { Journal, JournalLines } from './journal.ts';
import { isIntact, type JournalLine, LineReader, sealLine } from './journal-lines.ts';
import { expectRegularFile } from './regular-file.ts';
import { storing } from './storing.ts';

/** A journal on disk. */
export interface JournalFile extends Journal, Disposable {
  /** Closes the file. */
  close(): void;
}

/** How a journal is written. */
export interface JournalFileOptions {
  /**
   * Whether each line is forced to the medium, so that it survives a power failure and not only the
   * death of the process. Costs some milliseconds a line.
   *
   * @defaultValue false
   */
  readonly fsync?: boolean;
}

const newline = 0x0a;

/**
 * Opens a journal for reading and appending. It does not keep a second writer out: the run folder does.
 *
 * @throws EspalierError `invalid-journal` or `storage`.
 */
export function openJournal(path: string, { fsync = false }: JournalFileOptions = {}): JournalFile {
  const file = storing(nameOf(path), () => {
    expectRegularFile(path);
    return openSync(path, 'a+');
  });
  let end: number | undefined;
  let closed = false;

  const append = (line: JournalLine): void => {
    storing(nameOf(path), () => {
      end ??= readToEnd(path, file);
      const bytes = Buffer.from(`${sealLine(line)}\n`);
      try {
        for (let written = 0; written < bytes.length; ) {
          written += writeSync(file, bytes, written);
        }
        if (fsync) fsyncSync(file);
      } catch (error) {
        // Half a line must not stay behind: a later line would run into it.
        ftruncateSync(file, end);
        throw error;
      }
      end += bytes.length;
    });
  };
  const close = (): void => {
    if (!closed) closeSync(file);
    closed = true;
  };
  const mend = (): void => {
    if (!closed) end ??= readToEnd(path, file);
  };
  const lines = linesOf(path, (use) => (closed ? opened(path, use) : use(file)), mend);
  return { lines, mode: 'record', append, close, [Symbol.dispose]: close };
}

/**
 * Reads a journal without writing to it: for a replay. Its lines are read from the file each time they are asked for.
 *
 * @throws EspalierError `storage` where it cannot be read; its lines throw `invalid-journal`, naming the line.
 */
export function readJournal(path: string): Pick<Journal, 'lines'> {
  const lines = linesOf(path, (use) => opened(path, use));
  // A file that cannot be read is better found now than in the middle of a search.
  for (const _line of lines) break;
  return { lines };
}

function nameOf(path: string): string {
  return `The file \`${path}\``;
}

function opened<Value>(path: string, use: (file: number) => Value): Value {
  const file = storing(nameOf(path), () => {
    expectRegularFile(path);
    return openSync(path, 'r');
  });
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

type WithFile = <Value>(use: (file: number) => Value) => Value;

/** The lines of a file, by the byte at which they begin. */
function linesOf(path: string, withFile: WithFile, onRead = (): void => {}): JournalLines {
  function* entries(): Generator<readonly [number, JournalLine]> {
    const reader = new LineReader();
    for (const { bytes, place, isWhole } of written(path, withFile)) {
      const line = isWhole ? reader.read(bytes) : reader.readRest(bytes);
      if (line !== undefined) yield [place, line];
    }
    // Not before: a file that cannot be read stays as it is.
    onRead();
  }
  function* lines(): Generator<JournalLine> {
    for (const [, line] of entries()) yield line;
  }
  const at = (place: number): JournalLine | undefined => {
    const [line] = written(path, withFile, place);
    return line === undefined ? undefined : (JSON.parse(line.bytes.toString()) as JournalLine);
  };
  return { entries, at, [Symbol.iterator]: lines };
}

/** The bytes of a line, without its end. */
interface WrittenLine {
  readonly bytes: Buffer;
  readonly place: number;
  /** Whether its end has been written. */
  readonly isWhole: boolean;
}

const chunkSize = 1 << 18;

/** What stands in a file from a place on, line by line; nothing of it stays in memory. */
function* written(path: string, withFile: WithFile, from = 0): Generator<WrittenLine> {
  let rest: Buffer[] = [];
  let place = from;
  for (let offset = from; ; ) {
    // One line needs no more than a first look.
    const chunk = read(path, withFile, { offset, size: from === 0 ? chunkSize : 1 << 12 });
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
  return storing(nameOf(path), () =>
    withFile((file) => {
      const buffer = Buffer.allocUnsafe(size);
      return buffer.subarray(0, readSync(file, buffer, 0, size, offset));
    }),
  );
}

/**
 * Makes sure that what is appended begins a line. Returns where the file ends. The lines before the last are read, and
 * judged, by whoever asks for them.
 */
function readToEnd(path: string, file: number): number {
  const { size } = storing(nameOf(path), () => fstatSync(file));
  const place = lastLine(path, file, size);
  const [last] = written(path, (use) => use(file), place);
  if (last === undefined) return size;
  return storing(nameOf(path), () => {
    if (isIntact(last.bytes) !== true) {
      ftruncateSync(file, place);
      return place;
    }
    writeSync(file, '\n');
    return size + 1;
  });
}

/** Where what follows the last end of a line begins. */
function lastLine(path: string, file: number, size: number): number {
  for (let end = size; end > 0; end -= chunkSize) {
    const start = Math.max(0, end - chunkSize);
    const chunk = read(path, (use) => use(file), { offset: start, size: end - start });
    const found = chunk.lastIndexOf(newline);
    if (found >= 0) return start + found + 1;
  }
  return 0;
}
