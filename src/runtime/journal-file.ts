import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { type Journal, type JournalLine, parseJournal } from './journal.ts';
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

/**
 * Opens a journal for reading and appending. It does not keep a second writer out: the run folder does.
 *
 * @throws EspalierError `invalid-journal` or `storage`.
 */
export function openJournal(path: string, { fsync = false }: JournalFileOptions = {}): JournalFile {
  const file = storing(`The file \`${path}\``, () => {
    expectRegularFile(path);
    return openSync(path, 'a+');
  });
  const { lines, size } = load(path, file);
  let end = size;
  let closed = false;

  const append = (line: JournalLine): void => {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    storing(`The file \`${path}\``, () => {
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
    });
    end += bytes.length;
    lines.push(line);
  };
  const close = (): void => {
    if (!closed) closeSync(file);
    closed = true;
  };
  return { lines, mode: 'record', append, close, [Symbol.dispose]: close };
}

/** Reads a journal without writing to it: for a replay. */
export function readJournal(path: string): Pick<Journal, 'lines'> {
  return parseJournal(
    storing(`The file \`${path}\``, () => {
      expectRegularFile(path);
      return readFileSync(path, 'utf8');
    }),
  );
}

function load(path: string, file: number): { lines: JournalLine[]; size: number } {
  try {
    const { lines, bytes } = parseJournal(readFileSync(file, 'utf8'));
    if (fstatSync(file).size > bytes)
      storing(`The file \`${path}\``, () => ftruncateSync(file, bytes));
    return { lines, size: bytes };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
