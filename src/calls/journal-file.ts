import { closeSync, openSync, realpathSync } from 'node:fs';
import { EspalierError } from '../base/errors.ts';
import { expectBoolean, expectText } from '../base/expect.ts';
import { expectOptions } from '../base/expect-options.ts';
import {
  mendEnd,
  nameOf,
  type WithFile,
  withOpened,
  writeLine,
  writtenLines,
} from '../base/file-lines.ts';
import { takeLock } from '../base/lock.ts';
import { expectRegularFile } from '../base/regular-file.ts';
import { withStorageErrors } from '../base/with-storage-errors.ts';
import { type Journal, journalName } from './journal.ts';
import type { JournalLine } from './journal-lines.ts';
import { LineReader, sealLine } from './journal-reader.ts';

/** A journal on disk. */
export interface JournalFile extends Journal, Disposable {
  /** Closes the file. */
  close(): void;
}

/**
 * Opens a journal for reading and appending. From its first line on, nothing else can write to it until it is closed or
 * this process ends. With `fsync` each line is flushed to disk, so that it survives a power failure, at a few
 * milliseconds per line.
 *
 * @throws EspalierError `invalid-journal` or `storage`; `append` throws `locked` while another process, or another
 * journal of this process, is writing.
 */
export function openJournal(path: string, options: { readonly fsync?: boolean } = {}): JournalFile {
  expectText('path', path);
  expectOptions('openJournal', options, 'fsync');
  const { fsync = false } = options;
  expectBoolean('fsync', fsync);
  return openLocked(path, fsync, takeWriting);
}

/** The same in a folder that has a lock of its own. */
export function openJournalWithin(path: string): JournalFile {
  return openLocked(path, false, () => () => {});
}

/** The locks that journals of this process hold. */
const writing = new Map<string, () => void>();

/** Takes the lock of a journal. */
function takeWriting(path: string): () => void {
  if (writing.has(path)) {
    const message = `The journal \`${path}\` is open twice in this process, and can have only one writer. Pass the journal that was opened first, or close it.`;
    throw new EspalierError('locked', message);
  }
  const release = takeLock(`${path}.writer.lock`, `the journal \`${path}\``);
  if (writing.size === 0) process.once('exit', releaseAll);
  writing.set(path, release);
  return () => {
    release();
    writing.delete(path);
    if (writing.size === 0) process.off('exit', releaseAll);
  };
}

/** A script may end without closing its journals. */
function releaseAll(): void {
  for (const release of writing.values()) release();
}

function openLocked(path: string, fsync: boolean, take: (path: string) => () => void): JournalFile {
  const file = withStorageErrors(nameOf(path), () => {
    expectRegularFile(path);
    return openSync(path, 'a+');
  });
  // A symbolic link is another name of the same journal, and must lead to the same lock.
  const real = realpathSync(path);
  let release: (() => void) | undefined;
  let end: number | undefined;
  let closed = false;

  const append = (line: JournalLine): void => {
    if (closed) {
      throw new EspalierError('storage', `${journalName({ path })} is closed. Open it again.`);
    }
    release ??= take(real);
    withStorageErrors(nameOf(path), () => {
      end ??= mendEnd(path, file);
      end = writeLine(file, sealLine(line), { end, fsync });
    });
  };
  const close = (): void => {
    if (closed) return;
    closed = true;
    closeSync(file);
    release?.();
  };
  const mend = (): void => {
    if (!closed) end ??= mendEnd(path, file);
  };
  const lines = linesOf(path, (use) => (closed ? withOpened(path, 'r', use) : use(file)), mend);
  return { lines, path: real, mode: 'record', append, close, [Symbol.dispose]: close };
}

/**
 * Reads a journal without writing to it: for a replay. Its lines are read from the file on each iteration.
 *
 * @throws EspalierError `storage` if it cannot be read; iteration throws `invalid-journal`, naming the line.
 */
export function readJournal(path: string): Pick<Journal, 'lines'> {
  expectText('path', path);
  const lines = linesOf(path, (use) => withOpened(path, 'r', use));
  // Reads one line, because an unreadable file is better found now than in the middle of a search.
  for (const _line of lines) break;
  return { lines };
}

/** The lines of a file, with the byte offsets at which they begin. */
function linesOf(path: string, withFile: WithFile, onRead = (): void => {}): Journal['lines'] {
  function* entries(): Generator<readonly [number, JournalLine]> {
    const reader = new LineReader(journalName({ path }));
    for (const { bytes, place, isWhole } of writtenLines(path, withFile)) {
      const line = isWhole ? reader.read(bytes) : reader.readRest(bytes);
      if (line !== undefined) yield [place, line];
    }
    // Only now, because an unreadable file must not be changed.
    onRead();
  }
  function* lines(): Generator<JournalLine> {
    for (const [, line] of entries()) yield line;
  }
  const at = (place: number): JournalLine | undefined => {
    const [line] = writtenLines(path, withFile, place);
    return line === undefined ? undefined : (JSON.parse(line.bytes.toString()) as JournalLine);
  };
  return { entries, at, [Symbol.iterator]: lines };
}
