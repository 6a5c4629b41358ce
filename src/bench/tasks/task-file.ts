import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { EspalierError } from '../../base/errors.ts';
import { expectRegularFile } from '../../base/regular-file.ts';
import { objectionOf } from '../../base/with-storage-errors.ts';

/** The largest file of problems, in bytes: it is read whole. */
const largest = 64 * 1024 * 1024;

/** The name of a task whose problems are in a file. */
export function titleOf(title: string, file: string): string {
  return `${title} (${basename(file)})`;
}

/** A line of a file of problems. */
export interface TaskLine {
  readonly path: string;
  /** The number of the line, from 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * The text of a file of problems, without a byte order mark.
 *
 * @throws EspalierError `usage` if it cannot be read, is larger than 64 MiB, or is no UTF-8.
 */
export function readTaskFile(path: string): string {
  let bytes: Buffer;
  try {
    expectRegularFile(path);
    const { size } = statSync(path);
    if (size > largest) throw fault(path, `is larger than 64 MiB (${size} bytes). Split it`);
    bytes = readFileSync(path);
  } catch (cause) {
    if (EspalierError.isInstance(cause)) throw cause;
    throw fault(path, `cannot be read: ${objectionOf(cause)}`, cause);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fault(path, 'is no UTF-8 text. Convert it, or name another file', cause);
  }
}

/**
 * The lines of a file of problems that hold something.
 *
 * @throws EspalierError `usage` if the file cannot be read, or has none.
 */
export function readTaskLines(path: string): readonly TaskLine[] {
  const lines = readTaskFile(path)
    .split('\n')
    .map((line, index) => ({ path, number: index + 1, text: line.trim() }))
    .filter(({ text }) => text !== '');
  if (lines.length === 0) throw fault(path, 'is empty. It needs a problem on each line');
  return lines;
}

/** The fault of a line. */
export function lineFault(
  { path, number }: TaskLine,
  what: string,
  cause?: unknown,
): EspalierError {
  const message = `Line ${number} of \`${path}\`: ${what.replace(/\.$/, '')}.`;
  return new EspalierError('usage', message, { cause });
}

function fault(path: string, what: string, cause?: unknown): EspalierError {
  return new EspalierError('usage', `\`${path}\` ${what}.`, { cause });
}
